/** The members of a schema as a list that one reads: what is in what is in a name, `recogida.lat`, `guias[].telefono`. */
import { type Json, type Objeto, seguir } from './contrato.ts'

export interface Campo {
  nombre: string
  tipo: string
  obligatorio: boolean
  descripcion: string
}

/** How deep members are told: further down stands what has a page of its own. */
const HONDO = 4

/** JSON's types, as people call them. */
const TIPOS: Readonly<Record<string, string>> = {
  string: 'texto',
  integer: 'entero',
  number: 'número',
  boolean: 'booleano',
  object: 'objeto',
  array: 'lista',
  null: 'nulo',
}

/** A schema with what its `allOf` adds to it. */
function entero(contrato: Objeto, valor: Json | undefined): Objeto {
  const { allOf = [], ...propio } = seguir(contrato, valor)
  const partes = [...(allOf as Json[]).map((parte) => entero(contrato, parte)), propio]
  return {
    ...Object.assign({}, ...partes),
    properties: Object.assign({}, ...partes.map(({ properties }) => properties)),
    required: partes.flatMap(({ required }) => (required ?? []) as Json[]),
  }
}

const variantes = (esquema: Objeto) => (esquema.oneOf ?? esquema.anyOf) as Json[] | undefined

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

export function camposDe(contrato: Objeto, valor: Json | undefined, prefijo = '', nivel = 0): Campo[] {
  const esquema = entero(contrato, valor)
  const dentro = [
    ...(esquema.items ? camposDe(contrato, esquema.items, `${prefijo}[]`, nivel) : []),
    ...(variantes(esquema) ?? []).flatMap((una) => camposDe(contrato, una, prefijo, nivel)),
  ]
  const propios = Object.entries((esquema.properties ?? {}) as Objeto).flatMap(([clave, miembro]): Campo[] => {
    const nombre = [prefijo, clave].filter(Boolean).join('.')
    const suyo = entero(contrato, miembro)
    const campo = {
      nombre,
      tipo: tipoDe(contrato, miembro),
      obligatorio: ((esquema.required ?? []) as Json[]).includes(clave),
      descripcion: `${String(suyo.description ?? '').trim()}${valoresDe(suyo)}`.trim(),
    }
    return [campo, ...(nivel < HONDO ? camposDe(contrato, miembro, nombre, nivel + 1) : [])]
  })
  const vistos = new Set<string>()
  return [...propios, ...dentro].filter(({ nombre }) => !vistos.has(nombre) && vistos.add(nombre))
}
