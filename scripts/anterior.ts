/**
 * The SDK that merchants have installed against the server that they are going to meet: the last release's `sdk/` and
 * `test/sdk`, type-checked and run over the server as it stands here. `npm run test:anterior`; it says so if there is no
 * release yet. Helpers that those tests share (`test/entorno.ts`…) are the present ones, which start the present server.
 */
import { cpSync } from 'node:fs'
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { construir, correr, enlazarPaquetes } from './anterior/construir.ts'
import { etiquetaAnterior } from './anterior/etiqueta.ts'

const raiz = fileURLToPath(new URL('../', import.meta.url))
const DEL_SDK = ['sdk', 'test/sdk']

const node = (carpeta: string, ...args: string[]) => correr(carpeta, process.execPath, ...args)

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
    await construir(etiqueta, antes)
    await mezclar(antes, ahora)
    console.log(`The SDK of ${etiqueta} and its tests, over the present server:`)
    await node(ahora, 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.anterior.json')
    // Without a filter of tags: what needs minutes, too.
    await node(ahora, 'node_modules/vitest/vitest.mjs', 'run', ...DEL_SDK.slice(1))
  } finally {
    await rm(carpeta, { recursive: true, force: true })
  }
}

const etiqueta = await etiquetaAnterior()
if (etiqueta) await probar(etiqueta)
else console.log('No earlier release to test: no tag v* before this commit.')
