import { readdirSync } from 'node:fs'
import { capitalize } from '../generate/operationIndex.ts'
import { dataSchemaName, type NewOperacion, resultSchemaName, toCall } from './operation.ts'
import type { SourceTree } from './tree.ts'

/** Returns the resource that calls an operation; guides are the default. */
function resourceOf(tree: SourceTree, operation: string): string {
  const resourceFiles = readdirSync(new URL('../../sdk/src/', import.meta.url)).filter((file) =>
    /^\w+Resource\.ts$/.test(file),
  )
  const ownFile =
    resourceFiles.find((file) => tree.read(`sdk/src/${file}`).includes(`'${operation}'`)) ?? 'guiasResource.ts'
  return ownFile.slice(0, -'Resource.ts'.length)
}

/** Adds names to the types that a file imports from the generated ones, or re-exports. */
function addTypeNames(tree: SourceTree, file: string, pattern: RegExp, types: readonly string[]) {
  tree.change(file, pattern, (match) => match.replace('{', `{ ${types.join(', ')},`))
}

/** Gives a resource of the SDK that has only list methods the function for single requests. */
function enableRequests(tree: SourceTree, file: string) {
  const text = tree.read(file)
  if (!text.includes("readonly #request: ResourceClient['request']")) {
    tree.change(file, /^ {2}readonly #/m, (match) => `  readonly #request: ResourceClient['request']\n${match}`)
    tree.change(file, /constructor\(\{ (.+) \}: ResourceClient(.*)\) \{\n/, (match) =>
      match.replace('{ ', '{ request, ').concat('    this.#request = request\n'),
    )
  }
  if (!/import (?:type )?\{ Solicitud \}/.test(text))
    tree.change(file, /^/, () => `import type { Solicitud } from './request.js'\n`)
}

/**
 * Adds the SDK method for the operation, the check of its answer, its code sample, and its case in the test of retries.
 */
export function addToSdk(tree: SourceTree, newOperacion: NewOperacion) {
  const { id, archivo: verb, hasBody, hasResult, parameters, isRepeatable } = newOperacion
  const api = resourceOf(tree, newOperacion.neighbour)
  const file = `sdk/src/${api}Resource.ts`
  const method = new RegExp(`^ {2}${verb}\\(`, 'm').test(tree.read(file)) ? id : verb
  const result = hasResult ? resultSchemaName(newOperacion) : 'void'
  const types = [...(hasBody ? [dataSchemaName(newOperacion)] : []), ...(hasResult ? [result] : [])]

  const shapes = 'sdk/src/shapes.ts'
  const shape = hasResult ? `is${capitalize(result)}` : 'isNothing'
  if (hasResult) {
    addTypeNames(tree, shapes, /import type \{[^}]*\} from '\.\/generated\/types\.gen\.js'/, [result])
    tree.change(shapes, '/** Accepts a guide, or status 304 (undefined): the guide has not changed. */', (nextLine) => {
      const firma = `export const ${shape} = (datos: unknown): datos is ${result}`
      return `${firma} => hasTexts(datos, 'registrado_en')\n\n${nextLine}`
    })
  }
  if (!new RegExp(`\\b${shape}\\b`).test(tree.read(file))) {
    const importPattern = /import \{ (.+) \} from '\.\/shapes\.js'/
    if (importPattern.test(tree.read(file)))
      tree.change(file, importPattern, (match) => match.replace('{', `{ ${shape},`))
    else tree.change(file, /^/, () => `import { ${shape} } from './shapes.js'\n`)
  }

  enableRequests(tree, file)
  if (types.length > 0) {
    addTypeNames(tree, file, /import type \{[^}]*\} from '\.\/generated\/types\.gen\.js'/, types)
    addTypeNames(tree, 'sdk/src/index.ts', /export type \{[^}]*\} from '\.\/generated\/types\.gen\.js'/, types)
  }
  const firma = [
    ...parameters.map(({ nombre }) => `${nombre}: string`),
    ...(hasBody ? [`datos?: ${dataSchemaName(newOperacion)}`] : []),
    'opciones?: OpcionesDeSolicitud',
  ]
  const requestParts = [
    ...(parameters.length > 0 ? [`path: { ${parameters.map(({ nombre }) => nombre).join(', ')} }`] : []),
    ...(hasBody ? ['body: datos'] : []),
  ]
  const methodBody = [
    '',
    '  /** Qué hace, y con qué error falla. */',
    `  ${method}(${firma.join(', ')}): Solicitud<${result}> {`,
    `    return this.#request('${toCall(newOperacion.method, newOperacion.shortPath)}', { ${requestParts.join(', ')} }, opciones, ${shape})`,
    '  }',
    '}',
    '',
  ].join('\n')
  tree.change(file, /^export class [\s\S]*?\n\}\n/m, (classText) => classText.slice(0, -'}\n'.length) + methodBody)

  const examples = parameters.map(({ example }) => `'${example}'`)
  const body = hasBody ? ["{ descripcion: 'El cliente lo pidió' }"] : []
  const call = `await api.${api}.${method}(${[...examples, ...body].join(', ')})`
  tree.create(
    `openapi/comercios/muestras/${id}.ts`,
    `import { Guias } from '@guias/sdk'

const api = new Guias() // con GUIAS_LLAVE y GUIAS_URL del entorno

${hasResult ? `const { registrado_en } = ${call}\nconsole.log(registrado_en) // 2026-11-20T15:04:05.000Z` : call}
`,
  )
  const caseArguments = [...parameters.map(() => "'A'"), ...(hasBody ? ['undefined'] : []), 'o'].join(', ')
  tree.change(
    'test/sdk/retries.test.ts',
    new RegExp(`^const ${isRepeatable ? 'REPETIBLES' : 'ONLY_ONCE'}: .*\\n`, 'm'),
    (heading) => `${heading}  '${api}.${method}': (api, o) => api.${api}.${method}(${caseArguments}),\n`,
  )
  const tableRows = new RegExp(`(?:^\\| \`api\\.${api}\\..*\\n)+`, 'm')
  const names = [...parameters.map(({ nombre }) => nombre), ...(hasBody ? ['datos'] : [])].join(', ')
  tree.change(
    'sdk/README.md',
    tableRows,
    (existingRows) => `${existingRows}| \`api.${api}.${method}(${names})\` | qué hace |\n`,
  )
}
