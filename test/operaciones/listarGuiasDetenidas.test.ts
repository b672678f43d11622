import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useGuias } from '../guias/move.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const { mover } = useGuias(environment)
const listar = async (query = '?modo=test') => (await environment.asOperador('GET', `/detenidas${query}`)).body
const codigos = ({ datos }: { datos: { guia: string }[] }) => datos.map(({ guia }) => guia)

describe('GET /operaciones/v1/detenidas', () => {
  it('lists what is in custody and does not move, of all merchants, longest first', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const fresh = async ({ api }: typeof one) => (await api.guias.crear(buildGuia())).guia
    const [uncollectedGuia, inWarehouse, fallida, onRoute] = [
      await fresh(one),
      await fresh(one),
      await fresh(other),
      await fresh(other),
    ]
    await mover(inWarehouse!, 'recolectado', 'en_bodega')
    await mover(fallida!, 'recolectado', 'en_ruta', 'intento_fallido')
    await mover(onRoute!, 'recolectado', 'en_ruta')
    expect(codigos(await listar())).toEqual([])
    await environment.advance(24 * HOUR_MS)
    const yesterday = await listar()
    expect(codigos(yesterday)).toEqual([onRoute])
    const { rows } = await environment.db.pool.query('select estado_en from guia where guia = $1', [onRoute])
    expect(yesterday).toMatchObject({
      datos: [{ comercio: other.comercio, estado: 'en_ruta', detenida_desde: rows[0].estado_en.toISOString() }],
      hay_mas: false,
    })
    await environment.advance(25 * HOUR_MS)
    expect(codigos(await listar())).toEqual([inWarehouse, onRoute])
    await environment.asOperador('POST', `/guias/${fallida}/reintentar`, { razon: 'Llamó' })
    expect(codigos(await listar())).toEqual([inWarehouse, fallida, onRoute])
    await mover(inWarehouse!, 'en_transito')
    expect(codigos(await listar())).toEqual([fallida, onRoute])
    expect(codigos(await listar())).not.toContain(uncollectedGuia)
    expect(codigos(await listar(''))).toEqual([])
    expect((await listar('?modo=otro')).errores[0].campo).toBe('modo')
  })
})
