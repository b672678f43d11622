/**
 * `npm run fuzz [-- target [seconds [seed]]]`: feeds a target, or each of them, with mutations of its seeds, led by the
 * blocks of code that they reach, and says which input breaks what must hold.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createRandom } from '../random.ts'
import { Cobertura } from './coverage.ts'
import { runFuzz } from './engine.ts'
import type { FuzzTarget } from './target.ts'

const BLANCOS: Record<string, { de: RegExp; load: () => Promise<{ blanco: FuzzTarget }> }> = {
  json: { de: /http\/strictJson/, load: () => import('./targets/json.ts') },
  enlacesDeMapas: { de: /maps\/links/, load: () => import('./targets/mapLinks.ts') },
  telefonos: { de: /platform\/telephones\//, load: () => import('./targets/telephones.ts') },
  cursores: { de: /lists\/cursor/, load: () => import('./targets/cursors.ts') },
  enlacesFirmados: { de: /archivos\/links|llaves\/llave/, load: () => import('./targets/signedLinks.ts') },
  jws: { de: /signing\/jws|jose\/|verificar|sdk\/dist/, load: () => import('./targets/jws.ts') },
  imagenes: { de: /images\/readImage|exifr/, load: () => import('./targets/images.ts') },
  csv: { de: /src\/csv/, load: () => import('./targets/csv.ts') },
}
const [targetName = 'todos', segundos = '7', semilla = String(Date.now() % 1_000_000)] = process.argv.slice(2)

/** One target, in a process of its own. */
async function runTarget(nombre: string): Promise<number> {
  const { de, load: cargar } = BLANCOS[nombre]!
  const cobertura = new Cobertura(de)
  const { blanco } = await cargar()
  const siguiente = createRandom(Number(semilla))
  const fin = performance.now() + Number(segundos) * 1_000
  const vuelta = await runFuzz(
    blanco,
    cobertura,
    (n) => Math.floor(siguiente() * n),
    () => performance.now() < fin,
  )
  const { entradas: inputCount, corpus, hallazgo } = vuelta
  console.log(`${nombre}: ${inputCount} inputs, ${vuelta.cobertura} of the code, ${corpus} kept (seed ${semilla})`)
  if (vuelta.cobertura.startsWith('0/')) {
    console.log('  no code was reached: the pattern of its files names none')
    return 1
  }
  if (!hallazgo) return 0
  console.log(`  broken by ${JSON.stringify(hallazgo.entrada.toString('latin1'))} (Latin-1)\n`, hallazgo.error)
  return 1
}

if (targetName === 'todos') {
  const correr = (nombre: string) =>
    spawnSync(process.execPath, [fileURLToPath(import.meta.url), nombre, segundos, semilla], {
      stdio: 'inherit',
      // What hangs behind a promise is ended here.
      timeout: (Number(segundos) + 120) * 1_000,
    })
  process.exitCode = Math.max(...Object.keys(BLANCOS).map((nombre) => correr(nombre).status ?? 1))
} else if (targetName in BLANCOS) {
  process.exitCode = await runTarget(targetName)
} else {
  console.error(`There is no target «${targetName}»: ${Object.keys(BLANCOS).join(', ')}, or todos.`)
  process.exitCode = 2
}
