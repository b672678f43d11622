import { ErrorNoEncontrado, type Municipio } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Comercio, shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})
const collectAll = async <T>(list: AsyncIterable<T>) => {
  const all: T[] = []
  for await (const item of list) all.push(item)
  return all
}

describe('listarMunicipios', () => {
  it('takes a code or a name, however it is written', async () => {
    const byCodigo: Municipio[] = await collectAll(
      comercio.api.catalogo.municipios({ departamento: 'GT-SA', limite: 7 }),
    )
    expect(byCodigo).toHaveLength(16)
    expect(byCodigo[1]).toEqual({
      codigo: 'GT-SA-0312',
      nombre: 'Ciudad Vieja',
      departamento: 'GT-SA',
      lat: expect.closeTo(14.52, 1),
      lng: expect.closeTo(-90.76, 1),
      poblacion: 30203,
      aproximado: false,
    })
    expect(await collectAll(comercio.api.catalogo.municipios({ departamento: 'depto. de sacatepequez' }))).toEqual(
      byCodigo,
    )
  })

  it('finds by a part of the name', async () => {
    const { datos } = await comercio.api.catalogo.municipios({ departamento: 'Sacatepéquez', buscar: 'SANTA' })
    expect(datos.map(({ nombre }) => nombre)).toEqual([
      'Santa Catarina Barahona',
      'Santa Lucía Milpas Altas',
      'Santa María de Jesús',
    ])
    const { datos: milpasMunicipios } = await comercio.api.catalogo.municipios({
      departamento: 'GT-SA',
      buscar: 'milpas a',
    })
    expect(milpasMunicipios).toHaveLength(3)
    expect((await comercio.api.catalogo.municipios({ departamento: 'GT-SA', buscar: 'xyz' })).datos).toEqual([])
    expect((await comercio.api.catalogo.municipios({ departamento: 'GT-SA', buscar: '¿?' })).datos).toEqual([])
  })

  it('gives those of every country with a department of that name', async () => {
    const all = await collectAll(comercio.api.catalogo.municipios({ departamento: 'La Paz' }))
    expect([...new Set(all.map(({ departamento }) => departamento))]).toEqual(['SV-PA', 'HN-LP'])
  })

  it('names the nearest departments when there is none', async () => {
    const error = await comercio.api.catalogo.municipios({ departamento: 'Sacatepeqes' }).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ErrorNoEncontrado)
    expect(error).toMatchObject({ codigo: 'departamento_desconocido', estadoHttp: 404 })
    expect(String(error)).toContain('¿Quiso decir Sacatepéquez?')
    const nothing = await comercio.api.catalogo.municipios({ departamento: 'x'.repeat(100) }).catch((e: unknown) => e)
    expect(String(nothing)).toContain('Vea los que hay en el catálogo de departamentos')
  })

  it('needs a department', async () => {
    const { status, body } = await environment.request('GET', '/api/v1/catalogo/municipios', {
      llave: comercio.llave,
    })
    expect([status, body.errores[0].campo, body.errores[0].codigo]).toEqual([400, 'departamento', 'requerido'])
  })
})
