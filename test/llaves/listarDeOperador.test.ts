import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const environment = shareEnvironment()
const { crearOperador, crearLlaveDeOperador } = administrar(environment)

describe('GET /operaciones/v1/operadores/{operador}/llaves', () => {
  it('lists his keys in pages, and nobody else’s', async () => {
    const operador = await crearOperador()
    await crearLlaveDeOperador(await crearOperador())
    const ids = new Set<string>()
    for (const _round of [1, 2, 3]) ids.add((await crearLlaveDeOperador(operador)).id)
    const first = (await environment.asOperador('GET', `/operadores/${operador}/llaves?limite=2`)).body
    const second = (
      await environment.asOperador('GET', `/operadores/${operador}/llaves?cursor=${first.cursor_siguiente}`)
    ).body
    expect(new Set([...first.datos, ...second.datos].map((l) => l.id))).toEqual(ids)
    expect([first.datos.length, second.cursor_siguiente]).toEqual([2, null])
  })
})
