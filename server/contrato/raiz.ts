import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * The project's root folder, as a URL with a final slash. Files that the server reads (the bundled contract, migrations,
 * documentation) are named from here, so that they are found from the sources and from the bundle alike.
 */
export const RAIZ = pathToFileURL(`${buscar(import.meta.dirname)}/`)

function buscar(carpeta: string): string {
  if (existsSync(join(carpeta, 'package.json')) && existsSync(join(carpeta, 'prisma'))) return carpeta
  const madre = dirname(carpeta)
  if (madre === carpeta) throw new Error('the project root was not found')
  return buscar(madre)
}
