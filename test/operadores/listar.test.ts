import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'

const entorno = useEnvironment()

describe('GET /operaciones/v1/operadores', () => {
  it('lists all operators, newest first, page by page', async () => {
    const nombres = ['Ana', 'Beto', 'Chus']
    for (const nombre of nombres) await entorno.operar('POST', '/operadores', { nombre })
    const primera = (await entorno.operar('GET', '/operadores?limite=2')).cuerpo
    const segunda = (await entorno.operar('GET', `/operadores?cursor=${primera.cursor_siguiente}`)).cuerpo
    const todos = [...primera.datos, ...segunda.datos].map(({ nombre }) => nombre)
    expect([todos, segunda.cursor_siguiente]).toEqual([['Chus', 'Beto', 'Ana', 'Pruebas'], null])
  })
})
