import type { NewOperacion } from './operation.ts'
import type { SourceTree } from './tree.ts'

/** Expressions that create the object that a path parameter names, for `test/bitacora/operaciones.test.ts`. */
const SCENES: Readonly<Record<string, string>> = {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: source code that is written to a file
  guia: '${await createGuia()}',
  webhook: '${await createWebhook()}',
  comercio: '${comercio.comercio}',
  operador: '${operador}',
  llave: '${await createLlave()}',
  repartidor: '${(await createRepartidor()).repartidor}',
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: source code that is written to a file
}

/** Returns a path as a literal of TypeScript, with a value for each of its parameters. */
function literal({ shortPath, parameters }: NewOperacion, values: Readonly<Record<string, string>>): string {
  const filledPath = parameters.reduce(
    (path, { nombre, example }) => path.replace(`{${nombre}}`, values[nombre] ?? example),
    shortPath,
  )
  return filledPath.includes('${') ? `\`${filledPath}\`` : `'${filledPath}'`
}

/** Returns the path from a folder below `server/domain/` or `test/` up to that folder's root: `../../` for two levels. */
const parentsOf = (folder: string) => '../'.repeat(folder.split('/').length)

function testSource(newOperacion: NewOperacion): string {
  const { documento, method, path, folder, hasBody, hasResult, parameters } = newOperacion
  const up = parentsOf(folder)
  const isForComercios = documento === 'comercios'
  const hasGuia = parameters.some(({ nombre }) => nombre === 'guia')
  const hasComercio = parameters.some(({ nombre }) => nombre === 'comercio')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: source code that is written to a file
  const values = { guia: '${guia}', comercio: '${comercio.comercio}' }
  const literalPath = literal(newOperacion, values)
  const fullPath = isForComercios ? literalPath.replace('/', '/api/v1/') : literalPath
  const body = hasBody ? "{ descripcion: 'El cliente lo pidió' }" : ''
  const options = `{ llave: comercio.llave${body && `, body: ${body}`} }`
  const verb = method.toUpperCase()
  const requestCode = isForComercios
    ? `environment.request('${verb}', ${fullPath}, ${options})`
    : `environment.asOperador('${verb}', ${literalPath}${body && `, ${body}`})`
  return `import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '${up}environment.ts'
${hasGuia ? `import { buildGuia } from '${up}factories.ts'\n` : ''}
const environment = shareEnvironment()

describe('${verb} ${path}', () => {
  it('answers what the contract says', async () => {
${isForComercios || hasGuia || hasComercio ? '    const comercio = await environment.createComercio()\n' : ''}${hasGuia ? '    const { guia } = await comercio.api.guias.crear(buildGuia())\n' : ''}    const { status, body } = await ${requestCode}
    expect(environment.log.filter((line) => line.includes('${newOperacion.id}: not implemented'))).toEqual([])
    expect([status, body]).toEqual([${hasResult ? '200, { registrado_en: expect.any(String) }' : '204, undefined'}])
  })
})
`
}

/** Adds the handler, its line in the table of handlers, its test, and its case in the test of the audit record. */
export function addToServer(tree: SourceTree, newOperacion: NewOperacion) {
  const { id, documento, method, folder, archivo, hasBody } = newOperacion
  const up = parentsOf(folder)
  tree.create(
    `server/domain/${folder}/${archivo}.ts`,
    `import type { Handler } from '${up}operation.ts'

export const ${id}: Handler<'${id}'> = async () => {
  throw new Error('${id}: not implemented')
}
`,
  )
  const handlersPath = 'server/startup/handlers.ts'
  tree.change(handlersPath, /^/, () => `import { ${id} } from '../domain/${folder}/${archivo}.ts'\n`)
  tree.change(handlersPath, /^} satisfies Handlers$/m, (ending) => `  ${id},\n${ending}`)
  tree.create(newOperacion.testFile, testSource(newOperacion))
  const caller = documento === 'comercios' ? 'asComercio' : 'asOperador'
  const literalPath = literal(newOperacion, SCENES)
  const scene = `  ${id}: async () => toScene(${caller}('${method.toUpperCase()}', ${literalPath}${hasBody ? ', {}' : ''})),\n`
  const section = documento === 'comercios' ? '  // Of couriers\n' : '  // Of merchants\n'
  tree.change('test/bitacora/operaciones.test.ts', section, (nextLine) => scene + nextLine)
}
