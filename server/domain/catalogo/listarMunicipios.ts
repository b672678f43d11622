import { paginate } from '../../api/lists/page.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { buscarDepartamentos, departamentosParecidos, type Municipio, municipiosDe } from './catalogo.ts'
import { clavesDe } from './claves.ts'

export const listarMunicipios: Handler<'listarMunicipios'> = async ({ query, identidad }, { cursores }) => {
  const { comercioId, modo } = identidad
  const { departamento, buscar } = query
  if (buscarDepartamentos(departamento).length === 0) throw desconocido(departamento)
  const todos = municipiosDe(departamento).filter(({ nombre }) => buscar === undefined || contiene(nombre, buscar))
  const ambito = {
    operacion: 'listarMunicipios',
    dueno: `${comercioId}:${modo}`,
    filtros: { departamento, buscar },
  }
  const pagina = await paginate(cursores, ambito, query, {
    async leer(despues, cuantos) {
      const desde = despues ? todos.findIndex(({ codigo }) => codigo === despues[0]) + 1 : 0
      return todos.slice(desde, desde + cuantos)
    },
    posicion: ({ codigo }) => [codigo],
    presentar: (municipio): Municipio => municipio,
  })
  return { status: 200, body: pagina }
}

const contiene = (nombre: string, buscado: string) => clavesDe(nombre)[0]!.includes(clavesDe(buscado)[0]!)

function desconocido(departamento: string) {
  const parecidos = departamentosParecidos(departamento)
  const remedio =
    parecidos.length > 0
      ? `¿Quiso decir ${new Intl.ListFormat('es', { type: 'disjunction' }).format(parecidos)}?`
      : 'Vea los que hay en el catálogo de departamentos.'
  return new Problema(
    'departamento_desconocido',
    `En el catálogo no hay ningún departamento «${departamento}». ${remedio}`,
  )
}
