import { paginate } from '../../api/lists/page.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { findDepartamentos, type Municipio, municipiosOf, similarDepartamentos } from './catalogo.ts'
import { nameKeysOf } from './keys.ts'

export const listarMunicipios: Handler<'listarMunicipios'> = async ({ query, identity }, { cursors }) => {
  const { comercioId, modo } = identity
  const { departamento, buscar } = query
  if (findDepartamentos(departamento).length === 0) throw explainUnknown(departamento)
  const matchingMunicipios = municipiosOf(departamento).filter(
    ({ nombre }) => buscar === undefined || containsName(nombre, buscar),
  )
  const scope = {
    operacion: 'listarMunicipios',
    dueno: `${comercioId}:${modo}`,
    filters: { departamento, buscar },
  }
  const page = await paginate(cursors, scope, query, {
    async read(after, take) {
      const from = after ? matchingMunicipios.findIndex(({ codigo }) => codigo === after[0]) + 1 : 0
      return matchingMunicipios.slice(from, from + take)
    },
    positionOf: ({ codigo }) => [codigo],
    present: (municipio): Municipio => municipio,
  })
  return { status: 200, body: page }
}

const containsName = (name: string, searched: string) => nameKeysOf(name)[0]!.includes(nameKeysOf(searched)[0]!)

function explainUnknown(departamento: string) {
  const similarNames = similarDepartamentos(departamento)
  const remedy =
    similarNames.length > 0
      ? `¿Quiso decir ${new Intl.ListFormat('es', { type: 'disjunction' }).format(similarNames)}?`
      : 'Vea los que hay en el catálogo de departamentos.'
  return new Problema(
    'departamento_desconocido',
    `En el catálogo no hay ningún departamento «${departamento}». ${remedy}`,
  )
}
