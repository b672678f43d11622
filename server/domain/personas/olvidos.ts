import { type Db, statement } from '../../data/db.ts'
import { inTurn } from '../../data/turns.ts'
import { Problema } from '../../platform/errors.ts'
import { FileStoreError, storeBusy } from '../../platform/files/store.ts'
import { seal, unseal } from '../../platform/sealing.ts'
import { DE_CONSOLA, type Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { type Olvidada, olvidarGuia, olvidarTelefono } from './olvidarTelefono.ts'
import type { DeQuien, DeUnaGuia } from './persona.ts'

// Requests to erase personal data are also kept in the file storage, sealed and numbered without gaps. A database that
// was restored from a backup may have missed some of them. The process carries them out again before it serves
// requests.

/** Days for which a request is kept: longer than the maximum age of backups (docs/operacion/backing-up.md). */
const DIAS = 62
const DIA = 86_400_000
/** Maximum requests that one run of the job deletes. */
const LOTE = 100

const ULTIMO = statement<object, { numero: number }>(
  'olvidos.ultimo',
  'select coalesce(max(numero), 0) as numero from olvido',
)
const HECHO = statement<{ numero: number; ahora: Date }>(
  'olvidos.hecho',
  'insert into olvido (numero, hecho_en) values (:numero, :ahora)',
)
const VIEJOS = statement<{ antes_de: Date }, { numero: number }>(
  'olvidos.viejos',
  `select numero from olvido where guardado and hecho_en < :antes_de order by hecho_en limit ${LOTE}`,
)
const BORRADOS = statement<{ numeros: readonly number[] }>(
  'olvidos.borrados',
  'update olvido set guardado = false where numero = any(:numeros::int[])',
)

type DepsDeOlvidos = Pick<Deps, 'db' | 'reloj' | 'secretos' | 'bitacora' | 'almacen' | 'log'>

/** Erases what a request names: a telephone number, or one guide. */
const olvidar = (deps: DepsDeOlvidos, quien: Quien, pedido: DeQuien | DeUnaGuia): Promise<Olvidada> =>
  'guia' in pedido ? olvidarGuia(deps, quien, pedido) : olvidarTelefono(deps, quien, pedido)

const claveDe = (numero: number) => `olvido_${String(numero).padStart(9, '0')}`
const leerUltimo = async ({ consultar }: Db) => (await consultar(ULTIMO))[0]!.numero

/**
 * Erases the stored data of a telephone number like {@link olvidarTelefono}, or of a guide like {@link olvidarGuia}. Also
 * records the request in the file storage, so that it is repeated if the database is restored from an older backup.
 * @throws Problema 503 if the file storage is unavailable; nothing is then erased
 */
export const olvidarPersona = (deps: DepsDeOlvidos, quien: Quien, pedido: DeQuien | DeUnaGuia): Promise<Olvidada> =>
  inTurn(deps.db, 'olvidos', async () => {
    const { db, secretos, almacen, reloj } = deps
    await repetir(deps)
    const numero = (await leerUltimo(db)) + 1
    const sellada = seal(secretos, 'olvidos', claveDe(numero), Buffer.from(JSON.stringify(pedido)))
    await almacen.guardar(claveDe(numero), sellada, 'application/octet-stream')
    const olvidada = await olvidar(deps, quien, pedido)
    await db.consultar(HECHO, { numero, ahora: reloj() })
    return olvidada
  })

/**
 * Carries out the erasures that the file storage has recorded and this database has not, because it was restored to an
 * earlier instant. Processes wait for each other only if there is one.
 * @returns number of erasures
 */
export const repetirOlvidos = async (deps: DepsDeOlvidos): Promise<number> => {
  const { db, almacen } = deps
  const falta = await almacen.existe(claveDe((await leerUltimo(db)) + 1))
  return falta ? inTurn(db, 'olvidos', () => repetir(deps)) : 0
}

async function repetir(deps: DepsDeOlvidos): Promise<number> {
  const { db, secretos, almacen, reloj, log } = deps
  const ultimo = await leerUltimo(db)
  let numero = ultimo + 1
  for (; await almacen.existe(claveDe(numero)); numero++) {
    const sellada = Buffer.concat(await (await almacen.leer(claveDe(numero))).toArray())
    const pedido: DeQuien | DeUnaGuia = JSON.parse(abrir(secretos, claveDe(numero), sellada))
    await olvidar(deps, DE_CONSOLA, pedido)
    await db.consultar(HECHO, { numero, ahora: reloj() })
  }
  const repetidos = numero - 1 - ultimo
  if (repetidos > 0) log.warn({ olvidos: repetidos }, 'erasures carried out again: the database had been restored')
  return repetidos
}

function abrir(secretos: Deps['secretos'], clave: string, sellada: Buffer): string {
  try {
    return unseal(secretos, 'olvidos', clave, sellada).toString()
  } catch (cause) {
    throw new FileStoreError(
      `La base se restauró a un momento anterior, y el borrado ${clave} que falta repetir no se puede leer: ${(cause as Error).message}. Ponga en MASTER_KEYS también la clave con la que se guardó.`,
      { cause },
    )
  }
}

/**
 * Runs {@link repetirOlvidos} before a process serves requests. If the storage is unavailable, the hourly job does it
 * later.
 * @param disponible false if the storage has just failed to answer; then it is not asked again, which could take
 *   seconds
 */
export async function repetirAntesDeServir(deps: DepsDeOlvidos, disponible: boolean): Promise<void> {
  try {
    if (!disponible) throw storeBusy(new Error('the storage did not answer the check at start'))
    await repetirOlvidos(deps)
  } catch (err) {
    if (!(err instanceof Problema)) throw err
    deps.log.error(
      { err },
      'nobody knows whether erasures have to be carried out again: the file storage is unavailable',
    )
  }
}

/**
 * Carries out what {@link repetirOlvidos} could not do at start, and deletes requests that are older than any backup.
 */
export async function cuidarOlvidos(deps: DepsDeOlvidos): Promise<void> {
  await repetirOlvidos(deps)
  const { db, almacen, reloj } = deps
  const viejos = await db.consultar(VIEJOS, { antes_de: new Date(reloj().getTime() - DIAS * DIA) })
  const numeros = viejos.map(({ numero }) => numero)
  for (const numero of numeros) await almacen.borrar(claveDe(numero))
  if (numeros.length > 0) await db.consultar(BORRADOS, { numeros })
}
