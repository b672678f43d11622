import { beforeAll, describe, expect, it } from 'vitest'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
let live: Comercio
let test: Comercio
beforeAll(async () => {
  live = await environment.createComercio('live')
  test = await environment.createComercio()
  const { body } = await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos' })
  const create = async ({ api }: Comercio, municipio: string) => (await api.guias.crear(buildGuia({ municipio }))).guia
  const [assigned] = [await create(live, 'Mixco'), await create(live, 'Mixco')]
  await create(live, 'Chinautla')
  await create(test, 'Mixco')
  const collected = await create(live, 'Mixco')
  await environment.asOperador('POST', `/guias/${collected}/eventos`, { estado: 'recolectado' })
  await environment.asOperador('POST', '/asignaciones', { guias: [assigned], repartidor: body.repartidor })
})
const count = async (query: string) =>
  (await environment.asOperador('GET', `/asignaciones/municipios?${query}`)).body.datos?.map(
    (one: { municipio: string; guias: number; sin_asignar: number }) => [one.municipio, one.guias, one.sin_asignar],
  )
const list = async (query: string) =>
  (await environment.asOperador('GET', `/guias?estado=aceptado&${query}`)).body.datos

describe('GET /operaciones/v1/asignaciones/municipios', () => {
  it('counts the guides in a state, and those that nobody was assigned, by the name of the municipality', async () => {
    expect(await count('estado=aceptado')).toEqual([
      ['Chinautla', 1, 1],
      ['Mixco', 3, 2],
    ])
    expect(await count('estado=aceptado&modo=test')).toEqual([['Mixco', 1, 1]])
    expect(await count(`estado=aceptado&comercio=${live.comercio}`)).toEqual([
      ['Chinautla', 1, 1],
      ['Mixco', 2, 1],
    ])
    expect(await count('estado=recolectado')).toEqual([['Mixco', 1, 1]])
    expect(await count('estado=aceptado&comercio=com_NADIE')).toEqual([])
  })

  it('counts what the list shows with the same filters', async () => {
    expect(await list('municipio=Mixco')).toHaveLength(3)
    expect(await list('municipio=Mixco&asignada=no')).toHaveLength(2)
    expect(await list('asignada=si')).toHaveLength(1)
    expect(await list(`municipio=Mixco&asignada=no&comercio=${test.comercio}`)).toHaveLength(1)
    expect(await list('municipio=Nadie')).toEqual([])
  })

  it('refuses a count without a state, and a word that means neither yes nor no', async () => {
    const refused = await environment.asOperador('GET', '/asignaciones/municipios')
    expect([refused.status, refused.body.errores[0].campo]).toEqual([400, 'estado'])
    const other = await environment.asOperador('GET', '/guias?asignada=tal-vez')
    expect([other.status, other.body.errores[0].campo]).toEqual([400, 'asignada'])
  })
})
