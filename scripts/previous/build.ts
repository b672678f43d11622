import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { extractTag } from './tag.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Runs a program in a folder, with the folder's own `node_modules/.bin` first in PATH, because npm puts the binaries of
 * this repository there.
 * @throws if the exit status is not 0
 */
export async function runIn(folder: string, program: string, ...args: string[]): Promise<void> {
  const PATH = join(folder, 'node_modules/.bin') + delimiter + (process.env.PATH ?? '')
  const child = spawn(program, args, { cwd: folder, stdio: 'inherit', env: { ...process.env, PATH } })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${[basename(program), ...args].join(' ')} failed`)
}

/** Links the packages of this repository into a folder's `node_modules`, and `@guias/sdk` to the folder's own SDK. */
export async function linkPackages(folder: string): Promise<void> {
  const modulesFolder = join(folder, 'node_modules')
  await mkdir(join(modulesFolder, '@guias'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name === '@guias' || name === '.cache') continue
    await symlink(join(root, 'node_modules', name), join(modulesFolder, name))
  }
  await symlink('../../sdk', join(modulesFolder, '@guias/sdk'))
}

/**
 * Extracts the tree of a commit or tag into a folder, and generates its code with its own tools. Installs its packages
 * with `npm ci`, or links those of this repository if both lock files are equal.
 */
export async function buildVersion(version: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await extractTag(version, folder)
  const readLockFile = (where: string) => readFile(join(where, 'package-lock.json'), 'utf8')
  if ((await readLockFile(folder)) === (await readLockFile(root))) await linkPackages(folder)
  else await runIn(folder, 'npm', 'ci', '--include=dev', '--no-audit', '--no-fund', '--prefer-offline')
  await runIn(folder, process.execPath, 'scripts/generate.ts')
}
