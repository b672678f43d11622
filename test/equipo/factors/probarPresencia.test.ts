import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import {
  createCorreoAddress,
  createTestPersona,
  requestCode,
  requestFromPage,
  signInWithCode,
  type TestPersona,
} from '../persona.ts'

const environment = useEnvironment()
const probar = (cookie: string, codigo: unknown) =>
  requestFromPage(environment, cookie, ['POST', '/operaciones/v1/sesion/presencia', { codigo }])
const invitar = ({ request }: TestPersona) =>
  request('POST', '/operaciones/v1/invitaciones', { correo: createCorreoAddress(), nombre: 'x', alcances: ['ver'] })

describe('a session that is older than five minutes', () => {
  it('changes keys and persons only after another code', async () => {
    const ana = await createTestPersona(environment)
    expect((await invitar(ana)).status).toBe(201)
    environment.advance(5 * MINUTE_MS + 1)
    await waitUntil(async () => (await invitar(ana)).status === 403)
    const { comercio } = await environment.createComercio()
    const { operador } = (await environment.asOperador('POST', '/operadores', { nombre: 'x' })).body
    for (const [method, path, body] of [
      ['POST', `/comercios/${comercio}/llaves`, { modo: 'test' }],
      ['POST', '/operadores', { nombre: 'x' }],
      ['POST', `/operadores/${operador}/llaves`, {}],
      ['POST', `/operadores/${operador}/revocar`],
      ['POST', '/llaves/llave_000000000000/revocar'],
      ['POST', '/llaves/llave_000000000000/rotar', {}],
      ['PATCH', `/membresias/${ana.membresia}`, { alcances: ['ver'] }],
      ['DELETE', `/membresias/${ana.membresia}`],
      ['DELETE', `/personas/${ana.persona}`],
    ] as const) {
      const { status, body: message } = await ana.request(method, `/operaciones/v1${path}`, body)
      expect([path, status, message.codigo]).toEqual([path, 403, 'presencia_requerida'])
    }
    expect((await ana.request('GET', '/operaciones/v1/personas')).status).toBe(200)
    const mailCode = await requestCode(environment, ana.correo)
    expect((await probar(`${ana.cookie}; ${mailCode.signInCookie}`, mailCode.codigo)).status).toBe(401)
    const guiaWithPrueba = await probar(ana.cookie, ana.app!.codigo())
    expect([guiaWithPrueba.status, guiaWithPrueba.body.sesion]).toEqual([200, ana.sesion])
    await waitUntil(async () => (await invitar(ana)).status === 201)
  })

  it('takes no code by mail of another person, of another browser or a second time', async () => {
    const optionsWithoutApp = { withApp: false }
    const [ana, other] = [
      await createTestPersona(environment, optionsWithoutApp),
      await createTestPersona(environment, optionsWithoutApp),
    ]
    const foreign = await requestCode(environment, other.correo)
    const own = await requestCode(environment, ana.correo)
    const usado = await requestCode(environment, ana.correo)
    expect((await signInWithCode(environment, usado.signInCookie, usado.codigo)).status).toBe(201)
    for (const [cookie, codigo] of [
      [`${ana.cookie}; ${foreign.signInCookie}`, foreign.codigo],
      [ana.cookie, own.codigo],
      [`${ana.cookie}; ${foreign.signInCookie}`, own.codigo],
      [`${ana.cookie}; ${usado.signInCookie}`, usado.codigo],
    ] as const) {
      const { status, body } = await probar(cookie, codigo)
      expect([status, body.codigo]).toEqual([401, 'codigo_incorrecto'])
    }
    expect((await probar(`${ana.cookie}; ${own.signInCookie}`, own.codigo)).status).toBe(200)
  })
})
