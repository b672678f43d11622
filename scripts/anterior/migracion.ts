import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { construir } from './construir.ts'
import { git } from './etiqueta.ts'

const raiz = fileURLToPath(new URL('../../', import.meta.url))
/** Folder of the migrations, relative to the root of the tree. */
export const MIGRACIONES = 'prisma/migrations'

/** Commit before the newest migration. Its version is the one from which installations upgrade. */
export interface Anterior {
  commit: string
  /** Name of the newest migration. */
  migracion: string
}

/**
 * Finds the commit before the newest migration.
 * @returns `falta`: reason in English why no version to upgrade from is available
 */
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
  if (agregada === undefined) return { falta: 'this clone has no git history' }
  // An uncommitted migration comes after HEAD.
  const commit = await decir('rev-parse', '--verify', '--quiet', agregada === '' ? 'HEAD' : `${agregada}^`)
  if (!commit) return { falta: `the git history does not contain the commit before ${migracion}` }
  const editadas = await decir('diff', '--name-only', '--diff-filter=MD', commit, '--', `${MIGRACIONES}/*.sql`)
  if (editadas) {
    const cuales = editadas.split('\n').map((ruta) => ruta.split('/').at(-2))
    return { falta: `${cuales.join(', ')} was edited after ${commit.slice(0, 7)}, so that version cannot be upgraded` }
  }
  return { commit, migracion }
}

/**
 * Returns a folder of this name in the system's temporary folder, and builds it first if it does not exist. Renames the
 * folder only when it is complete, so that concurrent or interrupted runs never see a partial one.
 */
async function hacerUnaVez(nombre: string, hacer: (carpeta: string) => Promise<void>): Promise<string> {
  const base = await realpath(tmpdir())
  const hecha = join(base, nombre)
  if (existsSync(hecha)) return hecha
  const carpeta = await mkdtemp(`${hecha}-`)
  try {
    await chmod(carpeta, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
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
 * Builds the tree of a commit and returns its folder. Later runs reuse the folder, in the system's temporary folder.
 * Each clone has a folder of its own, because the packages in it are links into the clone that built it.
 */
export async function construirAnterior({ commit }: Pick<Anterior, 'commit'>): Promise<string> {
  const origen = hash('sha1', raiz + (await readFile(join(raiz, 'package-lock.json'), 'utf8')))
  return hacerUnaVez(`guias-anterior-${commit.slice(0, 12)}-${origen.slice(0, 6)}`, (carpeta) =>
    construir(commit, carpeta),
  )
}
