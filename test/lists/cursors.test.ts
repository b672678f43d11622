import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const entorno = shareEnvironment()
const { mover } = useGuias(entorno)

describe('cursors', () => {
  it('are worthless once altered, or for another merchant, mode, operation or filter', async () => {
    const comercio = await entorno.nuevoComercio()
    const otro = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    await comercio.api.guias.crear(buildGuia())
    await mover(guia, 'recolectado')
    const { cursor_siguiente: cursor } = await comercio.api.guias.listar({ limite: 1 })
    const { eventos } = await comercio.api.guias.obtener(guia, { limite: 1 })
    const flujo = await comercio.api.eventos.listar({ limite: 1 })
    const pedir = async (ruta: string, llave: string, c: string) =>
      (
        await entorno.request('GET', `${ruta}${ruta.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(c)}`, {
          llave,
        })
      ).cuerpo
    expect((await pedir('/api/v1/guias', comercio.llave, cursor!)).datos).toHaveLength(1)
    for (let i = 0; i < cursor!.length; i++) {
      const alterado = cursor!.slice(0, i) + (cursor![i] === 'A' ? 'B' : 'A') + cursor!.slice(i + 1)
      expect((await pedir('/api/v1/guias', comercio.llave, alterado)).codigo).toBe('cursor_invalido')
    }
    const enVivo = await entorno.createLlave(comercio, { modo: 'live' })
    for (const [ruta, llave, c] of [
      ['/api/v1/guias', otro.llave, cursor],
      ['/api/v1/guias', enVivo, cursor],
      ['/api/v1/guias?estado=aceptado', comercio.llave, cursor],
      ['/api/v1/eventos', comercio.llave, cursor],
      ['/api/v1/guias', comercio.llave, flujo.cursor_siguiente],
      [`/api/v1/guias/${guia}/eventos`, comercio.llave, cursor],
      ['/api/v1/guias', comercio.llave, eventos.cursor_siguiente],
      ['/api/v1/guias', comercio.llave, 'AAAA'],
    ] as const) {
      expect([ruta, (await pedir(ruta, llave, c!)).codigo]).toEqual([ruta, 'cursor_invalido'])
    }
    // The page size is no filter.
    expect((await pedir('/api/v1/guias?limite=7', comercio.llave, cursor!)).datos).toHaveLength(1)
  })
})
