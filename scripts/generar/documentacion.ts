import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { operacionesDeConsola } from '../documentacion/consola.ts'
import type { Objeto } from '../documentacion/contrato.ts'
import { indiceDe } from '../documentacion/indice.ts'
import { enMarkdown } from '../documentacion/markdown.ts'
import { construirPagina } from '../documentacion/pagina.ts'
import { comprimir } from './comprimir.ts'
import { correrEnRaiz } from './correr.ts'
import { herramientasDe } from './herramientas.ts'
import { CARPETA, escribir, leerBundle } from './lugares.ts'

/** Writes the merchants' documentation, except the programs of its pages (`paginas.ts`). */
export async function generarDocumentacion() {
  const contrato = await leerBundle('comercios')
  const carpeta = new URL('documentacion/', CARPETA)
  await construirPagina(contrato, carpeta, correrEnRaiz)
  await writeFile(new URL('indice.json', carpeta), JSON.stringify(indiceDe(contrato)))
  await writeFile(new URL('operaciones.json', carpeta), JSON.stringify(operacionesDeConsola(contrato)))
  await comprimir(carpeta, ['indice.json', 'operaciones.json'])
  const { version = '' } = contrato.info as Objeto
  await escribir('herramientas.json', JSON.stringify({ version, herramientas: herramientasDe(contrato) }))
  for (const [ruta, texto] of enMarkdown(contrato)) {
    const archivo = new URL(`textos/${ruta}`, carpeta)
    await mkdir(new URL('./', archivo), { recursive: true })
    await writeFile(archivo, texto)
  }
  await copyFile(
    new URL('../../sdk/ejemplos/pedidos.csv', import.meta.url),
    new URL('textos/docs/pedidos.csv', carpeta),
  )
}
