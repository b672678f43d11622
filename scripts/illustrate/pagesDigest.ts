import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Folders of the pages that the README's picture shows, and of the parts that they share. */
const SHOWN_PAGES = 'server/pages/{courier,location,tracking,verify,ui}/**/*.{css,ts,tsx}'

/**
 * Returns the digest of the sources of the pages that the README's picture shows, in hexadecimal. The picture has it as
 * its description, so that a test can tell whether the pages changed since.
 */
export function pagesDigest(): string {
  const hash = createHash('sha256')
  for (const file of globSync(SHOWN_PAGES, { cwd: root }).sort())
    hash.update(`${file.replaceAll('\\', '/')}\0`).update(readFileSync(`${root}${file}`))
  return hash.digest('hex')
}
