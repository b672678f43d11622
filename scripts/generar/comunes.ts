/**
 * Plugin of Redocly (`redocly.yaml`) that adds the common answers and headers of `openapi/componentes/comunes.ts` to the
 * operations. It is a preprocessor, so lint rules, the bundles and everything generated from them read its output.
 */
import {
  CABECERAS_COMUNES,
  CABECERAS_CONDICIONALES,
  type Condicion,
  CUERPOS_DE_ERROR,
  RESPUESTAS_COMUNES,
} from '../../openapi/componentes/comunes.ts'
import type { Json, Objeto } from '../documentacion/contrato.ts'

/** Extension of an operation: statuses of common answers that the operation never sends. */
const EXCEPCIONES = 'x-sin-respuestas'
/**
 * Pattern of the files to which common answers are added. The linter also reads the bundles, which already contain
 * them.
 */
const ES_DE_PATHS = /[/\\]openapi[/\\]\w+[/\\]paths[/\\]/

const componente = (archivo: string, nombre: string): Objeto => ({
  $ref: `../../componentes/${archivo}.yaml#/${nombre}`,
})
const cabeceras = (nombres: Readonly<Record<string, string>>) =>
  Object.entries(nombres).map(([cabecera, nombre]) => [cabecera, componente('respuestas/cabeceras', nombre)] as const)

/** Returns the conditions that hold for an operation of a path file. */
function condicionesDe(operacion: Objeto, seguridadDelDocumento: Json[]): ReadonlySet<Condicion> {
  const condiciones: Condicion[] = ['siempre']
  const cuerpo = operacion.requestBody as Objeto | undefined
  if (cuerpo) condiciones.push('cuerpo')
  condiciones.push('application/json' in ((cuerpo?.content ?? {}) as Objeto) ? 'cuerpoJson' : 'sinCuerpoJson')
  const parametros = (operacion.parameters ?? []) as Objeto[]
  if (parametros.some(({ $ref }) => String($ref).endsWith('#/SiNoCoincide'))) condiciones.push('condicional')
  const [esquemas = {}] = (operacion.security ?? seguridadDelDocumento) as Objeto[]
  for (const [esquema, alcances] of Object.entries(esquemas)) {
    if (esquema.startsWith('llaveDe')) {
      condiciones.push('llave')
      if ((alcances as Json[]).length === 0) condiciones.push('llaveSinAlcance')
    }
    if (esquema.startsWith('sesionDe')) condiciones.push('sesion')
    if (esquema.startsWith('firmaDe')) condiciones.push('firma')
  }
  return new Set(condiciones)
}

/**
 * Adds the common headers to an answer, and the schemas to an error answer that has only examples. Leaves an answer
 * that is a `$ref` as it is.
 */
function completar(respuesta: Objeto, estado: string, esCondicional: boolean): Objeto {
  if ('$ref' in respuesta) return respuesta
  const suyas = (respuesta.headers ?? {}) as Objeto
  const comunes = [
    ...cabeceras(CABECERAS_COMUNES),
    ...(esCondicional && estado === '200' ? cabeceras(CABECERAS_CONDICIONALES) : []),
  ].filter(([cabecera]) => !(cabecera in suyas))
  const headers = 'X-Request-Id' in suyas ? suyas : { ...Object.fromEntries(comunes), ...suyas }
  // Members of the contract keep one order, in which the headers stand before the content.
  const { content, headers: _, ...demas } = respuesta
  const json = ((content ?? {}) as Objeto)['application/json'] as Objeto | undefined
  if (Number(estado) < 400 || !json || 'schema' in json) return { ...demas, headers, ...(content && { content }) }
  const conEsquema = Object.entries(CUERPOS_DE_ERROR).map(([tipo, esquema]) => [
    tipo,
    { schema: componente('schemas/problemas', esquema), ...(tipo === 'application/json' ? json : {}) },
  ])
  return { ...demas, headers, content: Object.fromEntries(conEsquema) as Objeto }
}

/**
 * Adds the common answers and headers to an operation of a path file.
 * @throws if an exception names a status that no rule gives, or one that the operation writes
 */
export function conComunes(operacion: Objeto, seguridadDelDocumento: Json[] = []): Objeto {
  const { [EXCEPCIONES]: excepciones = [], responses, ...demas } = operacion
  const condiciones = condicionesDe(operacion, seguridadDelDocumento)
  const comunes = Object.assign(
    {},
    ...RESPUESTAS_COMUNES.filter(([condicion]) => condiciones.has(condicion)).map(([, respuestas]) => respuestas),
  ) as Record<string, string>
  const suyas = (responses ?? {}) as Record<string, Objeto>
  for (const estado of excepciones as string[]) {
    if (!(estado in comunes) || estado in suyas)
      throw new Error(`${operacion.operationId}: ${EXCEPCIONES} names ${estado}, which it would not have`)
    delete comunes[estado]
  }
  const todas: Record<string, Objeto> = {}
  for (const [estado, ruta] of Object.entries(comunes)) {
    const [archivo = '', nombre = ''] = ruta.split('/')
    todas[estado] = componente(`respuestas/${archivo}`, nombre)
  }
  for (const [estado, respuesta] of Object.entries(suyas))
    todas[estado] = completar(respuesta, estado, condiciones.has('condicional'))
  return { ...demas, responses: todas }
}

interface Contexto {
  location: { source: { absoluteRef: string } }
}

function agregar() {
  let seguridad: Json[] = []
  return {
    Root: {
      enter(contrato: Objeto) {
        seguridad = (contrato.security ?? []) as Json[]
      },
    },
    Operation: {
      enter(operacion: Objeto, { location }: Contexto) {
        if (!ES_DE_PATHS.test(location.source.absoluteRef)) return
        const completa = conComunes(operacion, seguridad)
        delete operacion[EXCEPCIONES]
        Object.assign(operacion, completa)
      },
    },
  }
}

/**
 * Plugin in the form that Redocly expects, as the default export of this module. Its preprocessor adds the responses
 * that all operations have to the contract.
 */
export default () => ({ id: 'comunes', preprocessors: { oas3: { agregar } } })
