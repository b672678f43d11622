import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

/** Runs git in the current folder and returns its standard output. */
export const git = async (...args: string[]) => (await promisify(execFile)('git', args, { maxBuffer: 1 << 26 })).stdout

/**
 * Returns the tag of the last release before this commit. Undefined before the first release, or without history (a
 * shallow clone).
 */
export async function previousTag(): Promise<string | undefined> {
  const output = await git(
    'tag',
    '--list',
    'v*',
    '--merged',
    'HEAD',
    '--no-contains',
    'HEAD',
    '--sort=-v:refname',
  ).catch(() => '')
  return output.split('\n')[0] || undefined
}

/**
 * Extracts files of a commit or tag into a folder.
 * @param paths paths to extract; all files if empty
 * @throws if git or tar fails
 */
export async function extractTag(etiqueta: string, folder: string, paths: readonly string[] = []): Promise<void> {
  const archiving = spawn('git', ['archive', etiqueta, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] })
  const unpacking = spawn('tar', ['-x', '-C', folder], { stdio: [archiving.stdout, 'ignore', 'inherit'] })
  for (const [code] of await Promise.all([once(archiving, 'exit'), once(unpacking, 'exit')])) {
    if (code !== 0) throw new Error(`${etiqueta}: its files could not be read`)
  }
}
