import { capitalize } from '../generate/operationIndex.ts'
import type { SourceTree } from './tree.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const PREFIXES = { comercios: '/api/v1/', operaciones: '/operaciones/v1/' }
type ContractDocument = keyof typeof PREFIXES

/** Operation that the contract already has. */
interface Neighbour {
  id: string
  method: string
  path: string
  etiqueta: string
  alcance: string
  bitacora: string
}

/** Path parameter of a new operation. */
export interface PathParameter {
  nombre: string
  /** Name in `openapi/componentes/parametros/parametros.yaml`; undefined if that file lacks the parameter. */
  component: string | undefined
  example: string
}

/** Operation to be written. */
export interface NewOperacion {
  documento: ContractDocument
  id: string
  method: string
  /** Path as in the contract, such as `/api/v1/guias/{guia}/pausar`. */
  path: string
  /** Path below the prefix of its document, such as `/guias/{guia}/pausar`. */
  shortPath: string
  parameters: readonly PathParameter[]
  etiqueta: string
  alcance: string
  bitacora: string
  isRepeatable: boolean
  hasBody: boolean
  /** False for DELETE, which answers 204. */
  hasResult: boolean
  /** Folder below `server/domain/` and `test/`. */
  folder: string
  /** Name of the handler's file without extension. */
  archivo: string
  pathFile: string
  testFile: string
  /** Method and path of the operation with the closest path, whose SDK resource gets the new method. */
  neighbour: string
}

const isRead = (method: string) => method === 'get'

/** Lists the operations of a document, in the order of its paths. */
function readOperaciones(tree: SourceTree, document: ContractDocument): Neighbour[] {
  const rootText = tree.read(`openapi/${document}/openapi.yaml`)
  const pathMatches = rootText.matchAll(/^ {2}'?(\/[^':]+)'?:\s+(?:\{ )?\$ref: (paths\/[\w-]+\.yaml)/gm)
  return [...pathMatches].flatMap(([, path = '', file = '']) =>
    tree
      .read(`openapi/${document}/${file}`)
      .split(/^(?=\w+:\n)/m)
      .map((text) => {
        const part = (pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
        return {
          id: part(/^ {2}operationId: (\w+)/m),
          method: part(/^(\w+):/),
          path,
          etiqueta: part(/^ {2}tags: \[(.+)\]/m),
          alcance: part(/^ {4}- llaveDe\w+: \['(.+)'\]/m),
          bitacora: part(/^ {2}x-bitacora: (\w+)/m),
        }
      }),
  )
}

/**
 * Orders operations by the closeness of their path, and then by their kind (read or write). Leaves out operations whose
 * first path segment after the prefix is different.
 */
function neighboursOf(todas: readonly Neighbour[], path: string, method: string): Neighbour[] {
  const segments = path.split('/')
  const closeness = (candidate: Neighbour) => {
    const candidateSegments = candidate.path.split('/')
    const firstDifference = candidateSegments.findIndex((part, i) => part !== segments[i])
    const commonCount = firstDifference < 0 ? candidateSegments.length : firstDifference
    return commonCount * 4 + (firstDifference < 0 ? 2 : 0) + (isRead(candidate.method) === isRead(method) ? 1 : 0)
  }
  // A close path shares at least the first segment after the prefix. All paths share the empty text before the first
  // slash and the two segments of the prefix.
  const minCloseness = 4 * 4
  return todas.filter((candidate) => closeness(candidate) >= minCloseness).sort((a, b) => closeness(b) - closeness(a))
}

function pathParametersOf(tree: SourceTree, path: string): PathParameter[] {
  const components = tree.read('openapi/componentes/parametros/parametros.yaml').split(/^(?=\w+:\n)/m)
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, nombre = '']) => {
    const ownComponent = components.find((part) => part.includes(`  name: ${nombre}\n  in: path\n`))
    return {
      nombre,
      component: ownComponent && /^(\w+):/m.exec(ownComponent)?.[1],
      example: (ownComponent && /^ {2}example: (.+)$/m.exec(ownComponent)?.[1]) ?? `${nombre}_1`,
    }
  })
}

/**
 * Reads the arguments of the command.
 * @throws if one is wrong, or if no operation shares the first part of the path
 */
export function readOperation(tree: SourceTree, args: readonly string[]): NewOperacion {
  const [documento = '', id = '', givenMethod = '', path = ''] = args
  const method = givenMethod.toLowerCase()
  if (args.length !== 4) throw new Error('Usage: npm run new -- <documento> <operationId> <método> <ruta>')
  if (documento !== 'comercios' && documento !== 'operaciones')
    throw new Error(`${documento} is neither comercios nor operaciones; operations of publico differ too much`)
  if (!/^[a-z]+[A-Z]\w*$/.test(id)) throw new Error(`${id} is not an operationId such as cancelarGuia`)
  if (!METHODS.includes(method)) throw new Error(`${givenMethod} is none of ${METHODS.join(', ')}`)
  const prefix = PREFIXES[documento]
  if (!path.startsWith(prefix) || !/^(?:\/(?:[a-z0-9-]+|\{[a-z_]+\}))+$/.test(path))
    throw new Error(`${path} is not a path such as ${prefix}guias/{guia}/cancelar`)
  const todas = readOperaciones(tree, documento)
  if (new RegExp(`^ {2}${id},$`, 'm').test(tree.read('server/startup/handlers.ts'))) throw new Error(`${id} exists`)
  if (todas.some((candidate) => candidate.path === path && candidate.method === method))
    throw new Error(`${method} ${path} exists`)

  const neighbours = neighboursOf(todas, path, method)
  const [neighbour] = neighbours
  if (!neighbour) throw new Error(`No operation is below ${prefix}${path.slice(prefix.length).split('/')[0]} yet`)
  const sameKindNeighbour =
    neighbours.find((candidate) => isRead(candidate.method) === isRead(method) && candidate.alcance) ?? neighbour
  const importPattern = new RegExp(`import \\{ ${neighbour.id} \\} from '\\.\\./domain/([\\w/]+)/\\w+\\.ts'`)
  const folder = importPattern.exec(tree.read('server/startup/handlers.ts'))?.[1]
  if (!folder) throw new Error(`server/startup/handlers.ts does not import ${neighbour.id}`)
  const verb = /^[a-z]+/.exec(id)?.[0] ?? id
  const isVerbFree =
    !tree.exists(`server/domain/${folder}/${verb}.ts`) && !tree.exists(`test/${folder}/${verb}.test.ts`)
  const archivo = isVerbFree ? verb : id
  return {
    documento,
    id,
    method,
    path,
    shortPath: path.slice(prefix.length - 1),
    parameters: pathParametersOf(tree, path),
    etiqueta: neighbour.etiqueta,
    alcance: sameKindNeighbour.alcance,
    bitacora: sameKindNeighbour.bitacora,
    isRepeatable: ['get', 'put', 'delete'].includes(method),
    hasBody: ['post', 'put', 'patch'].includes(method),
    hasResult: method !== 'delete',
    folder,
    archivo,
    pathFile: `${path.slice(prefix.length).replaceAll('/', '_').replace(/[{}]/g, '')}.yaml`,
    testFile: `test/${folder}/${archivo}.test.ts`,
    neighbour: toCall(neighbour.method, neighbour.path.slice(prefix.length - 1)),
  }
}

/** Returns an operation as the SDK calls it: `POST /guias/{guia}/pausar`. */
export const toCall = (method: string, shortPath: string) => `${method.toUpperCase()} ${shortPath}`
/** Returns the name of the schema of an operation's answer. */
export const resultSchemaName = ({ id }: NewOperacion) => `ResultadoDe${capitalize(id)}`
/** Returns the name of the schema of an operation's body. */
export const dataSchemaName = ({ id }: NewOperacion) => `DatosDe${capitalize(id)}`
