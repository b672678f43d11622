import type { Authenticators, Identities, LookUp } from '../../api/http/identity.ts'
import { readRange } from '../../api/http/network.ts'
import { isDistributed } from '../../data/db.ts'
import { type GroupOwner, Groups } from '../../data/queue/groups.ts'
import { isToken, tokenHashText } from '../../platform/codes/token.ts'
import { presentRates } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { findPersonaSesiones, isOpen, personaIdentity } from '../equipo/sesion.ts'
import { type FilaSesion, findRepartidorSesiones } from '../repartidores/repartidor.ts'
import { findLlaves, isLlaveActive, isPresentedLlave, leerLlave, type OwnedLlaveRow } from './llave.ts'
import { RowCache } from './recordadas.ts'

/** Maximum number of rows of a statement. A statement with more rows would delay other requests noticeably. */
const KEYS_PER_STATEMENT = 250
/** Maximum number of concurrent statements. */
const CONCURRENCY = 2

/**
 * Milliseconds for which a known key stays valid while its database is unreachable. Used only if merchants' rows are on
 * other machines, which may still be reachable. A key cannot be revoked meanwhile, unless only this process is cut off.
 */
const GRACE_MS = 60_000

const sinMas: LookUp = (leer) => leer()

/** Creates the function that reads a row by its key. Simultaneous calls share a statement. */
function groupReads<Fila>(leer: (claves: readonly string[]) => Promise<ReadonlyMap<string, Fila>>) {
  const groups = new Groups<GroupOwner, string, Fila | undefined>({
    max: KEYS_PER_STATEMENT,
    concurrency: CONCURRENCY,
    juntos: () => 'todas',
    async perform(requests) {
      const claves = requests.flatMap(({ datos }) => datos)
      const rows = await leer([...new Set(claves)])
      return claves.map((clave) => rows.get(clave))
    },
    isSingleOwnerError: () => false,
  })
  return async (clave: string): Promise<Fila | undefined> => (await groups.request({ clave }, [clave]))[0]
}

/**
 * Creates an authenticator for each security scheme of the contract.
 * @param nowMs monotonic clock, in milliseconds
 */
export function createAuthenticators(
  { db, clock, usages }: Pick<Deps, 'db' | 'clock' | 'usages'>,
  nowMs = () => performance.now(),
): Authenticators {
  const leerFila = groupReads((ids) => findLlaves(db, ids))
  const graceMs = isDistributed(db) ? GRACE_MS : 0
  const llaves = new RowCache(
    nowMs,
    (texto) => {
      const llaveParts = leerLlave(texto)
      if (!llaveParts) return undefined
      return async (requested) => {
        const fila = await leerFila(llaveParts.id)
        const ahora = clock()
        // A key that has ended counts as unknown, so that its requests count against the rate of the client's network.
        if (!fila || !isPresentedLlave(fila, llaveParts) || !isLlaveActive(fila, ahora)) return undefined
        if (requested) usages.record(fila, ahora)
        return { fila, identity: identityOf(fila) }
      }
    },
    graceMs,
  )
  /** Identities of sessions by their tokens. A session that has ended counts as unknown. */
  const createSesionReader = <Fila, SesionIdentity extends { vence_en: Date; inactiva_en?: Date }>(
    buscar: (huellas: readonly string[]) => Promise<ReadonlyMap<string, Fila>>,
    identityOf: (fila: Fila) => SesionIdentity,
  ) => {
    const leerSesion = groupReads(buscar)
    const ifOpen = (identity: SesionIdentity | undefined) =>
      identity && isOpen({ inactiva_en: identity.vence_en, ...identity }, clock()) ? identity : undefined
    const sesionCache = new RowCache(nowMs, (token) => {
      if (!isToken(token)) return undefined
      return async () => {
        const fila = await leerSesion(tokenHashText(token))
        return ifOpen(fila && identityOf(fila))
      }
    })
    const leer = async (token: string, lookUp = sinMas) => ifOpen(await sesionCache.leer(token, lookUp))
    return { knows: (token: string) => sesionCache.knows(token), leer }
  }
  const sesiones = createSesionReader((huellas) => findRepartidorSesiones(db, huellas), sesionIdentity)
  const personaSesiones = createSesionReader((huellas) => findPersonaSesiones(db, huellas), personaIdentity)

  const verifyLlave = async (texto: string, lookUp: LookUp) => {
    const entry = await llaves.leer(texto, lookUp)
    return entry && isLlaveActive(entry.fila, clock()) ? entry.identity : undefined
  }

  return {
    knows: (texto) => llaves.knows(texto) || sesiones.knows(texto) || personaSesiones.knows(texto),
    identify(texto) {
      const llaveParts = leerLlave(texto)
      return llaveParts && `llave_${llaveParts.id}`
    },
    async llaveDeComercio(texto, lookUp = sinMas) {
      const identity = await verifyLlave(texto, lookUp)
      return identity && 'comercio' in identity ? identity : undefined
    },
    async llaveDeOperacion(texto, lookUp = sinMas) {
      const identity = await verifyLlave(texto, lookUp)
      return identity && 'operador' in identity ? identity : undefined
    },
    sesionDePersona: personaSesiones.leer,
    sesionDeRepartidor: sesiones.leer,
  }
}

/**
 * Returns the identity of a key's row. Called once for each time that the row is read, because `Limits` caches data by
 * identity.
 */
function identityOf(fila: OwnedLlaveRow): Identities['llaveDeComercio' | 'llaveDeOperacion'] {
  const { id: llave, dueno, nombre, demostracion } = fila
  const ranges = fila.redes.map(readRange)
  if (fila.tipo === 'oper')
    return { operadorId: fila.operador_id, operador: dueno, llave, alcances: fila.alcances, ranges, demostracion }
  return {
    comercioId: fila.comercio_id,
    comercio: dueno,
    modo: fila.tipo,
    llave,
    alcances: fila.alcances,
    nombre,
    pais: fila.pais,
    estricto: fila.estricto === true,
    ritmos: presentRates(fila),
    vence_en: fila.vence_en,
    ranges,
    demostracion,
  }
}

/** Returns the identity of a session's row. */
function sesionIdentity(fila: FilaSesion): Identities['sesionDeRepartidor'] {
  const { repartidor_id: repartidorId, repartidor, nombre, hash: sesion, vence_en, demostracion } = fila
  return { repartidorId, repartidor, nombre, sesion, vence_en, demostracion }
}
