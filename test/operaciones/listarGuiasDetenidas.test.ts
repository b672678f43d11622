import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const entorno = useEnvironment({}, () => ({ WORKERS: '0' }))
const { mover } = useGuias(entorno)
const listar = async (consulta = '?modo=test') => (await entorno.operar('GET', `/detenidas${consulta}`)).cuerpo
const codigos = ({ datos }: { datos: { guia: string }[] }) => datos.map(({ guia }) => guia)

describe('GET /operaciones/v1/detenidas', () => {
  it('lists what is in custody and does not move, of all merchants, longest first', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    const nueva = async ({ api }: typeof uno) => (await api.guias.crear(buildGuia())).guia
    const [sinRecolectar, enBodega, fallida, enRuta] = [
      await nueva(uno),
      await nueva(uno),
      await nueva(otro),
      await nueva(otro),
    ]
    await mover(enBodega!, 'recolectado', 'en_bodega')
    await mover(fallida!, 'recolectado', 'en_ruta', 'intento_fallido')
    await mover(enRuta!, 'recolectado', 'en_ruta')
    expect(codigos(await listar())).toEqual([])
    await entorno.advance(24 * HOUR_MS)
    const ayer = await listar()
    expect(codigos(ayer)).toEqual([enRuta])
    const { rows } = await entorno.db.pool.query('select estado_en from guia where guia = $1', [enRuta])
    expect(ayer).toMatchObject({
      datos: [{ comercio: otro.comercio, estado: 'en_ruta', detenida_desde: rows[0].estado_en.toISOString() }],
      hay_mas: false,
    })
    await entorno.advance(25 * HOUR_MS)
    expect(codigos(await listar())).toEqual([enBodega, enRuta])
    await entorno.operar('POST', `/guias/${fallida}/reintentar`, { razon: 'Llamó' })
    expect(codigos(await listar())).toEqual([enBodega, fallida, enRuta])
    await mover(enBodega!, 'en_transito')
    expect(codigos(await listar())).toEqual([fallida, enRuta])
    expect(codigos(await listar())).not.toContain(sinRecolectar)
    expect(codigos(await listar(''))).toEqual([])
    expect((await listar('?modo=otro')).errores[0].campo).toBe('modo')
  })
})
