import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { COMPLETO, unaGuia } from '../fabricas.ts'

const entorno = compartirEntorno()

describe('GET /operaciones/v1/guias', () => {
  it('finds the guides of all merchants and modes, and says whose they are', async () => {
    const uno = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio('live')
    const telefono = '+50232963399'
    const [a, b] = [await uno.api.guias.crear(unaGuia({ telefono })), await otro.api.guias.crear(unaGuia({ telefono }))]
    const buscar = async (consulta: string) =>
      (await entorno.operar('GET', `/guias?${consulta}`)).cuerpo.datos.map(
        (g: { guia: string; comercio: string; modo: string }) => [g.guia, g.comercio, g.modo],
      )
    expect(await buscar(`telefono=${encodeURIComponent('+502 3296-3399')}`)).toEqual([
      [b.guia, otro.comercio, 'live'],
      [a.guia, uno.comercio, 'test'],
    ])
    expect(await buscar(`telefono=${encodeURIComponent(telefono)}&modo=test`)).toEqual([[a.guia, uno.comercio, 'test']])
    expect(await buscar(`comercio=${otro.comercio}`)).toEqual([[b.guia, otro.comercio, 'live']])
    expect(await buscar(`external_ref=${a.external_ref}`)).toEqual([[a.guia, uno.comercio, 'test']])
    expect(await buscar(`comercio=${uno.comercio}&estado=cancelado`)).toEqual([])
    expect((await entorno.operar('GET', '/guias?comercio=com_NADIE')).cuerpo.datos ?? 'sin datos').toEqual([])
    expect((await entorno.operar('GET', '/guias?telefono=123')).cuerpo.errores[0].campo).toBe('telefono')
  })

  it('pages over everything', COMPLETO, async () => {
    const { api } = await entorno.nuevoComercio()
    await api.guias.crearLote({ guias: Array.from({ length: 7 }, () => unaGuia()) })
    const vistas = new Set<string>()
    let cuantas = 0
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { cuerpo } = await entorno.operar('GET', `/guias?limite=3${cursor ? `&cursor=${cursor}` : ''}`)
      for (const { guia } of cuerpo.datos) vistas.add(guia)
      cuantas += cuerpo.datos.length
      cursor = cuerpo.cursor_siguiente
    }
    const { rows } = await entorno.db.pool.query('select count(*)::int as n from guia')
    expect([vistas.size, cuantas]).toEqual([rows[0].n, rows[0].n])
  })
})
