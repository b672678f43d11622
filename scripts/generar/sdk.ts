import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { createClient } from '@hey-api/openapi-ts'
import { correrEnRaiz } from './correr.ts'
import { CARPETA, exigirArchivo, leerBundle, RAIZ } from './lugares.ts'
import { operacionesDelSdk } from './operacionesDelSdk.ts'
import { generarTelefonos } from './telefonos.ts'
import { tiposDelSdk } from './tiposDelSdk.ts'

/** Generates the SDK's sources from the merchants' contract, and builds the package. */
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
  await generarTelefonos(salida)
  await copiarTextos()
  await rm(new URL('sdk/dist', RAIZ), { recursive: true, force: true })
  await correrEnRaiz('tsdown', ['--config', 'sdk/tsdown.config.ts', '--logLevel', 'error'])
  await exigirArchivo('sdk/dist/index.js')
  await exigirArchivo('sdk/dist/cli.js')
}

/**
 * Copies the licence and the merchants' changelog into the package's folder, because npm packs no files from outside.
 */
async function copiarTextos() {
  await copyFile(new URL('LICENSE', RAIZ), new URL('sdk/LICENSE', RAIZ))
  await copyFile(new URL('openapi/comercios/guia/15-cambios.md', RAIZ), new URL('sdk/CHANGELOG.md', RAIZ))
}
