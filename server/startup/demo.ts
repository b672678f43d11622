import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { nuevoCodigoDeComercio } from '../domain/comercios/comercio.ts'
import type { Deps } from '../domain/deps.ts'
import {
  buscarLlave,
  estaVigente,
  guardarLlave,
  leerLlave,
  marcarLlavesDeDemostracion,
} from '../domain/llaves/llave.ts'
import { guardarOperadorConLlave } from '../domain/operadores/operador.ts'
import { estaEnUso, guardarRepartidor, marcarCodigoDeDemostracion } from '../domain/repartidores/repartidor.ts'

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

const archivoDe = (dataDir: string) => join(dataDir, 'demo.json')

/**
 * Creates a demo merchant at the first start of the embedded default, and writes `DATA_DIR/demo.json` (mode 0600). The
 * first request then needs no other preparation. Later starts keep the merchant as long as its keys work.
 * @returns the demo data, and lines for the console
 */
export async function ensureDemo(deps: Deps, dataDir: string, url: string): Promise<{ demo: Demo; consola: string[] }> {
  const archivo = archivoDe(dataDir)
  const guardado = await leer(archivo)
  const sirve = guardado !== undefined && (await valen(deps, guardado))
  const llaves = sirve ? guardado : await crear(deps)
  const codigo_repartidor = await codigoVigente(deps, guardado?.codigo_repartidor)
  const demo = { ...llaves, url, codigo_repartidor }
  await marcar(deps, demo)
  if (!isDeepStrictEqual(demo, guardado)) {
    await writeFile(`${archivo}.nuevo`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
    await rename(`${archivo}.nuevo`, archivo)
  }
  return { demo, consola: presentar(demo, archivo) }
}

/** Marks the keys and the code as valid on this machine alone, before the console shows them. */
async function marcar(deps: Deps, { llave, llave_operaciones, codigo_repartidor }: Partial<Demo>): Promise<void> {
  await marcarLlavesDeDemostracion(deps.db, [llave ?? '', llave_operaciones ?? ''])
  await marcarCodigoDeDemostracion(deps, codigo_repartidor ?? '')
}

async function leer(archivo: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(archivo, 'utf8')) as Demo
  } catch {
    return undefined
  }
}

async function valen({ db, reloj }: Deps, { llave, llave_operaciones }: Demo): Promise<boolean> {
  const filas = await Promise.all(
    [llave, llave_operaciones].map((texto) => buscarLlave(db, leerLlave(texto ?? '')?.id ?? '')),
  )
  return filas.every((fila) => fila !== undefined && estaVigente(fila, reloj()))
}

async function crear({ db, reloj, nuevoId }: Deps): Promise<Pick<Demo, 'comercio' | 'llave' | 'llave_operaciones'>> {
  const comercio = await db.prisma.comercio.create({
    data: { ...nuevoId(), comercio: nuevoCodigoDeComercio(), nombre: 'Comercio de demostración', pais: 'GT' },
  })
  const { llave } = await guardarLlave(db, reloj(), {
    comercioId: comercio.id,
    comercio: comercio.comercio,
    modo: 'test',
  })
  const operador = await guardarOperadorConLlave({ db, nuevoId }, 'Operador de demostración')
  return { comercio: comercio.comercio, llave, llave_operaciones: operador.llave }
}

async function codigoVigente(deps: Deps, codigo: string | undefined): Promise<string> {
  if (codigo !== undefined && (await estaEnUso(deps, codigo))) return codigo
  return (await guardarRepartidor(deps, { nombre: 'Repartidor de demostración' })).codigo
}

const EJEMPLO = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  lat: 14.63077,
  lng: -90.60711,
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
}

const presentar = ({ url, llave, codigo_repartidor }: Demo, archivo: string) => [
  `  Llave de prueba ${llave}`,
  `                 (también en ${archivo}, con la de operaciones)`,
  `  Repartidor     ${url}/repartidor  código ${codigo_repartidor}`,
  '',
  'Su primera guía, en otra terminal:',
  `  export GUIAS_URL=${url} GUIAS_LLAVE=${llave}`,
  `  curl --fail-with-body "$GUIAS_URL/api/v1/guias" -H "Authorization: Bearer $GUIAS_LLAVE" -H 'Content-Type: application/json' -d '${JSON.stringify(EJEMPLO)}'`,
]
