import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { type Departamento, departamentos } from './catalogo.ts'

export const listarDepartamentos: Handler<'listarDepartamentos'> = async ({ query = {}, identidad }, { cursores }) => {
  const { comercioId, modo } = identidad
  const { pais } = query
  const todos = departamentos(pais)
  const ambito = { operacion: 'listarDepartamentos', dueno: `${comercioId}:${modo}`, filtros: { pais } }
  const pagina = await paginate(cursores, ambito, query, {
    async leer(despues, cuantos) {
      const desde = despues ? todos.findIndex(({ codigo }) => codigo === despues[0]) + 1 : 0
      return todos.slice(desde, desde + cuantos)
    },
    posicion: ({ codigo }) => [codigo],
    presentar: (departamento): Departamento => departamento,
  })
  return { status: 200, body: pagina }
}
