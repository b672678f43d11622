import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { chaptersOf } from '../documentation/chapters.ts'
import { consoleOperacionesOf } from '../documentation/console.ts'
import type { JsonObject } from '../documentation/contract.ts'
import { withDiagrams } from '../documentation/diagram.ts'
import { renderMarkdownFiles } from '../documentation/markdown.ts'
import { buildPage } from '../documentation/page.ts'
import { searchIndexOf } from '../documentation/searchIndex.ts'
import { compressFiles } from './compress.ts'
import { GENERATED_FOLDER, readBundle, writeGenerated } from './places.ts'
import { runInRoot } from './run.ts'
import { toolsOf } from './tools.ts'

/** Writes the merchants' documentation, except the programs of its pages (`pages.ts`). */
export async function generateDocumentation() {
  const contract = await readBundle('comercios')
  const folder = new URL('documentation/', GENERATED_FOLDER)
  await buildPage(contract, folder, runInRoot)
  await writeFile(new URL('indice.json', folder), JSON.stringify(searchIndexOf(contract)))
  await writeFile(new URL('operaciones.json', folder), JSON.stringify(consoleOperacionesOf(contract)))
  await compressFiles(folder, ['indice.json', 'operaciones.json'])
  const info = contract.info as JsonObject
  const guia = await withDiagrams(String(info['x-guia']))
  const drawn = { ...contract, info: { ...info, 'x-guia': guia } }
  await writeFile(new URL('capitulos.json', folder), JSON.stringify(chaptersOf(drawn)))
  const { version = '' } = info
  await writeGenerated('herramientas.json', JSON.stringify({ version, herramientas: toolsOf(contract) }))
  for (const [path, text] of renderMarkdownFiles(contract)) {
    const file = new URL(`textos/${path}`, folder)
    await mkdir(new URL('./', file), { recursive: true })
    await writeFile(file, text)
  }
  await copyFile(new URL('../../sdk/ejemplos/pedidos.csv', import.meta.url), new URL('textos/docs/pedidos.csv', folder))
}
