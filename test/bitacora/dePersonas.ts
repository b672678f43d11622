import type { OperationId } from '../../server/api/contract/contract.ts'
import type { Entorno, RespuestaDePrueba } from '../entorno.ts'
import { agregarPasskey, firmar, prepararRegistro } from '../equipo/autenticador.ts'
import {
  correoPendiente,
  entrarCon,
  galletas,
  nuevaDireccion,
  nuevaPersona,
  pedirAprobacion,
  pedirCodigo,
  porPagina,
  terminarCon,
} from '../equipo/persona.ts'
import { nuevaApp } from '../equipo/totp.ts'

type Pedida = Promise<Pick<RespuestaDePrueba, 'status'>>
/** What is sent, and what its line is to be on; whatever it takes was made before. */
export type Escena = () => Promise<{ pedir: () => Pedida; sobre?: string }>

export const ya = (pedir: () => Pedida, sobre?: string) => ({ pedir, ...(sobre === undefined ? {} : { sobre }) })

/**
 * Returns what is sent for each operation about persons and their sessions. One function, because it is a table with a
 * row for each operation.
 */
export function escenasDePersonas(entorno: Entorno) {
  const operar = (metodo: string, ruta: string, cuerpo?: unknown) => () => entorno.operar(metodo, ruta, cuerpo)
  const dePersona = async (metodo: string, ruta: string) => {
    const suya = await nuevaPersona(entorno)
    return ya(() => suya.pedir(metodo, `/operaciones/v1${ruta}`))
  }
  return {
    invitarPersona: async () =>
      ya(operar('POST', '/invitaciones', { correo: nuevaDireccion(), nombre: 'Ana Pérez', alcances: ['ver'] })),
    listarPersonas: async () => ya(operar('GET', '/personas')),
    obtenerPersona: async () => {
      const { persona } = await nuevaPersona(entorno)
      return ya(operar('GET', `/personas/${persona}`), persona)
    },
    eliminarPersona: async () => {
      const { persona } = await nuevaPersona(entorno)
      return ya(operar('DELETE', `/personas/${persona}`), persona)
    },
    cambiarMembresia: async () => {
      const { persona, membresia } = await nuevaPersona(entorno)
      return ya(operar('PATCH', `/membresias/${membresia}`, { alcances: ['administrar'] }), persona)
    },
    quitarMembresia: async () => {
      const { persona, membresia } = await nuevaPersona(entorno)
      return ya(operar('DELETE', `/membresias/${membresia}`), persona)
    },
    listarAprobaciones: async () => ya(operar('GET', '/aprobaciones')),
    obtenerAprobacion: async () => {
      const [ana] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
      const { aprobacion } = await pedirAprobacion(ana)
      return ya(operar('GET', `/aprobaciones/${aprobacion}`), aprobacion)
    },
    darAprobacion: async () => {
      const [ana, bea] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
      const { aprobacion } = await pedirAprobacion(ana)
      return ya(() => bea.pedir('POST', `/operaciones/v1/aprobaciones/${aprobacion}/aprobar`))
    },
    rechazarAprobacion: async () => {
      const [ana, bea] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
      const { aprobacion } = await pedirAprobacion(ana)
      const ruta = `/operaciones/v1/aprobaciones/${aprobacion}/rechazar`
      return ya(() => bea.pedir('POST', ruta, { razon: 'No conozco a Ana' }), aprobacion)
    },
    retirarAprobacion: async () => {
      const [ana] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
      const { aprobacion } = await pedirAprobacion(ana)
      return ya(() => ana.pedir('DELETE', `/operaciones/v1/aprobaciones/${aprobacion}`), aprobacion)
    },
    pedirCodigo: async () => {
      const { correo } = await nuevaPersona(entorno)
      return ya(() => porPagina(entorno, '', ['POST', '/operaciones/v1/sesion/codigo', { correo }]))
    },
    abrirSesionDePersona: async () => {
      const { correo, persona } = await nuevaPersona(entorno, { conApp: false })
      const { codigo, entrada } = await pedirCodigo(entorno, correo)
      return ya(() => entrarCon(entorno, entrada, codigo), persona)
    },
    aceptarInvitacion: async () => {
      const correo = nuevaDireccion()
      const { cuerpo } = await operar('POST', '/invitaciones', { correo, nombre: 'Ana Pérez', alcances: ['ver'] })()
      const { enlace } = await correoPendiente(entorno, 'invitacion', correo)
      const token = enlace.split('/').at(-1)
      return ya(
        () => porPagina(entorno, '', ['POST', '/operaciones/v1/sesion/invitacion', { token, codigo: cuerpo.codigo }]),
        cuerpo.invitacion,
      )
    },
    cerrarSesionesDePersona: async () => {
      const { persona } = await nuevaPersona(entorno)
      return ya(operar('DELETE', `/personas/${persona}/sesiones`), persona)
    },
    obtenerSesionDePersona: async () => dePersona('GET', '/sesion'),
    listarSesiones: async () => dePersona('GET', '/sesiones'),
    cerrarSesionDePersona: async () => dePersona('DELETE', '/sesion'),
    cerrarSesionPorCodigo: async () => {
      const suya = await nuevaPersona(entorno)
      return ya(() => suya.pedir('DELETE', `/operaciones/v1/sesiones/${suya.sesion}`), suya.persona)
    },
    probarPresencia: async () => {
      const suya = await nuevaPersona(entorno)
      const codigo = suya.app!.codigo()
      return ya(() => suya.pedir('POST', '/operaciones/v1/sesion/presencia', { codigo }), suya.persona)
    },
    listarPasskeys: async () => dePersona('GET', '/sesion/passkeys'),
    pedirRegistroDePasskey: async () => dePersona('POST', '/sesion/passkeys/registro'),
    pedirRetoDePasskey: async () =>
      ya(() => porPagina(entorno, '', ['POST', '/operaciones/v1/sesion/passkeys/reto']), undefined),
    agregarPasskey: async () => {
      const suya = await nuevaPersona(entorno)
      const { cookie, cuerpo } = await prepararRegistro(entorno, suya)
      return ya(() => porPagina(entorno, cookie, ['POST', '/operaciones/v1/sesion/passkeys', cuerpo]), suya.persona)
    },
    quitarPasskey: async () => {
      const suya = await nuevaPersona(entorno)
      const { passkey, pedir } = await agregarPasskey(entorno, suya)
      return ya(() => pedir('DELETE', `/operaciones/v1/sesion/passkeys/${passkey}`), suya.persona)
    },
    abrirSesionConPasskey: async () => {
      const suya = await nuevaPersona(entorno)
      const { cookie, cuerpo } = await firmar(entorno, (await agregarPasskey(entorno, suya)).autenticador)
      return ya(
        () => porPagina(entorno, cookie, ['POST', '/operaciones/v1/sesion/passkeys/entrada', cuerpo]),
        suya.persona,
      )
    },
    probarPresenciaConPasskey: async () => {
      const suya = await nuevaPersona(entorno)
      const { autenticador, cookie: propia } = await agregarPasskey(entorno, suya)
      const { cookie, cuerpo } = await firmar(entorno, autenticador)
      const pedido = ['POST', '/operaciones/v1/sesion/passkeys/presencia', cuerpo] as [string, string, unknown]
      return ya(() => porPagina(entorno, `${propia}; ${cookie}`, pedido), suya.persona)
    },
    obtenerSegundoFactor: async () => dePersona('GET', '/sesion/segundo-factor'),
    pedirRegistroDeTotp: async () => dePersona('POST', '/sesion/totp/registro'),
    agregarTotp: async () => {
      const suya = await nuevaPersona(entorno)
      const { secreto } = (await suya.pedir('POST', '/operaciones/v1/sesion/totp/registro')).cuerpo
      const codigo = nuevaApp(entorno, secreto).codigo()
      return ya(() => suya.pedir('POST', '/operaciones/v1/sesion/totp', { codigo }), suya.persona)
    },
    quitarTotp: async () => {
      const { comercio: tienda } = await entorno.nuevoComercio()
      const suya = await nuevaPersona(entorno, { comercio: tienda, alcances: ['lectura'], conApp: true })
      return ya(() => suya.pedir('DELETE', '/operaciones/v1/sesion/totp'), suya.persona)
    },
    crearCodigosDeRecuperacion: async () => {
      const suya = await nuevaPersona(entorno)
      return ya(() => suya.pedir('POST', '/operaciones/v1/sesion/codigos-de-recuperacion'), suya.persona)
    },
    abrirSesionConSegundoFactor: async () => {
      const suya = await nuevaPersona(entorno)
      const { codigo, entrada } = await pedirCodigo(entorno, suya.correo)
      const { cabeceras } = await entrarCon(entorno, entrada, codigo)
      return ya(() => terminarCon(entorno, galletas(cabeceras), suya.app!.codigo()), suya.persona)
    },
    restablecerSegundoFactor: async () => {
      const { persona } = await nuevaPersona(entorno)
      return ya(operar('DELETE', `/personas/${persona}/segundo-factor`), persona)
    },
    elegirMembresia: async () => {
      const suya = await nuevaPersona(entorno)
      const cuerpo = { membresia: suya.membresia, modo: 'test' }
      return ya(() => suya.pedir('PATCH', '/operaciones/v1/sesion', cuerpo), suya.persona)
    },
  } satisfies Partial<Record<OperationId, Escena>>
}
