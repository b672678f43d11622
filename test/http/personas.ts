import type { Operation } from '../../server/api/contract/contract.ts'
import type { TestEnvironment } from '../environment.ts'
import {
  createCorreoAddress,
  createTestPersona,
  requestInvitacionAprobacion,
  type TestPersona,
} from '../equipo/persona.ts'

type Id = Operation['id']

export const isOfPersona = ({ security }: Operation) => security?.scheme === 'sesionDePersona'

/**
 * The persons of `machinery.test.ts`: one of the courier company with all scopes, one for each operation of sessions,
 * whose session nobody has looked at, and those who are removed.
 */
export async function openPersonas(environment: TestEnvironment, withSesion: readonly Operation[]) {
  const [sharedPersona, personaToDelete, personaToRemove] = [
    await createTestPersona(environment),
    await createTestPersona(environment),
    await createTestPersona(environment),
  ]
  const ownPersonas = new Map<Id, TestPersona>()
  for (const operacion of withSesion.filter(isOfPersona))
    ownPersonas.set(operacion.id, await createTestPersona(environment))
  const removed: Partial<Record<Id, string>> = {
    eliminarPersona: personaToDelete.persona,
    cerrarSesionesDePersona: personaToRemove.persona,
    restablecerSegundoFactor: personaToRemove.persona,
  }
  const { aprobacion } = await requestInvitacionAprobacion(sharedPersona)
  const ownPersona = ownPersonas.get('retirarAprobacion')
  const aprobacionToWithdraw = ownPersona ? (await requestInvitacionAprobacion(ownPersona)).aprobacion : aprobacion
  const invited = { correo: createCorreoAddress(), nombre: 'x', alcances: ['ver'] }
  const { invitacion } = (await environment.asOperador('POST', '/invitaciones', invited)).body
  const personaOf = (id: Id) => ownPersonas.get(id) ?? sharedPersona
  return {
    cookie: (id: Id) => personaOf(id).cookie,
    fillPath: (path: string, id: Id) =>
      path
        .replace('{persona}', removed[id] ?? sharedPersona.persona)
        .replace('{membresia}', (id === 'quitarMembresia' ? personaToRemove : personaOf(id)).membresia)
        .replace('{sesion}', personaOf(id).sesion)
        .replace('{passkey}', 'pas_000000000000')
        .replace('{invitacion}', invitacion)
        .replace('{aprobacion}', id === 'retirarAprobacion' ? aprobacionToWithdraw : aprobacion),
    membresiaDe: (id: Id) => personaOf(id).membresia,
  }
}

const FIRMA = { credencial: 'x', datos_cliente: 'x', datos_autenticador: 'x', firma: 'x', usuario: 'x' }

/** Bodies that their operation accepts. */
export const PERSONA_BODIES: Partial<Record<Id, () => unknown>> = {
  invitarPersona: () => ({ correo: 'nadie@ejemplo.com', nombre: 'x', alcances: ['administrar'] }),
  cambiarMembresia: () => ({ alcances: ['administrar'] }),
  rechazarAprobacion: () => ({ razon: 'x' }),
  pedirCodigo: () => ({ correo: 'nadie@ejemplo.com' }),
  pedirCambioDeCorreo: () => ({ correo: 'otra@ejemplo.com' }),
  cambiarCorreo: () => ({ codigo: '000000' }),
  probarPresencia: () => ({ codigo: '000000' }),
  abrirSesionDePersona: () => ({ codigo: '000000' }),
  agregarPasskey: () => ({ credencial: 'x', datos_cliente: 'x', atestacion: 'x' }),
  abrirSesionConPasskey: () => FIRMA,
  probarPresenciaConPasskey: () => FIRMA,
  agregarTotp: () => ({ codigo: '000000' }),
  abrirSesionConSegundoFactor: () => ({ codigo: '000000' }),
  aceptarInvitacion: () => ({ token: 'A'.repeat(43) }),
}
