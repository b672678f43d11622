import type { Operation } from '../../server/api/contract/contract.ts'
import type { Entorno } from '../entorno.ts'
import { nuevaPersona, type PersonaDePrueba, pedirAprobacion } from '../equipo/persona.ts'

type Id = Operation['id']

export const esDePersona = ({ seguridad }: Operation) => seguridad?.esquema === 'sesionDePersona'

/**
 * The persons of `maquinaria.test.ts`: one of the courier company with all scopes, one for each operation of sessions,
 * whose session nobody has looked at, and those who are removed.
 */
export async function abrirPersonas(entorno: Entorno, conSesion: readonly Operation[]) {
  const [comun, eliminable, quitable] = [
    await nuevaPersona(entorno),
    await nuevaPersona(entorno),
    await nuevaPersona(entorno),
  ]
  const propias = new Map<Id, PersonaDePrueba>()
  for (const operacion of conSesion.filter(esDePersona)) propias.set(operacion.id, await nuevaPersona(entorno))
  const removed: Partial<Record<Id, string>> = {
    eliminarPersona: eliminable.persona,
    cerrarSesionesDePersona: quitable.persona,
    restablecerSegundoFactor: quitable.persona,
  }
  const { aprobacion } = await pedirAprobacion(comun)
  const suya = propias.get('retirarAprobacion')
  const retirable = suya ? (await pedirAprobacion(suya)).aprobacion : aprobacion
  const de = (id: Id) => propias.get(id) ?? comun
  return {
    cookie: (id: Id) => de(id).cookie,
    rellenar: (ruta: string, id: Id) =>
      ruta
        .replace('{persona}', removed[id] ?? comun.persona)
        .replace('{membresia}', (id === 'quitarMembresia' ? quitable : de(id)).membresia)
        .replace('{sesion}', de(id).sesion)
        .replace('{passkey}', 'pas_000000000000')
        .replace('{aprobacion}', id === 'retirarAprobacion' ? retirable : aprobacion),
    membresiaDe: (id: Id) => de(id).membresia,
  }
}

const FIRMA = { credencial: 'x', datos_cliente: 'x', datos_autenticador: 'x', firma: 'x', usuario: 'x' }

/** Bodies that their operation accepts. */
export const CUERPOS_DE_PERSONAS: Partial<Record<Id, () => unknown>> = {
  invitarPersona: () => ({ correo: 'nadie@ejemplo.com', nombre: 'x', alcances: ['administrar'] }),
  cambiarMembresia: () => ({ alcances: ['administrar'] }),
  rechazarAprobacion: () => ({ razon: 'x' }),
  pedirCodigo: () => ({ correo: 'nadie@ejemplo.com' }),
  probarPresencia: () => ({ codigo: '000000' }),
  abrirSesionDePersona: () => ({ codigo: '000000' }),
  agregarPasskey: () => ({ credencial: 'x', datos_cliente: 'x', atestacion: 'x' }),
  abrirSesionConPasskey: () => FIRMA,
  probarPresenciaConPasskey: () => FIRMA,
  agregarTotp: () => ({ codigo: '000000' }),
  abrirSesionConSegundoFactor: () => ({ codigo: '000000' }),
  aceptarInvitacion: () => ({ token: 'A'.repeat(43) }),
}
