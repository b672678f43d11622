/**
 * The SDK that merchants have installed against the server that they are going to meet: the last release's `sdk/` and
 * `test/sdk`, type-checked and run over the server as it stands here. `npm run test:anterior`; it says so if there is no
 * release yet. Helpers that those tests share (`test/entorno.ts`…) are the present ones, which start the present server.
 */
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { etiquetaAnterior, extraer } from './anterior/etiqueta.ts'

const raiz = fileURLToPath(new URL('../', import.meta.url))
const DEL_SDK = ['sdk', 'test/sdk']

function correr(carpeta: string, programa: string, ...args: string[]) {
  // Their own binaries first: npm has put ours on the PATH.
  const PATH = join(carpeta, 'node_modules/.bin') + delimiter + (process.env.PATH ?? '')
  const { status } = spawnSync(programa, args, { cwd: carpeta, stdio: 'inherit', env: { ...process.env, PATH } })
  if (status !== 0) throw new Error(`${[basename(programa), ...args].join(' ')} failed`)
}
const node = (carpeta: string, ...args: string[]) => correr(carpeta, process.execPath, ...args)

/** Our packages, but that folder's own SDK. */
async function enlazarPaquetes(carpeta: string) {
  const paquetes = join(carpeta, 'node_modules')
  await mkdir(join(paquetes, '@guias'), { recursive: true })
  for (const nombre of await readdir(join(raiz, 'node_modules'))) {
    if (nombre === '@guias' || nombre === '.cache') continue
    await symlink(join(raiz, 'node_modules', nombre), join(paquetes, nombre))
  }
  await symlink(join(carpeta, 'sdk'), join(paquetes, '@guias/sdk'))
}

/** The release as it was, with its SDK generated from its own contract by its own tools. */
async function levantar(etiqueta: string, carpeta: string) {
  await mkdir(carpeta)
  await extraer(etiqueta, carpeta)
  const cerrojo = (donde: string) => readFile(join(donde, 'package-lock.json'), 'utf8')
  if ((await cerrojo(carpeta)) === (await cerrojo(raiz))) await enlazarPaquetes(carpeta)
  else correr(carpeta, 'npm', 'ci', '--include=dev', '--no-audit', '--no-fund')
  node(carpeta, 'scripts/generar.ts')
}

async function mezclar(antes: string, ahora: string) {
  const ajenas = new Set(['node_modules', '.git', '.datos', 'coverage'])
  cpSync(raiz, ahora, { recursive: true, filter: (ruta) => !ajenas.has(basename(ruta)) })
  for (const ruta of DEL_SDK) {
    await rm(join(ahora, ruta), { recursive: true })
    cpSync(join(antes, ruta), join(ahora, ruta), {
      recursive: true,
      filter: (una) => basename(una) !== 'node_modules',
    })
  }
  // Helpers that are gone since.
  cpSync(join(antes, 'test'), join(ahora, 'test'), { recursive: true, force: false })
  await enlazarPaquetes(ahora)
  // What vitest provides is declared where it is provided.
  const incluir = { extends: './tsconfig.json', include: [...DEL_SDK.slice(1), 'test/preparacion.ts'] }
  await writeFile(join(ahora, 'tsconfig.anterior.json'), JSON.stringify(incluir))
}

async function probar(etiqueta: string) {
  const carpeta = await mkdtemp(join(await realpath(tmpdir()), 'guias-anterior-'))
  await chmod(carpeta, 0o755) // or root's PostgreSQL would keep its data elsewhere
  try {
    const [antes, ahora] = [join(carpeta, 'antes'), join(carpeta, 'ahora')]
    await levantar(etiqueta, antes)
    await mezclar(antes, ahora)
    console.log(`The SDK of ${etiqueta} and its tests, over the present server:`)
    node(ahora, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.anterior.json')
    // Without a filter of tags: what needs minutes, too.
    node(ahora, 'node_modules/vitest/vitest.mjs', 'run', ...DEL_SDK.slice(1))
  } finally {
    await rm(carpeta, { recursive: true, force: true })
  }
}

const etiqueta = await etiquetaAnterior()
if (etiqueta) await probar(etiqueta)
else console.log('No earlier release to test: no tag v* before this commit.')
