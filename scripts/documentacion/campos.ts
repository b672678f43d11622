/**
 * Flattens the members of a schema into a list. The name of a nested member contains its path: `recogida.lat`,
 * `guias[].telefono`.
 */
import { type Json, type Objeto, seguirRef } from './contrato.ts'

/** Member of a schema, with its path, type and description for readers. */
export interface CampoDocumentado {
  nombre: string
  tipo: string
  obligatorio: boolean
  descripcion: string
}

/** Maximum depth of nested members. Deeper members are documented on their own pages. */
const HONDO = 4

/** Spanish names of JSON's types. */
const TIPOS: Readonly<Record<string, string>> = {
  string: 'texto',
  integer: 'entero',
  number: 'número',
  boolean: 'booleano',
  object: 'objeto',
  array: 'lista',
  null: 'nulo',
}

/** Returns a schema merged with the schemas of its `allOf`. */
function entero(contrato: Objeto, valor: Json | undefined): Objeto {
  const { allOf = [], ...propio } = seguirRef(contrato, valor)
  const partes = [...(allOf as Json[]).map((parte) => entero(contrato, parte)), propio]
  return {
    ...Object.assign({}, ...partes),
    properties: Object.assign({}, ...partes.map(({ properties }) => properties)),
    required: partes.flatMap(({ required }) => (required ?? []) as Json[]),
  }
}

const variantes = (esquema: Objeto) => (esquema.oneOf ?? esquema.anyOf) as Json[] | undefined

/** Returns the type of a schema in Spanish, such as `lista de texto` or `texto o nulo`. */
export function tipoDe(contrato: Objeto, valor: Json | undefined): string {
  const esquema = entero(contrato, valor)
  const suyas = variantes(esquema)
  if (suyas) return [...new Set(suyas.map((una) => tipoDe(contrato, una)))].join(' o ')
  if (esquema.items) return `lista de ${tipoDe(contrato, esquema.items)}`
  const tipos = [
    esquema.type ??
      (Object.keys(esquema.properties as Objeto).length > 0
        ? 'object'
        : esquema.const === undefined
          ? []
          : typeof esquema.const),
  ]
  return tipos
    .flat()
    .map((tipo) => TIPOS[String(tipo)] ?? String(tipo))
    .join(' o ')
}

const valoresDe = (esquema: Objeto) => {
  const valores = (esquema.enum ?? (esquema.const === undefined ? [] : [esquema.const])) as Json[]
  return valores.length > 0 ? ` Valores: ${valores.map((uno) => `\`${String(uno)}\``).join(', ')}.` : ''
}

/** Lists the members of a schema and of its nested schemas. The first of several members with the same path is kept. */
export function camposDe(contrato: Objeto, valor: Json | undefined, prefijo = '', nivel = 0): CampoDocumentado[] {
  const esquema = entero(contrato, valor)
  const dentro = [
    ...(esquema.items ? camposDe(contrato, esquema.items, `${prefijo}[]`, nivel) : []),
    ...(variantes(esquema) ?? []).flatMap((una) => camposDe(contrato, una, prefijo, nivel)),
  ]
  const propios = Object.entries((esquema.properties ?? {}) as Objeto).flatMap(
    ([clave, miembro]): CampoDocumentado[] => {
      const nombre = [prefijo, clave].filter(Boolean).join('.')
      const suyo = entero(contrato, miembro)
      const campo = {
        nombre,
        tipo: tipoDe(contrato, miembro),
        obligatorio: ((esquema.required ?? []) as Json[]).includes(clave),
        descripcion: `${String(suyo.description ?? '').trim()}${valoresDe(suyo)}`.trim(),
      }
      return [campo, ...(nivel < HONDO ? camposDe(contrato, miembro, nombre, nivel + 1) : [])]
    },
  )
  const vistos = new Set<string>()
  return [...propios, ...dentro].filter(({ nombre }) => !vistos.has(nombre) && vistos.add(nombre))
}
