import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nuevoCodigoDeComercio } from './comercios/comercio.ts'
import type { Deps } from './deps.ts'
import { buscarLlave, estaVigente, guardarLlave, leerLlave } from './llaves/llave.ts'
import { crearOperador } from './operadores/operador.ts'

interface Demo {
  base_url: string
  /** com_… */
  comercio: string
  /** A test key of that merchant. */
  llave: string
  /** An operator's key. */
  llave_operaciones: string
}

/**
 * The embedded default's first start makes a demo merchant and writes `DATA_DIR/demo.json` (mode 0600), so that the first
 * request needs nothing else. Later starts keep it, as long as its keys work.
 */
export async function asegurarDemo(
  deps: Deps,
  dataDir: string,
  base_url: string,
): Promise<{ demo: Demo; consola: string[] }> {
  const archivo = join(dataDir, 'demo.json')
  const guardado = await leer(archivo)
  const sirve = guardado !== undefined && (await valen(deps, guardado))
  const demo = sirve ? { ...guardado, base_url } : await crear(deps, base_url)
  if (!sirve || guardado.base_url !== base_url) {
    await writeFile(`${archivo}.nuevo`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
    await rename(`${archivo}.nuevo`, archivo)
  }
  return { demo, consola: presentar(demo, archivo) }
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

async function crear({ db, reloj, nuevoId }: Deps, base_url: string): Promise<Demo> {
  const comercio = await (await db.prisma()).comercio.create({
    data: { ...nuevoId(), comercio: nuevoCodigoDeComercio(), nombre: 'Comercio de demostración' },
  })
  const { llave } = await guardarLlave(db, reloj(), {
    comercioId: comercio.id,
    comercio: comercio.comercio,
    modo: 'test',
  })
  const operador = await crearOperador(db, nuevoId(), 'Operador de demostración')
  return { base_url, comercio: comercio.comercio, llave, llave_operaciones: operador.llave }
}

const EJEMPLO = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  lat: 14.63077,
  lng: -90.60711,
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
}

const presentar = ({ base_url, llave }: Demo, archivo: string) => [
  `  Llave de prueba ${llave}`,
  `                 (también en ${archivo}, con la de operaciones)`,
  '',
  'Su primera guía, en otra terminal:',
  `  curl -X POST ${base_url}/api/v1/guias -H 'Authorization: Bearer ${llave}' -H 'Content-Type: application/json' -d '${JSON.stringify(EJEMPLO)}'`,
]
