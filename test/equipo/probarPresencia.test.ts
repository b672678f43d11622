import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import {
  createCorreoAddress,
  createTestPersona,
  requestCode,
  requestFromPage,
  signInWithCode,
  type TestPersona,
} from './persona.ts'

const entorno = useEnvironment()
const probar = (cookie: string, codigo: unknown) =>
  requestFromPage(entorno, cookie, ['POST', '/operaciones/v1/sesion/presencia', { codigo }])
const invitar = ({ request: pedir }: TestPersona) =>
  pedir('POST', '/operaciones/v1/invitaciones', { correo: createCorreoAddress(), nombre: 'x', alcances: ['ver'] })

describe('a session that is older than five minutes', () => {
  it('changes keys and persons only after another code', async () => {
    const ana = await createTestPersona(entorno)
    expect((await invitar(ana)).status).toBe(201)
    entorno.advance(5 * MINUTE_MS + 1)
    await hasta(async () => (await invitar(ana)).status === 403)
    const { comercio } = await entorno.nuevoComercio()
    const { operador } = (await entorno.operar('POST', '/operadores', { nombre: 'x' })).cuerpo
    for (const [metodo, ruta, cuerpo] of [
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
      const { status, cuerpo: dicho } = await ana.request(metodo, `/operaciones/v1${ruta}`, cuerpo)
      expect([ruta, status, dicho.codigo]).toEqual([ruta, 403, 'presencia_requerida'])
    }
    expect((await ana.request('GET', '/operaciones/v1/personas')).status).toBe(200)
    const deCorreo = await requestCode(entorno, ana.correo)
    expect((await probar(`${ana.cookie}; ${deCorreo.signInCookie}`, deCorreo.codigo)).status).toBe(401)
    const probada = await probar(ana.cookie, ana.app!.codigo())
    expect([probada.status, probada.cuerpo.sesion]).toEqual([200, ana.sesion])
    await hasta(async () => (await invitar(ana)).status === 201)
  })

  it('takes no code by mail of another person, of another browser or a second time', async () => {
    const sinApp = { conApp: false }
    const [ana, otra] = [await createTestPersona(entorno, sinApp), await createTestPersona(entorno, sinApp)]
    const ajeno = await requestCode(entorno, otra.correo)
    const propio = await requestCode(entorno, ana.correo)
    const usado = await requestCode(entorno, ana.correo)
    expect((await signInWithCode(entorno, usado.signInCookie, usado.codigo)).status).toBe(201)
    for (const [cookie, codigo] of [
      [`${ana.cookie}; ${ajeno.signInCookie}`, ajeno.codigo],
      [ana.cookie, propio.codigo],
      [`${ana.cookie}; ${ajeno.signInCookie}`, propio.codigo],
      [`${ana.cookie}; ${usado.signInCookie}`, usado.codigo],
    ] as const) {
      const { status, cuerpo } = await probar(cookie, codigo)
      expect([status, cuerpo.codigo]).toEqual([401, 'codigo_incorrecto'])
    }
    expect((await probar(`${ana.cookie}; ${propio.signInCookie}`, propio.codigo)).status).toBe(200)
  })
})
