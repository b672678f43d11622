import type { OperationId } from '../../server/api/contract/contract.ts'
import type { TestEnvironment, TestResponse } from '../environment.ts'
import { addPasskey, prepareRegistration, signChallenge } from '../equipo/authenticator.ts'
import {
  createCorreoAddress,
  createTestPersona,
  endSignIn,
  findPendingCorreo,
  requestCode,
  requestFromPage,
  requestInvitacionAprobacion,
  requestOtherCorreo,
  signInWithCode,
  toCookieHeader,
} from '../equipo/persona.ts'
import { createTestApp } from '../equipo/totp.ts'

type PendingResponse = Promise<Pick<TestResponse, 'status'>>
/** What is sent, and what its line is to be on; whatever it takes was made before. */
export type PersonaScene = () => Promise<{ request: () => PendingResponse; sobre?: string }>

export const toScene = (request: () => PendingResponse, sobre?: string) => ({
  request,
  ...(sobre === undefined ? {} : { sobre }),
})

/**
 * Returns what is sent for each operation about persons and their sessions. One function, because it is a table with a
 * row for each operation.
 */
export function createPersonaScenes(environment: TestEnvironment) {
  const asOperador = (method: string, path: string, body?: unknown) => () => environment.asOperador(method, path, body)
  const ofPersona = async (method: string, path: string) => {
    const testPersona = await createTestPersona(environment)
    return toScene(() => testPersona.request(method, `/operaciones/v1${path}`))
  }
  return {
    invitarPersona: async () =>
      toScene(
        asOperador('POST', '/invitaciones', { correo: createCorreoAddress(), nombre: 'Ana Pérez', alcances: ['ver'] }),
      ),
    listarInvitaciones: async () => toScene(asOperador('GET', '/invitaciones')),
    retirarInvitacion: async () => {
      const body = { correo: createCorreoAddress(), nombre: 'Ana Pérez', alcances: ['ver'] }
      const { body: cuerpo } = await asOperador('POST', '/invitaciones', body)()
      return toScene(asOperador('DELETE', `/invitaciones/${cuerpo.invitacion}`), cuerpo.invitacion)
    },
    listarPersonas: async () => toScene(asOperador('GET', '/personas')),
    obtenerPersona: async () => {
      const { persona } = await createTestPersona(environment)
      return toScene(asOperador('GET', `/personas/${persona}`), persona)
    },
    eliminarPersona: async () => {
      const { persona } = await createTestPersona(environment)
      return toScene(asOperador('DELETE', `/personas/${persona}`), persona)
    },
    cambiarMembresia: async () => {
      const { persona, membresia } = await createTestPersona(environment)
      return toScene(asOperador('PATCH', `/membresias/${membresia}`, { alcances: ['administrar'] }), persona)
    },
    quitarMembresia: async () => {
      const { persona, membresia } = await createTestPersona(environment)
      return toScene(asOperador('DELETE', `/membresias/${membresia}`), persona)
    },
    listarAprobaciones: async () => toScene(asOperador('GET', '/aprobaciones')),
    obtenerAprobacion: async () => {
      const [ana] = [await createTestPersona(environment), await createTestPersona(environment)]
      const { aprobacion } = await requestInvitacionAprobacion(ana)
      return toScene(asOperador('GET', `/aprobaciones/${aprobacion}`), aprobacion)
    },
    darAprobacion: async () => {
      const [requester, approver] = [await createTestPersona(environment), await createTestPersona(environment)]
      const { aprobacion } = await requestInvitacionAprobacion(requester)
      return toScene(() => approver.request('POST', `/operaciones/v1/aprobaciones/${aprobacion}/aprobar`))
    },
    rechazarAprobacion: async () => {
      const [requester, approver] = [await createTestPersona(environment), await createTestPersona(environment)]
      const { aprobacion } = await requestInvitacionAprobacion(requester)
      const path = `/operaciones/v1/aprobaciones/${aprobacion}/rechazar`
      return toScene(() => approver.request('POST', path, { razon: 'No conozco a Ana' }), aprobacion)
    },
    retirarAprobacion: async () => {
      const [ana] = [await createTestPersona(environment), await createTestPersona(environment)]
      const { aprobacion } = await requestInvitacionAprobacion(ana)
      return toScene(() => ana.request('DELETE', `/operaciones/v1/aprobaciones/${aprobacion}`), aprobacion)
    },
    pedirCodigo: async () => {
      const { correo } = await createTestPersona(environment)
      return toScene(() => requestFromPage(environment, '', ['POST', '/operaciones/v1/sesion/codigo', { correo }]))
    },
    abrirSesionDePersona: async () => {
      const { correo, persona } = await createTestPersona(environment, { withApp: false })
      const { codigo, signInCookie } = await requestCode(environment, correo)
      return toScene(() => signInWithCode(environment, signInCookie, codigo), persona)
    },
    aceptarInvitacion: async () => {
      const correo = createCorreoAddress()
      const { body } = await asOperador('POST', '/invitaciones', { correo, nombre: 'Ana Pérez', alcances: ['ver'] })()
      const { enlace } = await findPendingCorreo(environment, 'invitacion', correo)
      const token = enlace.split('/').at(-1)
      return toScene(
        () =>
          requestFromPage(environment, '', [
            'POST',
            '/operaciones/v1/sesion/invitacion',
            { token, codigo: body.codigo },
          ]),
        body.invitacion,
      )
    },
    cerrarSesionesDePersona: async () => {
      const { persona } = await createTestPersona(environment)
      return toScene(asOperador('DELETE', `/personas/${persona}/sesiones`), persona)
    },
    obtenerSesionDePersona: async () => ofPersona('GET', '/sesion'),
    listarSesiones: async () => ofPersona('GET', '/sesiones'),
    cerrarSesionDePersona: async () => ofPersona('DELETE', '/sesion'),
    cerrarSesionPorCodigo: async () => {
      const testPersona = await createTestPersona(environment)
      return toScene(
        () => testPersona.request('DELETE', `/operaciones/v1/sesiones/${testPersona.sesion}`),
        testPersona.persona,
      )
    },
    probarPresencia: async () => {
      const testPersona = await createTestPersona(environment)
      const codigo = testPersona.app!.codigo()
      return toScene(
        () => testPersona.request('POST', '/operaciones/v1/sesion/presencia', { codigo }),
        testPersona.persona,
      )
    },
    pedirCambioDeCorreo: async () => {
      const testPersona = await createTestPersona(environment)
      const correo = createCorreoAddress()
      return toScene(() => testPersona.request('POST', '/operaciones/v1/sesion/correo', { correo }))
    },
    cambiarCorreo: async () => {
      const testPersona = await createTestPersona(environment)
      const codigo = await requestOtherCorreo(environment, testPersona, createCorreoAddress())
      return toScene(
        () => testPersona.request('PATCH', '/operaciones/v1/sesion/correo', { codigo }),
        testPersona.persona,
      )
    },
    listarPasskeys: async () => ofPersona('GET', '/sesion/passkeys'),
    pedirRegistroDePasskey: async () => ofPersona('POST', '/sesion/passkeys/registro'),
    pedirRetoDePasskey: async () =>
      toScene(() => requestFromPage(environment, '', ['POST', '/operaciones/v1/sesion/passkeys/reto']), undefined),
    agregarPasskey: async () => {
      const testPersona = await createTestPersona(environment)
      const { cookie, body } = await prepareRegistration(environment, testPersona)
      return toScene(
        () => requestFromPage(environment, cookie, ['POST', '/operaciones/v1/sesion/passkeys', body]),
        testPersona.persona,
      )
    },
    quitarPasskey: async () => {
      const testPersona = await createTestPersona(environment)
      const { passkey, request } = await addPasskey(environment, testPersona)
      return toScene(() => request('DELETE', `/operaciones/v1/sesion/passkeys/${passkey}`), testPersona.persona)
    },
    abrirSesionConPasskey: async () => {
      const testPersona = await createTestPersona(environment)
      const { cookie, body } = await signChallenge(
        environment,
        (await addPasskey(environment, testPersona)).autenticador,
      )
      return toScene(
        () => requestFromPage(environment, cookie, ['POST', '/operaciones/v1/sesion/passkeys/entrada', body]),
        testPersona.persona,
      )
    },
    probarPresenciaConPasskey: async () => {
      const testPersona = await createTestPersona(environment)
      const { autenticador, cookie: propia } = await addPasskey(environment, testPersona)
      const { cookie, body } = await signChallenge(environment, autenticador)
      const presenceRequest = ['POST', '/operaciones/v1/sesion/passkeys/presencia', body] as [string, string, unknown]
      return toScene(() => requestFromPage(environment, `${propia}; ${cookie}`, presenceRequest), testPersona.persona)
    },
    obtenerSegundoFactor: async () => ofPersona('GET', '/sesion/segundo-factor'),
    pedirRegistroDeTotp: async () => ofPersona('POST', '/sesion/totp/registro'),
    agregarTotp: async () => {
      const testPersona = await createTestPersona(environment)
      const { secreto } = (await testPersona.request('POST', '/operaciones/v1/sesion/totp/registro')).body
      const codigo = createTestApp(environment, secreto).codigo()
      return toScene(() => testPersona.request('POST', '/operaciones/v1/sesion/totp', { codigo }), testPersona.persona)
    },
    quitarTotp: async () => {
      const { comercio } = await environment.createComercio()
      const testPersona = await createTestPersona(environment, { comercio, alcances: ['lectura'], withApp: true })
      return toScene(() => testPersona.request('DELETE', '/operaciones/v1/sesion/totp'), testPersona.persona)
    },
    crearCodigosDeRecuperacion: async () => {
      const testPersona = await createTestPersona(environment)
      return toScene(
        () => testPersona.request('POST', '/operaciones/v1/sesion/codigos-de-recuperacion'),
        testPersona.persona,
      )
    },
    abrirSesionConSegundoFactor: async () => {
      const testPersona = await createTestPersona(environment)
      const { codigo, signInCookie } = await requestCode(environment, testPersona.correo)
      const { headers } = await signInWithCode(environment, signInCookie, codigo)
      return toScene(
        () => endSignIn(environment, toCookieHeader(headers), testPersona.app!.codigo()),
        testPersona.persona,
      )
    },
    restablecerSegundoFactor: async () => {
      const { persona } = await createTestPersona(environment)
      return toScene(asOperador('DELETE', `/personas/${persona}/segundo-factor`), persona)
    },
    elegirMembresia: async () => {
      const testPersona = await createTestPersona(environment)
      const body = { membresia: testPersona.membresia, modo: 'test' }
      return toScene(() => testPersona.request('PATCH', '/operaciones/v1/sesion', body), testPersona.persona)
    },
  } satisfies Partial<Record<OperationId, PersonaScene>>
}
