import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'

const environment = useEnvironment()

describe('GET /operaciones/v1/operadores', () => {
  it('lists all operators, newest first, page by page', async () => {
    const names = ['Ana', 'Beto', 'Chus']
    for (const nombre of names) await environment.asOperador('POST', '/operadores', { nombre })
    const first = (await environment.asOperador('GET', '/operadores?limite=2')).body
    const second = (await environment.asOperador('GET', `/operadores?cursor=${first.cursor_siguiente}`)).body
    const all = [...first.datos, ...second.datos].map(({ nombre }) => nombre)
    expect([all, second.cursor_siguiente]).toEqual([['Chus', 'Beto', 'Ana', 'Pruebas'], null])
  })
})
