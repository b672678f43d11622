import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/**
 * Size in bytes above which Brotli runs at quality 9. Above it, quality 11 takes ten seconds and saves only a
 * twentieth.
 */
const MAX_BYTES_AT_BEST_QUALITY = 500_000

/**
 * Compresses files of a folder with Brotli and gzip in advance, so that the server does not spend this time at each
 * start.
 * @throws if a file is empty
 */
export async function compressFiles(folder: URL, files: readonly string[]) {
  for (const file of files) {
    const content = await readFile(new URL(file, folder))
    if (content.length === 0) throw new Error(`${file} was generated empty`)
    const params = { [constants.BROTLI_PARAM_QUALITY]: content.length > MAX_BYTES_AT_BEST_QUALITY ? 9 : 11 }
    await writeFile(new URL(`${file}.br`, folder), brotliCompressSync(content, { params }))
    await writeFile(new URL(`${file}.gz`, folder), gzipSync(content, { level: 9 }))
  }
}
