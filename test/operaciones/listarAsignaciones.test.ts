import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

const entorno = useEnvironment({}, () => ({ WORKERS: '0', TIME_ZONE: 'UTC' }))
let comercio: Comercio
let yo: Mobile
let otro: Mobile
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  yo = await createMobile(entorno)
  otro = await createMobile(entorno)
})

const nueva = async () => (await comercio.api.guias.crear(buildGuia())).guia
const asignar = (guias: string[], { repartidor }: Mobile, fecha?: string) =>
  entorno.operar('POST', '/asignaciones', { guias, repartidor, fecha })
const listar = async (consulta = '') => (await entorno.operar('GET', `/asignaciones${consulta}`)).cuerpo
const hoy = () => entorno.clock().toISOString().slice(0, 10)

describe('GET /operaciones/v1/asignaciones', () => {
  it('counts by courier the guides of a day, and lists those of one courier', async () => {
    const [una, segunda, tomada, suya, manana] = await Promise.all(Array.from({ length: 5 }, nueva))
    await asignar([una!, segunda!, tomada!], yo)
    await asignar([suya!], otro)
    await asignar([manana!], yo, addDays(hoy(), 1))
    await yo.registrar(tomada!, { estado: 'recolectado', idempotencia: tomada })
    const nombre = 'Carlos Méndez'
    expect(await listar()).toEqual({
      fecha: hoy(),
      repartidores: [
        { repartidor: yo.repartidor, nombre, guias: 3 },
        { repartidor: otro.repartidor, nombre, guias: 1 },
      ],
      guias: null,
    })
    const { repartidores, guias } = await listar(`?repartidor=${yo.repartidor}`)
    expect(repartidores).toEqual([{ repartidor: yo.repartidor, nombre, guias: 3 }])
    expect(guias.map(({ guia }: { guia: string }) => guia).sort()).toEqual([una, segunda, tomada].sort())
    expect(guias.find(({ guia }: { guia: string }) => guia === tomada)).toMatchObject({
      estado: 'recolectado',
      comercio: comercio.comercio,
      repartidor: { repartidor: yo.repartidor },
      asignada_a: { repartidor: yo.repartidor, fecha: hoy() },
    })
    expect(await listar(`?repartidor=${yo.repartidor}&fecha=${addDays(hoy(), 1)}`)).toMatchObject({
      repartidores: [{ guias: 1 }],
      guias: [{ guia: manana }],
    })
  })

  it('lists a finished guide without its assignment', EN_POSTGRES, async () => {
    const tercero = await createMobile(entorno)
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const viva = await nueva()
    await asignar([viva], tercero)
    await entorno.db.pool.query(
      `update asignacion set guia_id = (select id from guia where guia = $1) where guia_id = (select id from guia where guia = $2)`,
      [guia, viva],
    )
    expect((await listar(`?repartidor=${tercero.repartidor}`)).guias).toMatchObject([
      { guia, estado: 'entregado', asignada_a: null },
    ])
  })

  it('is empty for a day without assignments, and 404 for an unknown courier', async () => {
    expect(await listar('?fecha=2026-01-01')).toEqual({ fecha: '2026-01-01', repartidores: [], guias: null })
    const { status, cuerpo } = await entorno.operar('GET', '/asignaciones?repartidor=rep_NADIE')
    expect([status, cuerpo.codigo]).toEqual([404, 'repartidor_desconocido'])
  })
})
