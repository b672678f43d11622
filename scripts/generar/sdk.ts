import { readFile, rm, writeFile } from 'node:fs/promises'
import { createClient } from '@hey-api/openapi-ts'
import type { Objeto } from '../documentacion/contrato.ts'
import { correr } from './correr.ts'
import { CARPETA, exigir, leerBundle, RAIZ } from './lugares.ts'

/** The SDK's part of the contract, and the package built with it. */
export async function generarSdk() {
  const salida = new URL('sdk/src/generado/', RAIZ)
  const bundle = await leerBundle('comercios')
  await createClient({
    logs: { level: 'silent' },
    parser: { transforms: { readWrite: false } },
    input: new URL('comercios.json', CARPETA).pathname,
    output: { path: salida.pathname, module: { extension: '.js' } },
    // Only their types are used of the client: without one of its own, nobody's bundle carries its 4 KB.
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', client: false }],
  })
  await exigir('sdk/src/generado/sdk.gen.ts')
  await abrirEnums(bundle, new URL('types.gen.ts', salida))
  await rm(new URL('sdk/dist', RAIZ), { recursive: true, force: true })
  await correr('tsdown', ['--config', 'sdk/tsdown.config.ts', '--logLevel', 'error'])
  await exigir('sdk/dist/index.js')
  await exigir('sdk/dist/cli.js')
}

/**
 * Enums marked `x-extensible` stay open in the SDK: a value from a newer server is not a type error. Each has a name of its
 * own, because an inline one could not be found again in the generated types.
 */
async function abrirEnums(contrato: Objeto, archivo: URL) {
  let texto = await readFile(archivo, 'utf8')
  const esquemas = (contrato.components as Objeto).schemas as Record<string, Objeto>
  const extensibles = Object.keys(esquemas).filter((nombre) => esquemas[nombre]?.['x-extensible'] === true)
  const marcas = JSON.stringify(contrato).match(/"x-extensible":true/g)?.length ?? 0
  if (marcas !== extensibles.length) throw new Error('an x-extensible enum stands inline: give it a schema of its own')
  for (const nombre of extensibles) {
    const declaracion = new RegExp(`(export type ${nombre} = (?:(?:'[^']+'|null)(?: \\| )?)+);`)
    if (!declaracion.test(texto)) throw new Error(`the SDK has no type ${nombre} to open`)
    texto = texto.replace(declaracion, '$1 | (string & {});')
  }
  await writeFile(archivo, admitirIndefinidos(texto))
}

/** What may be left out may be `undefined`, also for who compiles with `exactOptionalPropertyTypes`: it isn't sent. */
const admitirIndefinidos = (tipos: string) => tipos.replace(/^( +\w+\?: (?!never\b)[^{}\n]+);$/gm, '$1 | undefined;')
