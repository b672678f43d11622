import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Root folder of the project, as a URL with a final slash. The server finds its files from here: the bundled contract,
 * migrations and documentation. The URL is the same for the sources and for the bundle.
 */
export const ROOT = pathToFileURL(`${find(import.meta.dirname)}/`)

function find(folder: string): string {
  if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'prisma'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('the project root was not found')
  return find(parent)
}
