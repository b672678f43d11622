/**
 * Entry point of `npm run test:schema`: tests the previous version on the current schema. During a rolling update,
 * processes of both versions use one database. Runs the operations' tests of the last release (tag `v*` before this
 * commit), on databases that the current migrations create. Prints the reason if there is nothing to upgrade from, and
 * fails if the migrations break an upgrade.
 */
import { chmod, cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPrevious, findBase, MIGRATIONS_PATH } from './previous/migration.ts'
import { runTests } from './tests/run.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
/**
 * Slices (folders of `server/`) whose tests start no processes of the service. Such processes would prepare the copied
 * tree again.
 */
const OPERACION_SLICES = [
  'comercios',
  'etiquetas',
  'eventos',
  'guias',
  'lists',
  'llaves',
  'mensajeria',
  'operaciones',
  'operadores',
  'pruebasEntrega',
  'repartidores',
  'simulador',
  'ubicacion',
  'webhooks',
]

/** Copies the tree of the previous version, and replaces its migrations with the current ones. */
async function withPresentSchema(previous: string, folder: string): Promise<void> {
  await cp(previous, folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' })
  await symlink(join(previous, 'node_modules'), join(folder, 'node_modules'))
  await rm(join(folder, MIGRATIONS_PATH), { recursive: true })
  await cp(join(root, MIGRATIONS_PATH), join(folder, MIGRATIONS_PATH), { recursive: true })
}

async function testPrevious(previous: string): Promise<void> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'guias-esquema-'))
  try {
    await chmod(folder, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
    await withPresentSchema(previous, folder)
    const where = OPERACION_SLICES.map((slice) => `test/${slice}/`)
    if (!(await runTests(['--tags-filter=!slow', ...where], folder))) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const base = await findBase()
if ('missing' in base) console.log(`No upgrade to test: ${base.missing}.`)
else {
  console.log(`Running the tests of ${base.tag} with ${base.migrations.join(', ')}:`)
  await testPrevious(await buildPrevious(base))
}
