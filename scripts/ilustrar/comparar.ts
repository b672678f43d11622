/** Puts the images of two folders side by side, to show how a change affects the pages. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { enFilas } from './hoja.ts'

/** Returns the paths of the images below a folder, relative to it. Sheets, which show the same images, are left out. */
async function imagenesDe(carpeta: string): Promise<string[]> {
  const archivos = (await readdir(carpeta, { recursive: true })).map((ruta) => ruta.replaceAll('\\', '/'))
  return archivos.filter((ruta) => ruta.endsWith('.png') && !archivos.includes(ruta.slice(0, -'.png'.length)))
}

/**
 * Writes an image for each file that differs between two folders, with the old version on the left. Skips identical
 * images.
 * @param carpeta folder for the new images
 */
export async function compararHojas(antes: string, despues: string, carpeta: string): Promise<void> {
  const [primeras, segundas] = (await Promise.all([antes, despues].map(imagenesDe))) as [string[], string[]]
  let iguales = 0
  for (const ruta of new Set([...primeras, ...segundas].sort())) {
    const imagenes = await Promise.all(
      [primeras.includes(ruta) && antes, segundas.includes(ruta) && despues].flatMap((una) =>
        una ? [readFile(join(una, ruta))] : [],
      ),
    )
    if (imagenes.length === 2 && imagenes[0]!.equals(imagenes[1]!)) {
      iguales++
      continue
    }
    const solo = imagenes.length === 2 ? '' : primeras.includes(ruta) ? ': solo antes' : ': solo después'
    await mkdir(join(carpeta, dirname(ruta)), { recursive: true })
    await writeFile(join(carpeta, ruta), await enFilas([{ nombre: basename(ruta, '.png') + solo, imagenes }]))
    console.log(join(carpeta, ruta))
  }
  console.log(`${iguales} iguales`)
}
