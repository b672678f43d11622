import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** The size in bytes from which on the best compression takes ten seconds to save a twentieth. */
const GRANDE = 500_000

/** Packs files of a folder for whoever fetches them: a start of the server should not take that long. */
export async function comprimir(carpeta: URL, archivos: readonly string[]) {
  for (const archivo of archivos) {
    const entero = await readFile(new URL(archivo, carpeta))
    if (entero.length === 0) throw new Error(`${archivo} was generated empty`)
    const params = { [constants.BROTLI_PARAM_QUALITY]: entero.length > GRANDE ? 9 : 11 }
    await writeFile(new URL(`${archivo}.br`, carpeta), brotliCompressSync(entero, { params }))
    await writeFile(new URL(`${archivo}.gz`, carpeta), gzipSync(entero, { level: 9 }))
  }
}
