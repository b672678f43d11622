import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const environment = shareEnvironment()
const { mover } = useGuias(environment)

describe('cursors', () => {
  it('are worthless once altered, or for another merchant, mode, operation or filter', async () => {
    const comercio = await environment.createComercio()
    const other = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await comercio.api.guias.crear(buildGuia())
    await mover(guia, 'recolectado')
    const { cursor_siguiente: cursor } = await comercio.api.guias.listar({ limite: 1 })
    const { eventos } = await comercio.api.guias.obtener(guia, { limite: 1 })
    const stream = await comercio.api.eventos.listar({ limite: 1 })
    const request = async (path: string, llave: string, c: string) =>
      (
        await environment.request('GET', `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(c)}`, {
          llave,
        })
      ).body
    expect((await request('/api/v1/guias', comercio.llave, cursor!)).datos).toHaveLength(1)
    for (let i = 0; i < cursor!.length; i++) {
      const altered = cursor!.slice(0, i) + (cursor![i] === 'A' ? 'B' : 'A') + cursor!.slice(i + 1)
      expect((await request('/api/v1/guias', comercio.llave, altered)).codigo).toBe('cursor_invalido')
    }
    const liveOne = await environment.createLlave(comercio, { modo: 'live' })
    for (const [path, llave, c] of [
      ['/api/v1/guias', other.llave, cursor],
      ['/api/v1/guias', liveOne, cursor],
      ['/api/v1/guias?estado=aceptado', comercio.llave, cursor],
      ['/api/v1/eventos', comercio.llave, cursor],
      ['/api/v1/guias', comercio.llave, stream.cursor_siguiente],
      [`/api/v1/guias/${guia}/eventos`, comercio.llave, cursor],
      ['/api/v1/guias', comercio.llave, eventos.cursor_siguiente],
      ['/api/v1/guias', comercio.llave, 'AAAA'],
    ] as const) {
      expect([path, (await request(path, llave, c!)).codigo]).toEqual([path, 'cursor_invalido'])
    }
    // The page size is no filter.
    expect((await request('/api/v1/guias?limite=7', comercio.llave, cursor!)).datos).toHaveLength(1)
  })
})
