import { type Departamento, ErrorParametro } from '@guias/sdk'
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

describe('listarDepartamentos', () => {
  it('gives a country’s, by name, with codes and places', async () => {
    const { datos, cursor_siguiente } = await comercio.api.catalogo.departamentos({ pais: 'GT', limite: 100 })
    expect([datos.length, cursor_siguiente]).toEqual([22, null])
    expect(datos[0]).toEqual({ codigo: 'GT-AV', pais: 'GT', nombre: 'Alta Verapaz', lat: 15.47083, lng: -90.37083 })
    expect(datos.map(({ nombre }) => nombre)).toEqual(
      datos.map(({ nombre }) => nombre).sort((a, b) => a.localeCompare(b, 'es')),
    )
  })

  it('gives all of them over pages, each once', async () => {
    const all: Departamento[] = await collectAll(comercio.api.catalogo.departamentos({ limite: 50 }))
    expect(all).toHaveLength(156)
    expect(new Set(all.map(({ codigo }) => codigo)).size).toBe(156)
    expect([...new Set(all.map(({ pais }) => pais))]).toEqual(['GT', 'SV', 'HN', 'NI', 'CR', 'PA', 'CO', 'MX'])
  })

  it('refuses a country that it doesn’t know, and another filter’s cursor', async () => {
    await expect(comercio.api.catalogo.departamentos({ pais: 'ES' as never })).rejects.toMatchObject({
      errores: [{ campo: 'pais', mensaje: 'debe ser GT, SV, HN, NI, CR, PA, CO o MX' }],
    })
    const { cursor_siguiente } = await comercio.api.catalogo.departamentos({ pais: 'GT', limite: 5 })
    await expect(comercio.api.catalogo.departamentos({ pais: 'MX', cursor: cursor_siguiente! })).rejects.toBeInstanceOf(
      ErrorParametro,
    )
  })
})
