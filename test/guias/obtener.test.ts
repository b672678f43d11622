import { ErrorNoEncontrado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from './move.ts'

const entorno = shareEnvironment()
const { mover } = useGuias(entorno)

describe('GET /api/v1/guias/{guia}', () => {
  it('gives the guide and its history, oldest first, in pages', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await mover(guia, 'recolectado', 'en_bodega', 'en_ruta', 'entregado')
    const primera = await api.guias.obtener(guia, { limite: 2 })
    expect(primera).toMatchObject({ estado: 'entregado', secuencia: 5 })
    expect(primera.eventos.datos.map((e) => e.estado)).toEqual(['aceptado', 'recolectado'])
    const segunda = await api.guias.obtener(guia, { limite: 100, cursor: primera.eventos.cursor_siguiente! })
    expect(segunda.eventos.datos.map((e) => [e.estado_anterior, e.estado])).toEqual([
      ['recolectado', 'en_bodega'],
      ['en_bodega', 'en_ruta'],
      ['en_ruta', 'entregado'],
    ])
    expect(segunda.eventos.cursor_siguiente).toBeNull()
    // The history alone is the same page, and takes the same cursor.
    expect((await api.guias.eventos(guia, { limite: 100, cursor: primera.eventos.cursor_siguiente! })).datos).toEqual(
      segunda.eventos.datos,
    )
  })

  it('is not sent again while it is the same', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const ver = (etag: string, ruta = `/api/v1/guias/${guia}?limite=1`) =>
      entorno.request('GET', ruta, { llave, cabeceras: { 'If-None-Match': etag } })
    const etagDe = async (etag: string) => {
      const { status, cabeceras } = await ver(etag)
      expect(status).toBe(200)
      return cabeceras.get('etag')!
    }
    const creada = await etagDe('"ninguna"')
    expect((await ver(creada)).status).toBe(304)
    await mover(guia, 'recolectado')
    // Now its page of the history ends with a cursor, which is the same each time.
    const recolectada = await etagDe(creada)
    expect((await ver(recolectada)).status).toBe(304)
    // Another page of the history is another thing.
    expect((await ver(recolectada, `/api/v1/guias/${guia}?limite=2`)).status).toBe(200)
    await api.guias.confirmarUbicacion(guia, { lat: 14.6, lng: -90.5 })
    expect((await ver(recolectada)).status).toBe(200)
  })

  it('answers 404 to other merchants for every If-None-Match', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const ruta = `/api/v1/guias/${guia}`
    const etag = (await entorno.request('GET', ruta, { llave })).cabeceras.get('etag')!
    const ajeno = await entorno.nuevoComercio()
    for (const suya of [etag, '*', '"otra"']) {
      const { status, cuerpo, cabeceras } = await entorno.request('GET', ruta, {
        llave: ajeno.llave,
        cabeceras: { 'If-None-Match': suya },
      })
      expect([status, cuerpo.codigo, cabeceras.get('etag')]).toEqual([404, 'guia_desconocida', null])
      expect(cabeceras.get('cache-control')).toBe('no-store')
    }
    expect((await entorno.request('GET', ruta, { cabeceras: { 'If-None-Match': etag } })).status).toBe(401)
  })

  it('takes the code as people type it', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const escrito = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
    expect((await api.guias.obtener(escrito)).guia).toBe(guia)
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
  ])('says what is wrong with the mistyped code %s', async (escrito, porQue) => {
    const { llave } = await entorno.nuevoComercio()
    const mensaje = `Ese identificador no puede ser de una guía. ${porQue}`
    const busqueda = `Si es su número de pedido, búsquelo en la lista de guías con el filtro external_ref, «${escrito}».`
    const vista = await entorno.request('GET', `/api/v1/guias/${escrito}`, { llave })
    expect([vista.status, vista.cuerpo.codigo, vista.cuerpo.mensaje]).toEqual([
      404,
      'guia_desconocida',
      `${mensaje} ${busqueda}`,
    ])
    const etiquetas = await entorno.request('POST', '/api/v1/etiquetas', { llave, cuerpo: { guias: [escrito] } })
    expect([etiquetas.status, etiquetas.cuerpo.errores]).toEqual([
      422,
      [{ campo: '/guias/0', codigo: 'valor_no_admitido', mensaje: `${mensaje} ${busqueda}` }],
    ])
  })

  it('leads from an order number to the filter that finds it', async () => {
    const { api, llave } = await entorno.nuevoComercio()
    const external_ref = 'PEDIDO 7/á+1'
    const { guia } = await api.guias.crear(buildGuia({ external_ref }))
    const pedido = encodeURIComponent(external_ref)
    for (const ruta of [pedido, `${pedido}/eventos`, `${pedido}/etiqueta`, `${pedido}/prueba-entrega`]) {
      const { status, cuerpo } = await entorno.request('GET', `/api/v1/guias/${ruta}`, { llave })
      const [, filtro = '', valor = ''] = /con el filtro (\w+), «(.+)»\.$/.exec(cuerpo.mensaje) ?? []
      expect([ruta, status, filtro, valor]).toEqual([ruta, 404, 'external_ref', external_ref])
      const { datos } = await api.guias.listar({ [filtro]: valor })
      expect(datos.map((una) => una.guia)).toEqual([guia])
    }
    const larga = await entorno.request('GET', `/api/v1/guias/${'A'.repeat(200)}`, { llave })
    expect(larga.cuerpo.mensaje).not.toContain('external_ref')
  })

  it.each(['000000000000', '7K3M9QX2A1BB', 'x', '¿?', '%00', '../guias', 'a'.repeat(64), 'A'.repeat(5_000)])(
    'answers 404 to %s',
    async (codigo) => {
      const { api } = await entorno.nuevoComercio()
      await expect(api.guias.obtener(codigo)).rejects.toBeInstanceOf(ErrorNoEncontrado)
    },
  )
})
