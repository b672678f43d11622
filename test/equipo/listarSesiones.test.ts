import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createTestPersona, requestCode, requestFromPage } from './persona.ts'

const entorno = useEnvironment()
const RUTA = '/operaciones/v1/sesion'
const operaciones = (ruta: string) => `/operaciones/v1${ruta}`

describe('sessions of one person', () => {
  it('are listed and ended one by one', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const ana = await createTestPersona(entorno, { comercio, alcances: ['despacho'] })
    const agente = {
      cabeceras: { 'User-Agent': 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0' },
    }
    const { codigo, signInCookie: entrada } = await requestCode(entorno, ana.correo)
    const otra = await requestFromPage(entorno, entrada, ['POST', RUTA, { codigo }], agente)
    const lista = await ana.request('GET', operaciones('/sesiones'))
    expect(lista.cuerpo.datos).toMatchObject([
      { sesion: otra.cuerpo.sesion, actual: false, dispositivo: 'Firefox en Android', red: '127.0.0.0/24' },
      { sesion: ana.sesion, actual: true },
    ])
    expect((await ana.request('DELETE', operaciones(`/sesiones/${otra.cuerpo.sesion}`))).status).toBe(204)
    const ajena = await createTestPersona(entorno)
    for (const sesion of [otra.cuerpo.sesion, ajena.sesion, 'x']) {
      const { status, cuerpo } = await ana.request('DELETE', operaciones(`/sesiones/${sesion}`))
      expect([status, cuerpo.codigo]).toEqual([404, 'sesion_desconocida'])
    }
    const salida = await ana.request('DELETE', RUTA)
    expect([salida.status, salida.cabeceras.getSetCookie()]).toEqual([
      204,
      ['guias_sesion=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'],
    ])
    await hasta(async () => (await ana.request('GET', RUTA)).status === 401)
  })
})
