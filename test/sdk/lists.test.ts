import { type Conocido, ErrorServicio, type Estado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { falla, json, type Responder, respondProblema, useFakeServer } from './server.ts'

const servidor = useFakeServer()
const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = servidor

describe('lists', () => {
  /** Pages of two over n elements; the cursor is the position. `flujo` always gives one. */
  const paginas =
    (n: number, { flujo = false } = {}): Responder =>
    (res, { path: ruta }) => {
      const { searchParams } = new URL(ruta, servidor.baseUrl)
      const desde = Number(searchParams.get('cursor') ?? 0)
      const hasta = Math.min(desde + 2, n)
      const datos = Array.from({ length: hasta - desde }, (_, i) => ({ id: desde + i }))
      json(200, { datos, cursor_siguiente: flujo || hasta < n ? String(hasta) : null })(res)
    }
  const todos = async <T>(lista: AsyncIterable<T>) => {
    const vistos: T[] = []
    for await (const elemento of lista) vistos.push(elemento)
    return vistos
  }
  const ids = (cuantos: number, desde = 0) => Array.from({ length: cuantos }, (_, i) => ({ id: desde + i }))

  it('asks nothing before it is used; awaited, gives the first page, once', async () => {
    contestar(paginas(5))
    const lista = cliente().guias.listar({ estado: ['en_ruta', 'aceptado'], external_ref: 'A&B', limite: 2 })
    // Another's request, sent later, has come and gone.
    await cliente().guias.listar()
    expect(recibidas.splice(0).map(({ path: ruta }) => ruta)).toEqual(['/api/v1/guias'])
    expect(await lista).toEqual({ datos: ids(2), cursor_siguiente: '2' })
    expect(await lista.conRespuesta()).toMatchObject({ status: 200, idSolicitud: 'sol-1' })
    expect(recibidas.map(({ path: ruta }) => ruta)).toEqual([
      '/api/v1/guias?estado=en_ruta&estado=aceptado&external_ref=A%26B&limite=2',
    ])
  })

  it('names the members of an object in brackets, and goes on after a page without elements', async () => {
    contestar((res, { path: ruta }) => {
      const { searchParams } = new URL(ruta, servidor.baseUrl)
      json(
        200,
        searchParams.has('cursor') ? { datos: ids(1), cursor_siguiente: null } : { datos: [], cursor_siguiente: '9' },
      )(res)
    })
    const metadatos = { canal: 'web', 'campaña & más': 'sí', nada: undefined } as never
    expect(await todos(cliente().guias.listar({ metadatos, telefono: '+502 3148' }))).toEqual(ids(1))
    expect(recibidas.map(({ path: ruta }) => ruta.replace(/.*[?]/, ''))).toEqual(
      ['', '&cursor=9'].map(
        (cursor) =>
          `metadatos%5Bcanal%5D=web&metadatos%5Bcampa%C3%B1a%20%26%20m%C3%A1s%5D=s%C3%AD&telefono=%2B502%203148${cursor}`,
      ),
    )
  })

  it('walks all pages with the same filters, each time anew', async () => {
    contestar(paginas(5))
    const filtros: { estado: Conocido<Estado>[]; limite: number } = { estado: ['en_ruta'], limite: 2 }
    const lista = cliente().guias.listar(filtros)
    filtros.estado.push('aceptado')
    expect(await todos(lista)).toEqual(ids(5))
    expect(recibidas.map(({ path: ruta }) => ruta)).toEqual([
      '/api/v1/guias?estado=en_ruta&limite=2',
      '/api/v1/guias?estado=en_ruta&limite=2&cursor=2',
      '/api/v1/guias?estado=en_ruta&limite=2&cursor=4',
    ])
    expect(await todos(lista)).toEqual(ids(5))
    expect(await todos(cliente().guias.listar({ cursor: '3' }))).toEqual(ids(2, 3))
  })

  it.each([
    [3, [0, 1, 2], 2],
    [2, [0, 1], 1],
    [0, [], 0],
    [Infinity, [0, 1, 2, 3, 4], 3],
    [99, [0, 1, 2, 3, 4], 3],
  ])('gives the first %d in an array, and asks for no page more', async (cuantos, suyos, veces) => {
    contestar(paginas(5))
    const primeros = await cliente().guias.listar().primeros(cuantos)
    expect([primeros, recibidas.length]).toEqual([suyos.map((id) => ({ id })), veces])
  })

  it('gives the first of the feed up to now, and none for what is no number', async () => {
    contestar(paginas(3, { flujo: true }))
    expect(await cliente().eventos.listar().primeros(10)).toHaveLength(3)
    for (const mal of [-1, Number.NaN, undefined])
      await expect(
        cliente()
          .guias.listar()
          .primeros(mal as number),
      ).rejects.toThrow('primeros debe ser un número')
  })

  it('walks the history of a guide, and stops asking when the caller stops', async () => {
    contestar(paginas(50))
    for await (const evento of cliente().guias.eventos('7K3M9QX2A1B4', { limite: 2 }))
      if (evento.id === (2 as never)) break
    expect(recibidas.map(({ path: ruta }) => ruta)).toEqual([
      '/api/v1/guias/7K3M9QX2A1B4/eventos?limite=2',
      '/api/v1/guias/7K3M9QX2A1B4/eventos?limite=2&cursor=2',
    ])
    contestar(paginas(0))
    expect(await todos(cliente().guias.eventos('7K3M9QX2A1B4'))).toEqual([])
  })

  it('follows the feed until it is up to date, page by page with the cursor to keep', async () => {
    contestar(paginas(3, { flujo: true }))
    expect(await todos(cliente().eventos.listar())).toEqual(ids(3))
    expect(recibidas).toHaveLength(3)
    const cursores = []
    for await (const { cursor_siguiente } of cliente().eventos.listar().paginas()) cursores.push(cursor_siguiente)
    expect(cursores).toEqual(['2', '3', '3'])
    expect(await cliente().eventos.listar({ cursor: '3' })).toEqual({ datos: [], cursor_siguiente: '3' })
  })

  it('fails in the middle with the error of that page', async () => {
    contestar((res, recibida) =>
      recibida.path.includes('cursor=4') ? respondProblema(503, 'no_disponible')(res) : paginas(9)(res, recibida),
    )
    const vistos: unknown[] = []
    const error = await falla(
      (async () => {
        for await (const guia of cliente().guias.listar()) vistos.push(guia)
      })(),
    )
    expect(error).toBeInstanceOf(ErrorServicio)
    expect(vistos).toEqual(ids(4))
  })

  it('does not go round for ever on a cursor that stands still', async () => {
    contestar(json(200, { datos: [1], cursor_siguiente: 'x' }))
    expect(await falla(todos(cliente().guias.listar()))).toMatchObject({
      name: 'ErrorGuias',
      message: expect.stringContaining('no avanza'),
    })
    expect(recibidas).toHaveLength(2)
  })
})
