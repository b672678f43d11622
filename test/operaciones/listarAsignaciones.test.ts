import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0', TIME_ZONE: 'UTC' }))
let comercio: Comercio
let ownMobile: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  ownMobile = await createMobile(environment)
  other = await createMobile(environment)
})

const fresh = async () => (await comercio.api.guias.crear(buildGuia())).guia
const asignar = (guias: string[], { repartidor }: Mobile, fecha?: string) =>
  environment.asOperador('POST', '/asignaciones', { guias, repartidor, fecha })
const listar = async (query = '') => (await environment.asOperador('GET', `/asignaciones${query}`)).body
const today = () => environment.clock().toISOString().slice(0, 10)

describe('GET /operaciones/v1/asignaciones', () => {
  it('counts by courier the guides of a day, and lists those of one courier', async () => {
    const [one, second, tomada, ownGuia, manana] = await Promise.all(Array.from({ length: 5 }, fresh))
    await asignar([one!, second!, tomada!], ownMobile)
    await asignar([ownGuia!], other)
    await asignar([manana!], ownMobile, addDays(today(), 1))
    await ownMobile.registrar(tomada!, { estado: 'recolectado', idempotencia: tomada })
    const nombre = 'Carlos Méndez'
    expect(await listar()).toEqual({
      fecha: today(),
      repartidores: [
        { repartidor: ownMobile.repartidor, nombre, guias: 3 },
        { repartidor: other.repartidor, nombre, guias: 1 },
      ],
      guias: null,
    })
    const { repartidores, guias } = await listar(`?repartidor=${ownMobile.repartidor}`)
    expect(repartidores).toEqual([{ repartidor: ownMobile.repartidor, nombre, guias: 3 }])
    expect(guias.map(({ guia }: { guia: string }) => guia).sort()).toEqual([one, second, tomada].sort())
    expect(guias.find(({ guia }: { guia: string }) => guia === tomada)).toMatchObject({
      estado: 'recolectado',
      comercio: comercio.comercio,
      repartidor: { repartidor: ownMobile.repartidor },
      asignada_a: { repartidor: ownMobile.repartidor, fecha: today() },
    })
    expect(await listar(`?repartidor=${ownMobile.repartidor}&fecha=${addDays(today(), 1)}`)).toMatchObject({
      repartidores: [{ guias: 1 }],
      guias: [{ guia: manana }],
    })
  })

  it('lists a finished guide without its assignment', EN_POSTGRES, async () => {
    const thirdMobile = await createMobile(environment)
    const { guia } = await createDeliveredGuia(environment, comercio)
    const alive = await fresh()
    await asignar([alive], thirdMobile)
    await environment.db.pool.query(
      `update asignacion set guia_id = (select id from guia where guia = $1) where guia_id = (select id from guia where guia = $2)`,
      [guia, alive],
    )
    expect((await listar(`?repartidor=${thirdMobile.repartidor}`)).guias).toMatchObject([
      { guia, estado: 'entregado', asignada_a: null },
    ])
  })

  it('is empty for a day without assignments, and 404 for an unknown courier', async () => {
    expect(await listar('?fecha=2026-01-01')).toEqual({ fecha: '2026-01-01', repartidores: [], guias: null })
    const { status, body } = await environment.asOperador('GET', '/asignaciones?repartidor=rep_NADIE')
    expect([status, body.codigo]).toEqual([404, 'repartidor_desconocido'])
  })
})
