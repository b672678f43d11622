import type { OperationId } from '../../server/api/contract/contract.ts'
import type { TestEnvironment, TestResponse } from '../entorno.ts'
import { agregarPasskey, prepareRegistration, signChallenge } from '../equipo/autenticador.ts'
import {
  createCorreoAddress,
  createTestPersona,
  endSignIn,
  findPendingCorreo,
  pedirCodigo,
  requestFromPage,
  requestInvitacionAprobacion,
  signInWithCode,
  toCookieHeader,
} from '../equipo/persona.ts'
import { createTestApp } from '../equipo/totp.ts'

type Pedida = Promise<Pick<TestResponse, 'status'>>
/** What is sent, and what its line is to be on; whatever it takes was made before. */
export type PersonaScene = () => Promise<{ request: () => Pedida; sobre?: string }>

export const ya = (pedir: () => Pedida, sobre?: string) => ({
  request: pedir,
  ...(sobre === undefined ? {} : { sobre }),
})

/**
 * Returns what is sent for each operation about persons and their sessions. One function, because it is a table with a
 * row for each operation.
 */
export function createPersonaScenes(entorno: TestEnvironment) {
  const operar = (metodo: string, ruta: string, cuerpo?: unknown) => () => entorno.operar(metodo, ruta, cuerpo)
  const dePersona = async (metodo: string, ruta: string) => {
    const suya = await createTestPersona(entorno)
    return ya(() => suya.request(metodo, `/operaciones/v1${ruta}`))
  }
  return {
    invitarPersona: async () =>
      ya(operar('POST', '/invitaciones', { correo: createCorreoAddress(), nombre: 'Ana Pérez', alcances: ['ver'] })),
    listarPersonas: async () => ya(operar('GET', '/personas')),
    obtenerPersona: async () => {
      const { persona } = await createTestPersona(entorno)
      return ya(operar('GET', `/personas/${persona}`), persona)
    },
    eliminarPersona: async () => {
      const { persona } = await createTestPersona(entorno)
      return ya(operar('DELETE', `/personas/${persona}`), persona)
    },
    cambiarMembresia: async () => {
      const { persona, membresia } = await createTestPersona(entorno)
      return ya(operar('PATCH', `/membresias/${membresia}`, { alcances: ['administrar'] }), persona)
    },
    quitarMembresia: async () => {
      const { persona, membresia } = await createTestPersona(entorno)
      return ya(operar('DELETE', `/membresias/${membresia}`), persona)
    },
    listarAprobaciones: async () => ya(operar('GET', '/aprobaciones')),
    obtenerAprobacion: async () => {
      const [ana] = [await createTestPersona(entorno), await createTestPersona(entorno)]
      const { aprobacion } = await requestInvitacionAprobacion(ana)
      return ya(operar('GET', `/aprobaciones/${aprobacion}`), aprobacion)
    },
    darAprobacion: async () => {
      const [ana, bea] = [await createTestPersona(entorno), await createTestPersona(entorno)]
      const { aprobacion } = await requestInvitacionAprobacion(ana)
      return ya(() => bea.request('POST', `/operaciones/v1/aprobaciones/${aprobacion}/aprobar`))
    },
    rechazarAprobacion: async () => {
      const [ana, bea] = [await createTestPersona(entorno), await createTestPersona(entorno)]
      const { aprobacion } = await requestInvitacionAprobacion(ana)
      const ruta = `/operaciones/v1/aprobaciones/${aprobacion}/rechazar`
      return ya(() => bea.request('POST', ruta, { razon: 'No conozco a Ana' }), aprobacion)
    },
    retirarAprobacion: async () => {
      const [ana] = [await createTestPersona(entorno), await createTestPersona(entorno)]
      const { aprobacion } = await requestInvitacionAprobacion(ana)
      return ya(() => ana.request('DELETE', `/operaciones/v1/aprobaciones/${aprobacion}`), aprobacion)
    },
    pedirCodigo: async () => {
      const { correo } = await createTestPersona(entorno)
      return ya(() => requestFromPage(entorno, '', ['POST', '/operaciones/v1/sesion/codigo', { correo }]))
    },
    abrirSesionDePersona: async () => {
      const { correo, persona } = await createTestPersona(entorno, { conApp: false })
      const { codigo, entrada } = await pedirCodigo(entorno, correo)
      return ya(() => signInWithCode(entorno, entrada, codigo), persona)
    },
    aceptarInvitacion: async () => {
      const correo = createCorreoAddress()
      const { cuerpo } = await operar('POST', '/invitaciones', { correo, nombre: 'Ana Pérez', alcances: ['ver'] })()
      const { enlace } = await findPendingCorreo(entorno, 'invitacion', correo)
      const token = enlace.split('/').at(-1)
      return ya(
        () =>
          requestFromPage(entorno, '', ['POST', '/operaciones/v1/sesion/invitacion', { token, codigo: cuerpo.codigo }]),
        cuerpo.invitacion,
      )
    },
    cerrarSesionesDePersona: async () => {
      const { persona } = await createTestPersona(entorno)
      return ya(operar('DELETE', `/personas/${persona}/sesiones`), persona)
    },
    obtenerSesionDePersona: async () => dePersona('GET', '/sesion'),
    listarSesiones: async () => dePersona('GET', '/sesiones'),
    cerrarSesionDePersona: async () => dePersona('DELETE', '/sesion'),
    cerrarSesionPorCodigo: async () => {
      const suya = await createTestPersona(entorno)
      return ya(() => suya.request('DELETE', `/operaciones/v1/sesiones/${suya.sesion}`), suya.persona)
    },
    probarPresencia: async () => {
      const suya = await createTestPersona(entorno)
      const codigo = suya.app!.codigo()
      return ya(() => suya.request('POST', '/operaciones/v1/sesion/presencia', { codigo }), suya.persona)
    },
    listarPasskeys: async () => dePersona('GET', '/sesion/passkeys'),
    pedirRegistroDePasskey: async () => dePersona('POST', '/sesion/passkeys/registro'),
    pedirRetoDePasskey: async () =>
      ya(() => requestFromPage(entorno, '', ['POST', '/operaciones/v1/sesion/passkeys/reto']), undefined),
    agregarPasskey: async () => {
      const suya = await createTestPersona(entorno)
      const { cookie, cuerpo } = await prepareRegistration(entorno, suya)
      return ya(
        () => requestFromPage(entorno, cookie, ['POST', '/operaciones/v1/sesion/passkeys', cuerpo]),
        suya.persona,
      )
    },
    quitarPasskey: async () => {
      const suya = await createTestPersona(entorno)
      const { passkey, request: pedir } = await agregarPasskey(entorno, suya)
      return ya(() => pedir('DELETE', `/operaciones/v1/sesion/passkeys/${passkey}`), suya.persona)
    },
    abrirSesionConPasskey: async () => {
      const suya = await createTestPersona(entorno)
      const { cookie, cuerpo } = await signChallenge(entorno, (await agregarPasskey(entorno, suya)).autenticador)
      return ya(
        () => requestFromPage(entorno, cookie, ['POST', '/operaciones/v1/sesion/passkeys/entrada', cuerpo]),
        suya.persona,
      )
    },
    probarPresenciaConPasskey: async () => {
      const suya = await createTestPersona(entorno)
      const { autenticador, cookie: propia } = await agregarPasskey(entorno, suya)
      const { cookie, cuerpo } = await signChallenge(entorno, autenticador)
      const pedido = ['POST', '/operaciones/v1/sesion/passkeys/presencia', cuerpo] as [string, string, unknown]
      return ya(() => requestFromPage(entorno, `${propia}; ${cookie}`, pedido), suya.persona)
    },
    obtenerSegundoFactor: async () => dePersona('GET', '/sesion/segundo-factor'),
    pedirRegistroDeTotp: async () => dePersona('POST', '/sesion/totp/registro'),
    agregarTotp: async () => {
      const suya = await createTestPersona(entorno)
      const { secreto } = (await suya.request('POST', '/operaciones/v1/sesion/totp/registro')).cuerpo
      const codigo = createTestApp(entorno, secreto).codigo()
      return ya(() => suya.request('POST', '/operaciones/v1/sesion/totp', { codigo }), suya.persona)
    },
    quitarTotp: async () => {
      const { comercio: tienda } = await entorno.nuevoComercio()
      const suya = await createTestPersona(entorno, { comercio: tienda, alcances: ['lectura'], conApp: true })
      return ya(() => suya.request('DELETE', '/operaciones/v1/sesion/totp'), suya.persona)
    },
    crearCodigosDeRecuperacion: async () => {
      const suya = await createTestPersona(entorno)
      return ya(() => suya.request('POST', '/operaciones/v1/sesion/codigos-de-recuperacion'), suya.persona)
    },
    abrirSesionConSegundoFactor: async () => {
      const suya = await createTestPersona(entorno)
      const { codigo, entrada } = await pedirCodigo(entorno, suya.correo)
      const { cabeceras } = await signInWithCode(entorno, entrada, codigo)
      return ya(() => endSignIn(entorno, toCookieHeader(cabeceras), suya.app!.codigo()), suya.persona)
    },
    restablecerSegundoFactor: async () => {
      const { persona } = await createTestPersona(entorno)
      return ya(operar('DELETE', `/personas/${persona}/segundo-factor`), persona)
    },
    elegirMembresia: async () => {
      const suya = await createTestPersona(entorno)
      const cuerpo = { membresia: suya.membresia, modo: 'test' }
      return ya(() => suya.request('PATCH', '/operaciones/v1/sesion', cuerpo), suya.persona)
    },
  } satisfies Partial<Record<OperationId, PersonaScene>>
}
