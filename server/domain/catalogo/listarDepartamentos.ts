import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { type Departamento, departamentos } from './catalogo.ts'

export const listarDepartamentos: Handler<'listarDepartamentos'> = async ({ query = {}, identity }, { cursors }) => {
  const { comercioId, modo } = identity
  const { pais } = query
  const allDepartamentos = departamentos(pais)
  const ambito = { operacion: 'listarDepartamentos', dueno: `${comercioId}:${modo}`, filters: { pais } }
  const pagina = await paginate(cursors, ambito, query, {
    async leer(despues, take) {
      const desde = despues ? allDepartamentos.findIndex(({ codigo }) => codigo === despues[0]) + 1 : 0
      return allDepartamentos.slice(desde, desde + take)
    },
    posicion: ({ codigo }) => [codigo],
    present: (departamento): Departamento => departamento,
  })
  return { status: 200, body: pagina }
}
