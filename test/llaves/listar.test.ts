import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { administrar } from './administrar.ts'

const entorno = compartirEntorno()
const { crearComercio, crearLlave } = administrar(entorno)

describe('GET /operaciones/v1/comercios/{comercio}/llaves', () => {
  it('lists keys in pages', async () => {
    const { comercio } = await crearComercio()
    const ids = new Set([
      (await crearLlave(comercio)).id,
      (await crearLlave(comercio)).id,
      (await crearLlave(comercio)).id,
    ])
    const primera = (await entorno.operar('GET', `/comercios/${comercio}/llaves?limite=2`)).cuerpo
    const segunda = (await entorno.operar('GET', `/comercios/${comercio}/llaves?cursor=${primera.cursor_siguiente}`))
      .cuerpo
    expect(new Set([...primera.datos, ...segunda.datos].map((l) => l.id))).toEqual(ids)
    expect(segunda.cursor_siguiente).toBeNull()
  })
})
