/**
 * Entry point of `npm run test:anterior`: tests the SDK of the last release, which merchants have installed, against
 * the current server. Takes `sdk/` and `test/sdk` from the release, and type-checks and runs them in a copy of this
 * tree. The helpers that these tests share (`test/entorno.ts`…) are the current ones, which start the current server.
 * Prints a message if no release exists yet.
 */
import { cpSync } from 'node:fs'
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { construir, correrEn, enlazarPaquetes } from './anterior/construir.ts'
import { etiquetaAnterior } from './anterior/etiqueta.ts'

const raiz = fileURLToPath(new URL('../', import.meta.url))
const DEL_SDK = ['sdk', 'test/sdk']

const node = (carpeta: string, ...args: string[]) => correrEn(carpeta, process.execPath, ...args)

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
  // Restores helpers that were deleted since the release. `force: false` keeps the current files.
  cpSync(join(antes, 'test'), join(ahora, 'test'), { recursive: true, force: false })
  await enlazarPaquetes(ahora)
  // `test/preparacion.ts` declares the types of the values that vitest provides to tests.
  const incluir = { extends: './tsconfig.json', include: [...DEL_SDK.slice(1), 'test/preparacion.ts'] }
  await writeFile(join(ahora, 'tsconfig.anterior.json'), JSON.stringify(incluir))
}

async function probar(etiqueta: string) {
  const carpeta = await mkdtemp(join(await realpath(tmpdir()), 'guias-anterior-'))
  await chmod(carpeta, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
  try {
    const [antes, ahora] = [join(carpeta, 'antes'), join(carpeta, 'ahora')]
    await construir(etiqueta, antes)
    await mezclar(antes, ahora)
    console.log(`Running the SDK of ${etiqueta} and its tests against the current server:`)
    await node(ahora, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.anterior.json')
    // No filter by tags, so that slow tests run too.
    await node(ahora, 'node_modules/vitest/vitest.mjs', 'run', ...DEL_SDK.slice(1))
  } finally {
    await rm(carpeta, { recursive: true, force: true })
  }
}

const etiqueta = await etiquetaAnterior()
if (etiqueta) await probar(etiqueta)
else console.log('No earlier release to test: no tag v* before this commit.')
