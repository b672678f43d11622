import { type Conocido, ErrorServicio, type Estado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { fault, json, type Responder, respondProblema, useFakeServer } from './server.ts'

const server = useFakeServer()
const { client, respondWith: answer, capturedRequests: received } = server

describe('lists', () => {
  /** Pages of two over n elements; the cursor is the position. `flujo` always gives one. */
  const pages =
    (n: number, { flujo = false } = {}): Responder =>
    (res, { path }) => {
      const { searchParams } = new URL(path, server.baseUrl)
      const from = Number(searchParams.get('cursor') ?? 0)
      const hasta = Math.min(from + 2, n)
      const datos = Array.from({ length: hasta - from }, (_, i) => ({ id: from + i }))
      json(200, { datos, cursor_siguiente: flujo || hasta < n ? String(hasta) : null })(res)
    }
  const all = async <T>(list: AsyncIterable<T>) => {
    const seen: T[] = []
    for await (const item of list) seen.push(item)
    return seen
  }
  const ids = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ id: from + i }))

  it('asks nothing before it is used; awaited, gives the first page, once', async () => {
    answer(pages(5))
    const list = client().guias.listar({ estado: ['en_ruta', 'aceptado'], external_ref: 'A&B', limite: 2 })
    // Another's request, sent later, has come and gone.
    await client().guias.listar()
    expect(received.splice(0).map(({ path }) => path)).toEqual(['/api/v1/guias'])
    expect(await list).toEqual({ datos: ids(2), cursor_siguiente: '2' })
    expect(await list.conRespuesta()).toMatchObject({ estadoHttp: 200, idSolicitud: 'sol-1' })
    expect(received.map(({ path }) => path)).toEqual([
      '/api/v1/guias?estado=en_ruta&estado=aceptado&external_ref=A%26B&limite=2',
    ])
  })

  it('names the members of an object in brackets, and goes on after a page without elements', async () => {
    answer((res, { path }) => {
      const { searchParams } = new URL(path, server.baseUrl)
      json(
        200,
        searchParams.has('cursor') ? { datos: ids(1), cursor_siguiente: null } : { datos: [], cursor_siguiente: '9' },
      )(res)
    })
    const metadatos = { canal: 'web', 'campaña & más': 'sí', nada: undefined } as never
    expect(await all(client().guias.listar({ metadatos, telefono: '+502 3148' }))).toEqual(ids(1))
    expect(received.map(({ path }) => path.replace(/.*[?]/, ''))).toEqual(
      ['', '&cursor=9'].map(
        (cursor) =>
          `metadatos%5Bcanal%5D=web&metadatos%5Bcampa%C3%B1a%20%26%20m%C3%A1s%5D=s%C3%AD&telefono=%2B502%203148${cursor}`,
      ),
    )
  })

  it('walks all pages with the same filters, each time anew', async () => {
    answer(pages(5))
    const filters: { estado: Conocido<Estado>[]; limite: number } = { estado: ['en_ruta'], limite: 2 }
    const list = client().guias.listar(filters)
    filters.estado.push('aceptado')
    expect(await all(list)).toEqual(ids(5))
    expect(received.map(({ path }) => path)).toEqual([
      '/api/v1/guias?estado=en_ruta&limite=2',
      '/api/v1/guias?estado=en_ruta&limite=2&cursor=2',
      '/api/v1/guias?estado=en_ruta&limite=2&cursor=4',
    ])
    expect(await all(list)).toEqual(ids(5))
    expect(await all(client().guias.listar({ cursor: '3' }))).toEqual(ids(2, 3))
  })

  it.each([
    [3, [0, 1, 2], 2],
    [2, [0, 1], 1],
    [0, [], 0],
    [Infinity, [0, 1, 2, 3, 4], 3],
    [99, [0, 1, 2, 3, 4], 3],
  ])('gives the first %d in an array, and asks for no page more', async (count, expectedItems, times) => {
    answer(pages(5))
    const first = await client().guias.listar().primeros(count)
    expect([first, received.length]).toEqual([expectedItems.map((id) => ({ id })), times])
  })

  it('gives the first of the feed up to now, and none for what is no number', async () => {
    answer(pages(3, { flujo: true }))
    expect(await client().eventos.listar().primeros(10)).toHaveLength(3)
    for (const bad of [-1, Number.NaN, undefined])
      await expect(
        client()
          .guias.listar()
          .primeros(bad as number),
      ).rejects.toThrow('primeros debe ser un número')
  })

  it('walks the history of a guide, and stops asking when the caller stops', async () => {
    answer(pages(50))
    for await (const evento of client().guias.eventos('7K3M9QX2A1B4', { limite: 2 }))
      if (evento.id === (2 as never)) break
    expect(received.map(({ path }) => path)).toEqual([
      '/api/v1/guias/7K3M9QX2A1B4/eventos?limite=2',
      '/api/v1/guias/7K3M9QX2A1B4/eventos?limite=2&cursor=2',
    ])
    answer(pages(0))
    expect(await all(client().guias.eventos('7K3M9QX2A1B4'))).toEqual([])
  })

  it('follows the feed until it is up to date, page by page with the cursor to keep', async () => {
    answer(pages(3, { flujo: true }))
    expect(await all(client().eventos.listar())).toEqual(ids(3))
    expect(received).toHaveLength(3)
    const cursores = []
    for await (const { cursor_siguiente } of client().eventos.listar().paginas()) cursores.push(cursor_siguiente)
    expect(cursores).toEqual(['2', '3', '3'])
    expect(await client().eventos.listar({ cursor: '3' })).toEqual({ datos: [], cursor_siguiente: '3' })
  })

  it('fails in the middle with the error of that page', async () => {
    answer((res, receivedRequest) =>
      receivedRequest.path.includes('cursor=4')
        ? respondProblema(503, 'no_disponible')(res)
        : pages(9)(res, receivedRequest),
    )
    const seen: unknown[] = []
    const error = await fault(
      (async () => {
        for await (const guia of client().guias.listar()) seen.push(guia)
      })(),
    )
    expect(error).toBeInstanceOf(ErrorServicio)
    expect(seen).toEqual(ids(4))
  })

  it('does not go round for ever on a cursor that stands still', async () => {
    answer(json(200, { datos: [1], cursor_siguiente: 'x' }))
    expect(await fault(all(client().guias.listar()))).toMatchObject({
      name: 'ErrorGuias',
      message: expect.stringContaining('no avanza'),
    })
    expect(received).toHaveLength(2)
  })
})
