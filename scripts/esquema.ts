/**
 * What was written for the schema of before, over the one that stands here: the tests of operations of the commit before the
 * last migration, on databases made by the present migrations, as processes of both versions meet while one replaces the
 * other. `npm run test:esquema`; it says so where there is nothing to try it from.
 */
import { chmod, cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { correr } from './anterior/construir.ts'
import { anteriorALaMigracion, construirAnterior, MIGRACIONES } from './anterior/migracion.ts'

const raiz = fileURLToPath(new URL('../', import.meta.url))
/** Slices whose tests start no processes of their own: those would prepare themselves anew. */
const DE_OPERACIONES = [
  ...['comercios', 'etiquetas', 'eventos', 'guias', 'listas', 'llaves', 'mensajeria', 'operaciones'],
  ...['operadores', 'pruebasEntrega', 'repartidores', 'simulador', 'ubicacion', 'webhooks'],
]

/** A copy of that tree whose migrations are the present ones. */
async function conEsquemaPresente(anterior: string, carpeta: string): Promise<void> {
  await cp(anterior, carpeta, { recursive: true, filter: (ruta) => basename(ruta) !== 'node_modules' })
  await symlink(join(anterior, 'node_modules'), join(carpeta, 'node_modules'))
  await rm(join(carpeta, MIGRACIONES), { recursive: true })
  await cp(join(raiz, MIGRACIONES), join(carpeta, MIGRACIONES), { recursive: true })
}

async function probar(anterior: string): Promise<void> {
  const carpeta = await mkdtemp(join(await realpath(tmpdir()), 'guias-esquema-'))
  try {
    await chmod(carpeta, 0o755) // or root's PostgreSQL would keep its data elsewhere
    await conEsquemaPresente(anterior, carpeta)
    const donde = DE_OPERACIONES.map((slice) => `test/${slice}/`)
    const vitest = join(carpeta, 'node_modules/vitest/vitest.mjs')
    await correr(carpeta, process.execPath, vitest, 'run', '--tags-filter=!completo', ...donde)
  } finally {
    await rm(carpeta, { recursive: true, force: true })
  }
}

const anterior = await anteriorALaMigracion()
if ('falta' in anterior) console.log(`Not tried: ${anterior.falta}.`)
else {
  console.log(`The tests of ${anterior.commit.slice(0, 7)}, with ${anterior.migracion}:`)
  await probar(await construirAnterior(anterior))
}
