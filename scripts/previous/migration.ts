import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildVersion } from './build.ts'
import { git, previousTag } from './tag.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Folder of the migrations, relative to the root of the tree. */
export const MIGRATIONS_PATH = 'prisma/migrations'

/** Release from which installations upgrade. */
export interface BaseVersion {
  /** Tag of the release. */
  tag: string
  commit: string
  /** Names of the migrations that came after the release. */
  migrations: readonly string[]
}

/**
 * Finds the last release before this commit, and the migrations since.
 * @returns `missing`: reason in English why there is no upgrade to test
 * @throws if the migrations break an upgrade: one of the release was changed, or there is a second one before any release
 */
export async function findBase(): Promise<BaseVersion | { missing: string }> {
  const present = (await readdir(MIGRATIONS_PATH)).filter((name) => /^\d/.test(name)).sort()
  const [first, second] = present
  const tag = await previousTag()
  if (!tag) {
    if (second)
      throw new Error(
        `There is no release before this commit (tag v*), so ${second} upgrades nothing: the schema of the first release is ${first}. If the clone lacks tags, «git fetch --tags» brings them.`,
      )
    return { missing: `there is no release before this commit (tag v*), and ${first} is the only migration` }
  }
  const commit = (await git('rev-parse', `${tag}^{commit}`)).trim()
  const changed = await git('diff', '--name-only', '--no-renames', '--diff-filter=MD', commit, '--', MIGRATIONS_PATH)
  const names = changed.split('\n').flatMap((path) => (path.endsWith('.sql') ? [path.split('/').at(-2)] : []))
  if (names.length > 0)
    throw new Error(`${names.join(', ')} changed after ${tag}, so an installation of ${tag} cannot be upgraded.`)
  const released = await git('ls-tree', '--name-only', commit, `${MIGRATIONS_PATH}/`)
  const before = new Set(released.split('\n').map((path) => path.split('/').at(-1)))
  const migrations = present.filter((name) => !before.has(name))
  return migrations.length > 0 ? { tag, commit, migrations } : { missing: `${tag} has the present schema` }
}

/**
 * Returns a folder of this name in the system's temporary folder, and builds it first if it does not exist. Renames the
 * folder only when it is complete, so that concurrent or interrupted runs never see a partial one.
 */
async function buildOnce(name: string, build: (folder: string) => Promise<void>): Promise<string> {
  const base = await realpath(tmpdir())
  const builtFolder = join(base, name)
  if (existsSync(builtFolder)) return builtFolder
  const folder = await mkdtemp(`${builtFolder}-`)
  try {
    await chmod(folder, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
    await build(folder)
    await rename(folder, builtFolder).catch((error) => {
      if (!existsSync(builtFolder)) throw error
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return builtFolder
}

/**
 * Builds the tree of a commit and returns its folder. Later runs reuse the folder, in the system's temporary folder.
 * Each clone has a folder of its own, because the packages in it are links into the clone that built it.
 */
export async function buildPrevious({ commit }: Pick<BaseVersion, 'commit'>): Promise<string> {
  const origin = hash('sha1', root + (await readFile(join(root, 'package-lock.json'), 'utf8')))
  return buildOnce(`guias-anterior-${commit.slice(0, 12)}-${origin.slice(0, 6)}`, (folder) =>
    buildVersion(commit, folder),
  )
}
