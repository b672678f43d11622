import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const entorno = shareEnvironment()
const { crearOperador, crearLlaveDeOperador } = administrar(entorno)

describe('GET /operaciones/v1/operadores/{operador}/llaves', () => {
  it('lists his keys in pages, and nobody else’s', async () => {
    const operador = await crearOperador()
    await crearLlaveDeOperador(await crearOperador())
    const ids = new Set<string>()
    for (const _vez of [1, 2, 3]) ids.add((await crearLlaveDeOperador(operador)).id)
    const primera = (await entorno.operar('GET', `/operadores/${operador}/llaves?limite=2`)).cuerpo
    const segunda = (await entorno.operar('GET', `/operadores/${operador}/llaves?cursor=${primera.cursor_siguiente}`))
      .cuerpo
    expect(new Set([...primera.datos, ...segunda.datos].map((l) => l.id))).toEqual(ids)
    expect([primera.datos.length, segunda.cursor_siguiente]).toEqual([2, null])
  })
})
