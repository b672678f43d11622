import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { type Departamento, departamentos } from './catalogo.ts'

export const listarDepartamentos: Handler<'listarDepartamentos'> = async ({ query = {}, identity }, { cursors }) => {
  const { comercioId, modo } = identity
  const { pais } = query
  const allDepartamentos = departamentos(pais)
  const scope = { operacion: 'listarDepartamentos', dueno: `${comercioId}:${modo}`, filters: { pais } }
  const page = await paginate(cursors, scope, query, {
    async read(after, take) {
      const from = after ? allDepartamentos.findIndex(({ codigo }) => codigo === after[0]) + 1 : 0
      return allDepartamentos.slice(from, from + take)
    },
    positionOf: ({ codigo }) => [codigo],
    present: (departamento): Departamento => departamento,
  })
  return { status: 200, body: page }
}
