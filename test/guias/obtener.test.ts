import { ErrorNoEncontrado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from './move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

describe('GET /api/v1/guias/{guia}', () => {
  it('gives the guide and its history, oldest first, in pages', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await mover(guia, 'recolectado', 'en_bodega', 'en_ruta', 'entregado')
    const first = await api.guias.obtener(guia, { limite: 2 })
    expect(first).toMatchObject({ estado: 'entregado', secuencia: 5 })
    expect(first.eventos.datos.map((e) => e.estado)).toEqual(['aceptado', 'recolectado'])
    const second = await api.guias.obtener(guia, { limite: 100, cursor: first.eventos.cursor_siguiente! })
    expect(second.eventos.datos.map((e) => [e.estado_anterior, e.estado])).toEqual([
      ['recolectado', 'en_bodega'],
      ['en_bodega', 'en_ruta'],
      ['en_ruta', 'entregado'],
    ])
    expect(second.eventos.cursor_siguiente).toBeNull()
    // The history alone is the same page, and takes the same cursor.
    expect((await api.guias.eventos(guia, { limite: 100, cursor: first.eventos.cursor_siguiente! })).datos).toEqual(
      second.eventos.datos,
    )
  })

  it('is not sent again while it is the same', async () => {
    const { llave, api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const ver = (etag: string, path = `/api/v1/guias/${guia}?limite=1`) =>
      environment.request('GET', path, { llave, headers: { 'If-None-Match': etag } })
    const etagOf = async (etag: string) => {
      const { status, headers } = await ver(etag)
      expect(status).toBe(200)
      return headers.get('etag')!
    }
    const created = await etagOf('"ninguna"')
    expect((await ver(created)).status).toBe(304)
    await mover(guia, 'recolectado')
    // Now its page of the history ends with a cursor, which is the same each time.
    const collectionResult = await etagOf(created)
    expect((await ver(collectionResult)).status).toBe(304)
    // Another page of the history is another thing.
    expect((await ver(collectionResult, `/api/v1/guias/${guia}?limite=2`)).status).toBe(200)
    await api.guias.confirmarUbicacion(guia, { lat: 14.6, lng: -90.5 })
    expect((await ver(collectionResult)).status).toBe(200)
  })

  it('answers 404 to other merchants for every If-None-Match', async () => {
    const { llave, api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const path = `/api/v1/guias/${guia}`
    const etag = (await environment.request('GET', path, { llave })).headers.get('etag')!
    const foreign = await environment.createComercio()
    for (const ifNoneMatch of [etag, '*', '"otra"']) {
      const { status, body, headers } = await environment.request('GET', path, {
        llave: foreign.llave,
        headers: { 'If-None-Match': ifNoneMatch },
      })
      expect([status, body.codigo, headers.get('etag')]).toEqual([404, 'guia_desconocida', null])
      expect(headers.get('cache-control')).toBe('no-store')
    }
    expect((await environment.request('GET', path, { headers: { 'If-None-Match': etag } })).status).toBe(401)
  })

  it('takes the code as people type it', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const written = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
    expect((await api.guias.obtener(written)).guia).toBe(guia)
  })

  it.each([
    [
      '7K3M9QX2A1B5',
      'Su último carácter, el de verificación, no cuadra: tiene una letra o un número cambiado. Cópielo otra vez.',
    ],
    ['7K3M-9QX2-A1B', 'Escribió 11 letras y números: falta 1.'],
    ['7K3M-9QX2-A1', 'Escribió 10 letras y números: faltan 2.'],
    [
      '+502 3148-1676',
      'Parece un teléfono. El código de la guía está en la etiqueta y en los mensajes al destinatario.',
    ],
    ['3148 1676', 'Parece un teléfono. El código de la guía está en la etiqueta y en los mensajes al destinatario.'],
    ['7K3M9QX2A1U4', 'Los códigos no llevan «U». Revise si es otra letra u otro número.'],
  ])('says what is wrong with the mistyped code %s', async (written, reason) => {
    const { llave } = await environment.createComercio()
    const mensaje = `Ese identificador no puede ser de una guía. ${reason}`
    const busqueda = `Si es su número de pedido, búsquelo en la lista de guías con el filtro external_ref, «${written}».`
    const view = await environment.request('GET', `/api/v1/guias/${written}`, { llave })
    expect([view.status, view.body.codigo, view.body.mensaje]).toEqual([
      404,
      'guia_desconocida',
      `${mensaje} ${busqueda}`,
    ])
    const etiquetas = await environment.request('POST', '/api/v1/etiquetas', { llave, body: { guias: [written] } })
    expect([etiquetas.status, etiquetas.body.errores]).toEqual([
      422,
      [{ campo: '/guias/0', codigo: 'valor_no_admitido', mensaje: `${mensaje} ${busqueda}` }],
    ])
  })

  it('leads from an order number to the filter that finds it', async () => {
    const { api, llave } = await environment.createComercio()
    const external_ref = 'PEDIDO 7/á+1'
    const { guia } = await api.guias.crear(buildGuia({ external_ref }))
    const requestData = encodeURIComponent(external_ref)
    for (const path of [
      requestData,
      `${requestData}/eventos`,
      `${requestData}/etiqueta`,
      `${requestData}/prueba-entrega`,
    ]) {
      const { status, body } = await environment.request('GET', `/api/v1/guias/${path}`, { llave })
      const [, filtro = '', value = ''] = /con el filtro (\w+), «(.+)»\.$/.exec(body.mensaje) ?? []
      expect([path, status, filtro, value]).toEqual([path, 404, 'external_ref', external_ref])
      const { datos } = await api.guias.listar({ [filtro]: value })
      expect(datos.map((one) => one.guia)).toEqual([guia])
    }
    const longOne = await environment.request('GET', `/api/v1/guias/${'A'.repeat(200)}`, { llave })
    expect(longOne.body.mensaje).not.toContain('external_ref')
  })

  it.each(['000000000000', '7K3M9QX2A1BB', 'x', '¿?', '%00', '../guias', 'a'.repeat(64), 'A'.repeat(5_000)])(
    'answers 404 to %s',
    async (codigo) => {
      const { api } = await environment.createComercio()
      await expect(api.guias.obtener(codigo)).rejects.toBeInstanceOf(ErrorNoEncontrado)
    },
  )
})
