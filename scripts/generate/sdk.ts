import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { type JsonObject, schemasOf } from '../documentation/contract.ts'
import { GENERATED_FOLDER, REPOSITORY_URL, readBundle, requireFile } from './places.ts'
import { runInRoot } from './run.ts'
import { renderSdkFields } from './sdkFields.ts'
import { renderSdkOperaciones } from './sdkOperations.ts'
import { renderSdkTypes } from './sdkTypes.ts'
import { generateTelefonos } from './telephones.ts'

/**
 * Generates the SDK's sources from the merchants' contract. Then builds the SDK, and the package for assistants that
 * contains the SDK.
 */
export async function generateSdk() {
  const outputUrl = new URL('sdk/src/generated/', REPOSITORY_URL)
  const bundle = await readBundle('comercios')
  await createClient({
    logs: { level: 'silent' },
    parser: { transforms: { readWrite: false } },
    input: new URL('comercios.json', GENERATED_FOLDER).pathname,
    output: { path: outputUrl.pathname, module: { extension: '.js' } },
    plugins: ['@hey-api/typescript'],
  })
  const file = new URL('types.gen.ts', outputUrl)
  const { evento, tipos } = renderSdkTypes(bundle, await readFile(file, 'utf8'))
  await writeFile(new URL('evento.gen.ts', outputUrl), evento)
  await writeFile(file, tipos)
  await writeFile(new URL('operations.ts', outputUrl), renderSdkOperaciones(bundle))
  await writeFile(new URL('eventTypes.ts', outputUrl), eventTypes(bundle))
  await writeFile(new URL('fields.ts', outputUrl), renderSdkFields(bundle))
  await generateTelefonos(outputUrl)
  for (const file of ['time/relativeDays.ts', 'csv.ts'])
    await copyFile(new URL(`server/platform/${file}`, REPOSITORY_URL), new URL(basename(file), outputUrl))
  await copyTexts()
  await rm(new URL('sdk/dist', REPOSITORY_URL), { recursive: true, force: true })
  await runInRoot('tsdown', ['--config', 'sdk/tsdown.config.ts', '--logLevel', 'error'])
  await requireFile('sdk/dist/index.js')
  await requireFile('sdk/dist/cli.js')
  await rm(new URL('sdk/mcp/dist', REPOSITORY_URL), { recursive: true, force: true })
  await runInRoot('tsdown', ['--config', 'sdk/mcp/tsdown.config.ts', '--logLevel', 'error'])
  await requireFile('sdk/mcp/dist/main.js')
  const version = String((bundle.info as JsonObject).version)
  await packPackage('sdk', `guias-sdk-${version}.tgz`)
  await packPackage('sdk/mcp', `guias-mcp-${version}.tgz`)
}

/** Returns the source of the event types that a webhook can name, for the shell completion of the command line. */
function eventTypes(bundle: JsonObject): string {
  const schemas = schemasOf(bundle)
  const namesOf = (schema: string) => schemas[schema]?.enum as readonly string[]
  const wildcards = namesOf('ComodinDeTipos').filter((wildcard) => wildcard !== '*')
  const types = [...wildcards, ...namesOf('TipoDeEvento'), ...namesOf('TipoDeEventoPropio')]
  return `export const EVENT_TYPES: readonly string[] = ${JSON.stringify(types, null, 2)}\n`
}

/**
 * Packs a package as the service serves it (`/sdk/guias-sdk-<version>.tgz`), with its digest in the form of sha256sum.
 * The same files give the same bytes.
 * @throws if the package's version differs from the contract's, because the guide's download links contain the
 *   contract's version
 */
async function packPackage(packageFolder: string, name: string) {
  const folder = new URL('sdk/', GENERATED_FOLDER)
  await mkdir(folder, { recursive: true })
  const destino = fileURLToPath(folder)
  await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--pack-destination', destino], {
    cwd: fileURLToPath(new URL(`${packageFolder}/`, REPOSITORY_URL)),
  })
  const file = new URL(name, folder)
  const sha256 = hash('sha256', await readFile(file))
  await writeFile(new URL(`${name}.sha256`, folder), `${sha256}  ${name}\n`)
}

/**
 * Copies the licence and the merchants' changelog into the folders of the packages, because npm packs no files from outside.
 */
async function copyTexts() {
  for (const packageFolder of ['sdk', 'sdk/mcp'])
    await copyFile(new URL('LICENSE', REPOSITORY_URL), new URL(`${packageFolder}/LICENSE`, REPOSITORY_URL))
  await copyFile(
    new URL('openapi/comercios/guia/15-cambios.md', REPOSITORY_URL),
    new URL('sdk/CHANGELOG.md', REPOSITORY_URL),
  )
}
