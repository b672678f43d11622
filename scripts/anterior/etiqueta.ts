import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

/** What git says, here. */
export const git = async (...args: string[]) => (await promisify(execFile)('git', args, { maxBuffer: 1 << 26 })).stdout

/** The last release before this commit; undefined before the first one, and where there is no history (a shallow clone). */
export async function etiquetaAnterior(): Promise<string | undefined> {
  const salida = await git(
    'tag',
    '--list',
    'v*',
    '--merged',
    'HEAD',
    '--no-contains',
    'HEAD',
    '--sort=-v:refname',
  ).catch(() => '')
  return salida.split('\n')[0] || undefined
}

/** Those files of it, as they were, into a folder. */
export async function extraer(etiqueta: string, carpeta: string, rutas: readonly string[] = []): Promise<void> {
  const archivar = spawn('git', ['archive', etiqueta, ...rutas], { stdio: ['ignore', 'pipe', 'inherit'] })
  const desempacar = spawn('tar', ['-x', '-C', carpeta], { stdio: [archivar.stdout, 'ignore', 'inherit'] })
  for (const [codigo] of await Promise.all([once(archivar, 'exit'), once(desempacar, 'exit')])) {
    if (codigo !== 0) throw new Error(`${etiqueta}: its files could not be read`)
  }
}
