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

/** Bounds that follow from whole numbers of 32 or 53 bits. They are left out, because they say nothing else. */
const SIN_TOPE: ReadonlySet<Json | undefined> = new Set([undefined, 2_147_483_647, Number.MAX_SAFE_INTEGER])

/** Returns the bounds in Spanish, such as ` de 1 a 100` or ` de hasta 40`; an empty text if there are none. */
function entre(desde: Json | undefined, hasta: Json | undefined): string {
  const [minimo, maximo] = [desde, hasta].map((uno) => (SIN_TOPE.has(uno) ? undefined : String(uno)))
  if (minimo === maximo) return minimo === undefined ? '' : ` de ${minimo}`
  if (maximo === undefined) return ` desde ${minimo}`
  return minimo === undefined ? ` de hasta ${maximo}` : ` de ${minimo} a ${maximo}`
}

/** Formats of strings that imply a length. */
const FORMAS: Readonly<Record<string, string>> = { 'date-time': 'fecha y hora', date: 'día', uri: 'dirección' }

/** Describes the restrictions of a schema besides its type: format, length, range and number of elements. */
function limitesDe(esquema: Objeto): string {
  const forma = FORMAS[String(esquema.format)]
  const letras = esquema.enum || forma ? '' : entre(esquema.minLength || undefined, esquema.maxLength)
  const miembros = entre(esquema.minProperties, esquema.maxProperties)
  return [
    forma && ` (${forma})`,
    letras && `${letras} ${letras === ' de 1' ? 'carácter' : 'caracteres'}`,
    entre(esquema.minimum, esquema.maximum),
    miembros && `${miembros} miembros`,
  ]
    .filter(Boolean)
    .join('')
}

/**
 * Returns the type of a schema in Spanish, with its lengths and ranges, such as `lista de 1 a 100: texto` or
 * `texto de 1 a 40 caracteres o nulo`.
 */
export function tipoDe(contrato: Objeto, valor: Json | undefined): string {
  const esquema = entero(contrato, valor)
  const suyas = variantes(esquema)
  const deVariantes = [...new Set(suyas?.map((una) => tipoDe(contrato, una)).filter(Boolean))]
  if (deVariantes.length > 0) return deVariantes.join(' o ')
  if (esquema.items) {
    const cuantos = entre(esquema.minItems || undefined, esquema.maxItems)
    return `lista${cuantos}${cuantos ? ':' : ' de'} ${tipoDe(contrato, esquema.items)}`
  }
  const tipos = [
    esquema.type ??
      (Object.keys(esquema.properties as Objeto).length > 0
        ? 'object'
        : esquema.const === undefined
          ? []
          : typeof esquema.const),
  ]
  const limites = limitesDe(esquema)
  return tipos
    .flat()
    .map((tipo) => `${TIPOS[String(tipo)] ?? String(tipo)}${tipo === 'null' ? '' : limites}`)
    .join(' o ')
}

/** Describes the values that a schema, or the elements of its list, allows, and the default of an absent member. */
export function valoresDe(contrato: Objeto, valor: Json | undefined): string {
  const esquema = entero(contrato, valor)
  const deUno = esquema.items ? entero(contrato, esquema.items) : esquema
  const valores = (deUno.enum ?? (deUno.const === undefined ? [] : [deUno.const])) as Json[]
  const admitidos = valores.length > 0 ? ` Valores: ${valores.map((uno) => `\`${String(uno)}\``).join(', ')}.` : ''
  const omitido = esquema.default === undefined ? '' : ` Si falta, \`${JSON.stringify(esquema.default)}\`.`
  return `${admitidos}${omitido}`
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
        descripcion: `${String(suyo.description ?? '').trim()}${valoresDe(contrato, suyo)}`.trim(),
      }
      return [campo, ...(nivel < HONDO ? camposDe(contrato, miembro, nombre, nivel + 1) : [])]
    },
  )
  const vistos = new Set<string>()
  return [...propios, ...dentro].filter(({ nombre }) => !vistos.has(nombre) && vistos.add(nombre))
}
