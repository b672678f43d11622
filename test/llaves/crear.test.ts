import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const environment = shareEnvironment()
const { list: listar, crearComercio, crearLlave } = administrar(environment)

describe('POST /operaciones/v1/comercios/{comercio}/llaves', () => {
  it('creates a merchant and a key that works at once, and shows its secret only once', async () => {
    const comercio = await crearComercio()
    expect(comercio).toMatchObject({ comercio: expect.stringMatching(/^com_/), nombre: 'Tienda La Ceiba' })
    const llave = await crearLlave(comercio.comercio, { modo: 'live', alcances: ['guias:leer'] })
    expect(llave).toMatchObject({
      id: expect.stringMatching(/^llave_/),
      llave: expect.stringMatching(/^guia_live_/),
      comercio: comercio.comercio,
      modo: 'live',
      alcances: ['guias:leer'],
      vence_en: null,
    })
    expect(await listar(llave.llave)).toBe(200)
    const { body } = await environment.asOperador('GET', `/comercios/${comercio.comercio}/llaves`)
    const { llave: secret, ...shown } = llave
    // Its use, two lines above, is recorded a little later.
    expect(body.datos).toEqual([{ ...shown, usado_en: body.datos[0].usado_en }])
    const { rows } = await environment.db.pool.query('select * from llave where id = $1', [llave.id.slice(6)])
    expect(JSON.stringify(rows)).not.toContain(secret.slice(22, 74))
    expect(environment.log.join()).not.toContain(secret.slice(22, 40))
  })

  it.each<[string, string, object, string]>([
    ['an unknown scope', '/comercios/{c}/llaves', { modo: 'test', alcances: ['todo'] }, '/alcances/0'],
    ['no scope', '/comercios/{c}/llaves', { modo: 'test', alcances: [] }, '/alcances'],
    ['a doubled scope', '/comercios/{c}/llaves', { modo: 'test', alcances: ['guias:leer', 'guias:leer'] }, '/alcances'],
    ['no mode', '/comercios/{c}/llaves', {}, '/modo'],
    ['a past expiry', '/comercios/{c}/llaves', { modo: 'test', vence_en: '2020-01-01T00:00:00Z' }, '/vence_en'],
  ])('refuses %s', async (_description, path, body, field) => {
    const { comercio } = await crearComercio()
    const response = await environment.asOperador('POST', path.replace('{c}', comercio), body)
    expect([response.status, response.body.errores.map((e: { campo: string }) => e.campo)]).toEqual([422, [field]])
  })
})
