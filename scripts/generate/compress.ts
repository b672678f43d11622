import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/**
 * Size in bytes above which Brotli runs at quality 9. Above it, quality 11 takes ten seconds and saves only a
 * twentieth.
 */
const GRANDE = 500_000

/**
 * Compresses files of a folder with Brotli and gzip in advance, so that the server does not spend this time at each
 * start.
 * @throws if a file is empty
 */
export async function compressFiles(folder: URL, archivos: readonly string[]) {
  for (const archivo of archivos) {
    const content = await readFile(new URL(archivo, folder))
    if (content.length === 0) throw new Error(`${archivo} was generated empty`)
    const params = { [constants.BROTLI_PARAM_QUALITY]: content.length > GRANDE ? 9 : 11 }
    await writeFile(new URL(`${archivo}.br`, folder), brotliCompressSync(content, { params }))
    await writeFile(new URL(`${archivo}.gz`, folder), gzipSync(content, { level: 9 }))
  }
}
