import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { consoleOperacionesOf } from '../documentacion/consola.ts'
import type { JsonObject } from '../documentacion/contrato.ts'
import { searchIndexOf } from '../documentacion/indice.ts'
import { enMarkdown } from '../documentacion/markdown.ts'
import { buildPage } from '../documentacion/pagina.ts'
import { compressFiles } from './comprimir.ts'
import { runInRoot } from './correr.ts'
import { toolsOf } from './herramientas.ts'
import { GENERATED_FOLDER, leerBundle, writeGenerated } from './lugares.ts'

/** Writes the merchants' documentation, except the programs of its pages (`paginas.ts`). */
export async function generateDocumentation() {
  const contract = await leerBundle('comercios')
  const folder = new URL('documentacion/', GENERATED_FOLDER)
  await buildPage(contract, folder, runInRoot)
  await writeFile(new URL('indice.json', folder), JSON.stringify(searchIndexOf(contract)))
  await writeFile(new URL('operaciones.json', folder), JSON.stringify(consoleOperacionesOf(contract)))
  await compressFiles(folder, ['indice.json', 'operaciones.json'])
  const { version = '' } = contract.info as JsonObject
  await writeGenerated('herramientas.json', JSON.stringify({ version, herramientas: toolsOf(contract) }))
  for (const [path, texto] of enMarkdown(contract)) {
    const archivo = new URL(`textos/${path}`, folder)
    await mkdir(new URL('./', archivo), { recursive: true })
    await writeFile(archivo, texto)
  }
  await copyFile(new URL('../../sdk/ejemplos/pedidos.csv', import.meta.url), new URL('textos/docs/pedidos.csv', folder))
}
