import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { construir } from './construir.ts'
import { git } from './etiqueta.ts'

const raiz = fileURLToPath(new URL('../../', import.meta.url))
/** Where they stand in the tree. */
export const MIGRACIONES = 'prisma/migrations'

/** The commit before the newest migration, from which an installation is brought to what stands here. */
export interface Anterior {
  commit: string
  /** The newest migration. */
  migracion: string
}

/** @returns in words, why there is nothing to upgrade from */
export async function anteriorALaMigracion(): Promise<Anterior | { falta: string }> {
  const migracion = (await readdir(join(raiz, MIGRACIONES)))
    .filter((nombre) => /^\d/.test(nombre))
    .sort()
    .at(-1)!
  const decir = (...args: string[]) =>
    git(...args).then(
      (salida) => salida.trim(),
      () => undefined,
    )
  const archivo = `${MIGRACIONES}/${migracion}/migration.sql`
  const agregada = await decir('log', '-1', '--diff-filter=A', '--format=%H', '--', archivo)
  if (agregada === undefined) return { falta: 'there is no history here' }
  // One that isn't committed comes after what is.
  const commit = await decir('rev-parse', '--verify', '--quiet', agregada === '' ? 'HEAD' : `${agregada}^`)
  if (!commit) return { falta: `the history here doesn't reach the commit before ${migracion}` }
  const editadas = await decir('diff', '--name-only', '--diff-filter=MD', commit, '--', `${MIGRACIONES}/*.sql`)
  if (editadas) {
    const cuales = editadas.split('\n').map((ruta) => ruta.split('/').at(-2))
    return { falta: `${cuales.join(', ')} was edited after ${commit.slice(0, 7)}: nothing from then can be upgraded` }
  }
  return { commit, migracion }
}

/** Made once for each commit and lock, whoever asks; what is half made is nobody's. */
async function hacerUnaVez(nombre: string, hacer: (carpeta: string) => Promise<void>): Promise<string> {
  const base = await realpath(tmpdir())
  const hecha = join(base, nombre)
  if (existsSync(hecha)) return hecha
  const carpeta = await mkdtemp(`${hecha}-`)
  try {
    await chmod(carpeta, 0o755) // or root's PostgreSQL would keep its data elsewhere
    await hacer(carpeta)
    await rename(carpeta, hecha).catch((error) => {
      if (!existsSync(hecha)) throw error
    })
  } finally {
    await rm(carpeta, { recursive: true, force: true })
  }
  return hecha
}

/**
 * The tree of that commit, built; kept in the system's temporary folder for the next time. Each clone keeps its own, because
 * the tree's packages are links into the clone that built it.
 */
export async function construirAnterior({ commit }: Anterior): Promise<string> {
  const origen = hash('sha1', raiz + (await readFile(join(raiz, 'package-lock.json'), 'utf8')))
  return hacerUnaVez(`guias-anterior-${commit.slice(0, 12)}-${origen.slice(0, 6)}`, (carpeta) =>
    construir(commit, carpeta),
  )
}
