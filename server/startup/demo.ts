import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { newComercioCode } from '../domain/comercios/comercio.ts'
import type { Deps } from '../domain/deps.ts'
import { findLlave, isLlaveActive, markDemoLlaves, readLlave, saveLlave } from '../domain/identities/llave.ts'
import { isCodeInUse, markDemoCode, saveRepartidor } from '../domain/identities/repartidor.ts'
import { saveOperadorWithLlave } from '../domain/operadores/operador.ts'

interface Demo {
  url: string
  /** Public id, `com_…`. */
  comercio: string
  /** Test key of that merchant. */
  llave: string
  /** Key of an operator. */
  llave_operaciones: string
  /** Code with which a courier signs in at `/repartidor`. */
  codigo_repartidor: string
}

const demoFileIn = (dataDir: string) => join(dataDir, 'demo.json')

/**
 * Creates a demo merchant at the first start of the embedded default, and writes `DATA_DIR/demo.json` (mode 0600). The
 * first request then needs no other preparation. Later starts keep the merchant as long as its keys work.
 * @returns the demo data, and lines for the console
 */
export async function ensureDemo(deps: Deps, dataDir: string, url: string): Promise<{ demo: Demo; console: string[] }> {
  const file = demoFileIn(dataDir)
  const guardado = await read(file)
  const isUsable = guardado !== undefined && (await areValid(deps, guardado))
  const llaves = isUsable ? guardado : await createDemo(deps)
  const codigo_repartidor = await currentCode(deps, guardado?.codigo_repartidor)
  const demo = { ...llaves, url, codigo_repartidor }
  await markDemo(deps, demo)
  if (!isDeepStrictEqual(demo, guardado)) {
    await writeFile(`${file}.nuevo`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
    await rename(`${file}.nuevo`, file)
  }
  return { demo, console: presentDemo(demo, file) }
}

/** Marks the keys and the code as valid on this machine alone, before the console shows them. */
async function markDemo(deps: Deps, { llave, llave_operaciones, codigo_repartidor }: Partial<Demo>): Promise<void> {
  await markDemoLlaves(deps.db, [llave ?? '', llave_operaciones ?? ''])
  await markDemoCode(deps, codigo_repartidor ?? '')
}

async function read(file: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Demo
  } catch {
    return undefined
  }
}

async function areValid({ db, clock }: Deps, { llave, llave_operaciones }: Demo): Promise<boolean> {
  const rows = await Promise.all(
    [llave, llave_operaciones].map((text) => findLlave(db, readLlave(text ?? '')?.id ?? '')),
  )
  return rows.every((row) => row !== undefined && isLlaveActive(row, clock()))
}

async function createDemo({ db, clock, newId }: Deps): Promise<Pick<Demo, 'comercio' | 'llave' | 'llave_operaciones'>> {
  const comercio = await db.prisma.comercio.create({
    data: { ...newId(), comercio: newComercioCode(), nombre: 'Comercio de demostración', pais: 'GT' },
  })
  const { llave } = await saveLlave(db, clock(), {
    comercioId: comercio.id,
    comercio: comercio.comercio,
    modo: 'test',
  })
  const operador = await saveOperadorWithLlave({ db, newId }, 'Operador de demostración')
  return { comercio: comercio.comercio, llave, llave_operaciones: operador.llave }
}

async function currentCode(deps: Deps, code: string | undefined): Promise<string> {
  if (code !== undefined && (await isCodeInUse(deps, code))) return code
  return (await saveRepartidor(deps, { nombre: 'Repartidor de demostración' })).codigo
}

const EXAMPLE = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  lat: 14.63077,
  lng: -90.60711,
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
}

const presentDemo = ({ url, llave, codigo_repartidor }: Demo, file: string) => [
  `  Llave de prueba ${llave}`,
  `                 (también en ${file}, con la de operaciones)`,
  `  Repartidor     ${url}/repartidor  código ${codigo_repartidor}`,
  '',
  'Su primera guía, en otra terminal:',
  `  export GUIAS_URL=${url} GUIAS_LLAVE=${llave}`,
  `  curl --fail-with-body "$GUIAS_URL/api/v1/guias" -H "Authorization: Bearer $GUIAS_LLAVE" -H 'Content-Type: application/json' -d '${JSON.stringify(EXAMPLE)}'`,
]
