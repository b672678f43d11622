import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0', TIME_ZONE: 'UTC' }))
let comercio: Comercio
let yo: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  yo = await createMobile(environment)
  other = await createMobile(environment)
})

const fresh = async () => (await comercio.api.guias.crear(buildGuia())).guia
const asignar = (guias: string[], { repartidor }: Mobile, fecha?: string) =>
  environment.operar('POST', '/asignaciones', { guias, repartidor, fecha })
const listar = async (query = '') => (await environment.operar('GET', `/asignaciones${query}`)).cuerpo
const today = () => environment.clock().toISOString().slice(0, 10)

describe('GET /operaciones/v1/asignaciones', () => {
  it('counts by courier the guides of a day, and lists those of one courier', async () => {
    const [one, second, tomada, suya, manana] = await Promise.all(Array.from({ length: 5 }, fresh))
    await asignar([one!, second!, tomada!], yo)
    await asignar([suya!], other)
    await asignar([manana!], yo, addDays(today(), 1))
    await yo.registrar(tomada!, { estado: 'recolectado', idempotencia: tomada })
    const nombre = 'Carlos Méndez'
    expect(await listar()).toEqual({
      fecha: today(),
      repartidores: [
        { repartidor: yo.repartidor, nombre, guias: 3 },
        { repartidor: other.repartidor, nombre, guias: 1 },
      ],
      guias: null,
    })
    const { repartidores, guias } = await listar(`?repartidor=${yo.repartidor}`)
    expect(repartidores).toEqual([{ repartidor: yo.repartidor, nombre, guias: 3 }])
    expect(guias.map(({ guia }: { guia: string }) => guia).sort()).toEqual([one, second, tomada].sort())
    expect(guias.find(({ guia }: { guia: string }) => guia === tomada)).toMatchObject({
      estado: 'recolectado',
      comercio: comercio.comercio,
      repartidor: { repartidor: yo.repartidor },
      asignada_a: { repartidor: yo.repartidor, fecha: today() },
    })
    expect(await listar(`?repartidor=${yo.repartidor}&fecha=${addDays(today(), 1)}`)).toMatchObject({
      repartidores: [{ guias: 1 }],
      guias: [{ guia: manana }],
    })
  })

  it('lists a finished guide without its assignment', EN_POSTGRES, async () => {
    const tercero = await createMobile(environment)
    const { guia } = await createDeliveredGuia(environment, comercio)
    const alive = await fresh()
    await asignar([alive], tercero)
    await environment.db.pool.query(
      `update asignacion set guia_id = (select id from guia where guia = $1) where guia_id = (select id from guia where guia = $2)`,
      [guia, alive],
    )
    expect((await listar(`?repartidor=${tercero.repartidor}`)).guias).toMatchObject([
      { guia, estado: 'entregado', asignada_a: null },
    ])
  })

  it('is empty for a day without assignments, and 404 for an unknown courier', async () => {
    expect(await listar('?fecha=2026-01-01')).toEqual({ fecha: '2026-01-01', repartidores: [], guias: null })
    const { status, cuerpo } = await environment.operar('GET', '/asignaciones?repartidor=rep_NADIE')
    expect([status, cuerpo.codigo]).toEqual([404, 'repartidor_desconocido'])
  })
})
