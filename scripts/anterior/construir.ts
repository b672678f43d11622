import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { extraer } from './etiqueta.ts'

const raiz = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Runs a program in a folder, with the folder's own `node_modules/.bin` first in PATH, because npm puts the binaries of
 * this repository there.
 * @throws if the exit status is not 0
 */
export async function correrEn(carpeta: string, programa: string, ...args: string[]): Promise<void> {
  const PATH = join(carpeta, 'node_modules/.bin') + delimiter + (process.env.PATH ?? '')
  const hijo = spawn(programa, args, { cwd: carpeta, stdio: 'inherit', env: { ...process.env, PATH } })
  const [status] = await once(hijo, 'exit')
  if (status !== 0) throw new Error(`${[basename(programa), ...args].join(' ')} failed`)
}

/** Links the packages of this repository into a folder's `node_modules`, and `@guias/sdk` to the folder's own SDK. */
export async function enlazarPaquetes(carpeta: string): Promise<void> {
  const paquetes = join(carpeta, 'node_modules')
  await mkdir(join(paquetes, '@guias'), { recursive: true })
  for (const nombre of await readdir(join(raiz, 'node_modules'))) {
    if (nombre === '@guias' || nombre === '.cache') continue
    await symlink(join(raiz, 'node_modules', nombre), join(paquetes, nombre))
  }
  await symlink('../../sdk', join(paquetes, '@guias/sdk'))
}

/**
 * Extracts the tree of a commit or tag into a folder, and generates its code with its own tools. Installs its packages
 * with `npm ci`, or links those of this repository if both lock files are equal.
 */
export async function construir(version: string, carpeta: string): Promise<void> {
  await mkdir(carpeta, { recursive: true })
  await extraer(version, carpeta)
  const cerrojo = (donde: string) => readFile(join(donde, 'package-lock.json'), 'utf8')
  if ((await cerrojo(carpeta)) === (await cerrojo(raiz))) await enlazarPaquetes(carpeta)
  else await correrEn(carpeta, 'npm', 'ci', '--include=dev', '--no-audit', '--no-fund', '--prefer-offline')
  await correrEn(carpeta, process.execPath, 'scripts/generar.ts')
}
