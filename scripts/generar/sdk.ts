import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import type { Objeto } from '../documentacion/contrato.ts'
import { correrEnRaiz } from './correr.ts'
import { CARPETA, exigirArchivo, leerBundle, RAIZ } from './lugares.ts'
import { operacionesDelSdk } from './operacionesDelSdk.ts'
import { generarTelefonos } from './telefonos.ts'
import { tiposDelSdk } from './tiposDelSdk.ts'

/**
 * Generates the SDK's sources from the merchants' contract. Then builds the SDK, and the package for assistants that
 * contains the SDK.
 */
export async function generarSdk() {
  const salida = new URL('sdk/src/generado/', RAIZ)
  const bundle = await leerBundle('comercios')
  await createClient({
    logs: { level: 'silent' },
    parser: { transforms: { readWrite: false } },
    input: new URL('comercios.json', CARPETA).pathname,
    output: { path: salida.pathname, module: { extension: '.js' } },
    plugins: ['@hey-api/typescript'],
  })
  const archivo = new URL('types.gen.ts', salida)
  const { evento, tipos } = tiposDelSdk(bundle, await readFile(archivo, 'utf8'))
  await writeFile(new URL('evento.gen.ts', salida), evento)
  await writeFile(archivo, tipos)
  await writeFile(new URL('operaciones.ts', salida), operacionesDelSdk(bundle))
  await writeFile(new URL('eventTypes.ts', salida), eventTypes(bundle))
  await generarTelefonos(salida)
  await copyFile(new URL('server/platform/time/relativeDays.ts', RAIZ), new URL('relativeDays.ts', salida))
  await copiarTextos()
  await rm(new URL('sdk/dist', RAIZ), { recursive: true, force: true })
  await correrEnRaiz('tsdown', ['--config', 'sdk/tsdown.config.ts', '--logLevel', 'error'])
  await exigirArchivo('sdk/dist/index.js')
  await exigirArchivo('sdk/dist/cli.js')
  await rm(new URL('sdk/mcp/dist', RAIZ), { recursive: true, force: true })
  await correrEnRaiz('tsdown', ['--config', 'sdk/mcp/tsdown.config.ts', '--logLevel', 'error'])
  await exigirArchivo('sdk/mcp/dist/principal.js')
  const version = String((bundle.info as Objeto).version)
  await empaquetar('sdk', `guias-sdk-${version}.tgz`)
  await empaquetar('sdk/mcp', `guias-mcp-${version}.tgz`)
}

/** Returns the source of the event types that a webhook can name, for the shell completion of the command line. */
function eventTypes(bundle: Objeto): string {
  const schemas = (bundle.components as Objeto).schemas as Record<string, Objeto>
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
async function empaquetar(paquete: string, nombre: string) {
  const carpeta = new URL('sdk/', CARPETA)
  await mkdir(carpeta, { recursive: true })
  const destino = fileURLToPath(carpeta)
  await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--pack-destination', destino], {
    cwd: fileURLToPath(new URL(`${paquete}/`, RAIZ)),
  })
  const archivo = new URL(nombre, carpeta)
  const sha256 = hash('sha256', await readFile(archivo))
  await writeFile(new URL(`${nombre}.sha256`, carpeta), `${sha256}  ${nombre}\n`)
}

/**
 * Copies the licence and the merchants' changelog into the folders of the packages, because npm packs no files from outside.
 */
async function copiarTextos() {
  for (const paquete of ['sdk', 'sdk/mcp'])
    await copyFile(new URL('LICENSE', RAIZ), new URL(`${paquete}/LICENSE`, RAIZ))
  await copyFile(new URL('openapi/comercios/guia/15-cambios.md', RAIZ), new URL('sdk/CHANGELOG.md', RAIZ))
}
