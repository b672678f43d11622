import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** From that size on the best compression takes ten seconds for a twentieth. */
const GRANDE = 500_000

/** Packs files for whoever fetches them: once, here, since a start should not take that long. */
export async function comprimir(carpeta: URL, archivos: readonly string[]) {
  for (const archivo of archivos) {
    const entero = await readFile(new URL(archivo, carpeta))
    if (entero.length === 0) throw new Error(`${archivo} was generated empty`)
    const params = { [constants.BROTLI_PARAM_QUALITY]: entero.length > GRANDE ? 9 : 11 }
    await writeFile(new URL(`${archivo}.br`, carpeta), brotliCompressSync(entero, { params }))
    await writeFile(new URL(`${archivo}.gz`, carpeta), gzipSync(entero, { level: 9 }))
  }
}
