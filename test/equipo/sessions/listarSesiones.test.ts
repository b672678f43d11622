import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona, requestCode, requestFromPage } from '../persona.ts'

const environment = useEnvironment()
const RUTA = '/operaciones/v1/sesion'
const operaciones = (path: string) => `/operaciones/v1${path}`

describe('sessions of one person', () => {
  it('are listed and ended one by one', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['despacho'] })
    const clientAgent = {
      headers: { 'User-Agent': 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0' },
    }
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const other = await requestFromPage(environment, input, ['POST', RUTA, { codigo }], clientAgent)
    const list = await ana.request('GET', operaciones('/sesiones'))
    expect(list.body.datos).toMatchObject([
      { sesion: other.body.sesion, actual: false, dispositivo: 'Firefox en Android', red: '127.0.0.0/24' },
      { sesion: ana.sesion, actual: true },
    ])
    expect((await ana.request('DELETE', operaciones(`/sesiones/${other.body.sesion}`))).status).toBe(204)
    const foreign = await createTestPersona(environment)
    for (const sesion of [other.body.sesion, foreign.sesion, 'x']) {
      const { status, body } = await ana.request('DELETE', operaciones(`/sesiones/${sesion}`))
      expect([status, body.codigo]).toEqual([404, 'sesion_desconocida'])
    }
    const output = await ana.request('DELETE', RUTA)
    expect([output.status, output.headers.getSetCookie()]).toEqual([
      204,
      ['guias_sesion=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'],
    ])
    await waitUntil(async () => (await ana.request('GET', RUTA)).status === 401)
  })
})
