import type { Tool } from '../../server/pages/mcp/tool.ts'
import { type Json, type Objeto, operacionesDe, parametrosDe, seguirRef } from '../documentacion/contrato.ts'

/** Members of a schema that assistants read. Other members would only make the list of tools longer. */
const MIEMBROS = new Set([
  'type',
  'enum',
  'const',
  'format',
  'description',
  'default',
  'examples',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'propertyNames',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
])

/** Returns a description without its links, because a tool cannot follow them, and without the line about its scope. */
const llano = (texto: Json | undefined) =>
  String(texto ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^Alcance: .*$/m, '')
    .trim()

/** Returns a schema with its references resolved and without members that only other readers need. */
function esquema(contrato: Objeto, dado: Json): Json {
  if (Array.isArray(dado)) return dado.map((uno) => esquema(contrato, uno))
  if (dado === null || typeof dado !== 'object') return dado
  const entero = seguirRef(contrato, dado)
  const suyos = Object.entries(entero).filter(([clave]) => MIEMBROS.has(clave))
  return Object.fromEntries(
    suyos.map(([clave, valor]) => {
      if (clave === 'description') return [clave, llano(valor)]
      if (clave === 'examples') return [clave, (valor as Json[]).slice(0, 1)]
      if (clave !== 'properties')
        return [clave, ['enum', 'default', 'required'].includes(clave) ? valor : esquema(contrato, valor)]
      return [clave, Object.fromEntries(Object.entries(valor as Objeto).map(([n, v]) => [n, esquema(contrato, v)]))]
    }),
  )
}

/** Returns the schema of a request's body, with the parts of `allOf` merged; undefined without a body. */
function cuerpoDe(contrato: Objeto, definicion: Objeto): Objeto | undefined {
  const json = (seguirRef(contrato, definicion.requestBody).content as Objeto | undefined)?.['application/json']
  if (!json) return undefined
  const { allOf = [], properties = {}, required = [], ...resto } = esquema(contrato, (json as Objeto).schema!) as Objeto
  const partes = [...(allOf as Objeto[]), { properties, required }]
  return {
    ...resto,
    properties: Object.assign({}, ...partes.map((parte) => parte.properties ?? {})),
    required: [...new Set(partes.flatMap((parte) => (parte.required ?? []) as string[]))],
  }
}

/** Argument of the tools for `Idempotency-Key`. Assistants get names of one kind. */
const CLAVE = 'clave_de_idempotencia'

function entrada(contrato: Objeto, operacion: ReturnType<typeof operacionesDe>[number], confirma: string | undefined) {
  const properties: Objeto = {}
  const required: string[] = []
  const donde: Record<string, 'path' | 'query' | 'key'> = {}
  const poner = (nombre: string, que: Json) => {
    if (nombre in properties) throw new Error(`${operacion.id} has two arguments «${nombre}»`)
    properties[nombre] = que
  }
  for (const { name, in: lugar, required: obligatorio, schema, description } of parametrosDe(contrato, operacion)) {
    const esClave = name === 'Idempotency-Key'
    if (lugar === 'header' && !esClave) continue
    const nombre = esClave ? CLAVE : String(name)
    poner(nombre, {
      ...(esquema(contrato, schema!) as Objeto),
      ...(description ? { description: llano(description) } : {}),
    })
    donde[nombre] = esClave ? 'key' : (lugar as 'path' | 'query')
    if (obligatorio) required.push(nombre)
  }
  const cuerpo = cuerpoDe(contrato, operacion.definicion)
  for (const [nombre, que] of Object.entries((cuerpo?.properties ?? {}) as Objeto)) poner(nombre, que)
  required.push(...((cuerpo?.required ?? []) as string[]))
  if (confirma) {
    const description = `Repita el código de «${confirma}». Así consta que el cambio es de la que se quiere cambiar.`
    poner('confirmar', { type: 'string', description })
    required.push('confirmar')
  }
  // Some models take no alternatives (`anyOf`, `oneOf`) at the root. The operation itself refuses wrong combinations.
  return { donde, esquema: { type: 'object', properties, required, additionalProperties: false } }
}

/**
 * Returns the tools that assistants get: one for each operation that takes a merchant's key. Path, query and body of
 * the operation are the tool's arguments side by side.
 */
export function herramientasDe(contrato: Objeto): Tool[] {
  return operacionesDe(contrato).flatMap((operacion) => {
    const { id, ruta, definicion } = operacion
    const [seguridad] = (definicion.security ?? contrato.security) as Record<string, string[]>[]
    const alcances = seguridad?.llaveDeComercio
    if (!alcances) return []
    const escribe = definicion['x-bitacora'] === 'evento' || definicion['x-bitacora'] === 'cambio'
    const confirma = escribe ? /\{(\w+)\}/.exec(ruta)?.[1] : undefined
    const { donde, esquema: inputSchema } = entrada(contrato, operacion, confirma)
    return {
      nombre: id as Tool['nombre'],
      titulo: String(definicion.summary),
      descripcion: `${String(definicion.summary)}. ${llano(definicion.description)}`,
      alcances,
      escribe,
      repetible: definicion['x-repetible'] === true,
      soloPruebas: ruta.includes('/simulador/'),
      ...(confirma ? { confirma } : {}),
      donde,
      conCuerpo: definicion.requestBody !== undefined,
      entrada: inputSchema as Tool['entrada'],
    }
  })
}
