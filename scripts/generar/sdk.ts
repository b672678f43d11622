import { readFile, rm, writeFile } from 'node:fs/promises'
import { createClient } from '@hey-api/openapi-ts'
import type { Objeto } from '../documentacion/contrato.ts'
import { correr } from './correr.ts'
import { CARPETA, exigir, leerBundle, RAIZ } from './lugares.ts'
import { operacionesDelSdk } from './operacionesDelSdk.ts'
import { generarTelefonos } from './telefonos.ts'

/** The SDK's part of the contract, and the package built with it. */
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
  await abrirEnums(bundle, new URL('types.gen.ts', salida))
  await writeFile(new URL('operaciones.ts', salida), operacionesDelSdk(bundle))
  await generarTelefonos(salida)
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
