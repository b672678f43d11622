import type { Authenticators, Identities, LookUp } from '../../api/http/identity.ts'
import { readRange } from '../../api/http/network.ts'
import { isDistributed } from '../../data/db.ts'
import { type GroupOwner, Groups } from '../../data/queue/groups.ts'
import { isToken, tokenHashText } from '../../platform/codes/token.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { presentRates } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { findPersonaSesiones, isOpen, personaIdentity } from '../equipo/sessions/sesion.ts'
import { findLlaves, isLlaveActive, isPresentedLlave, type OwnedLlaveRow, readLlave } from '../identities/llave.ts'
import { findRepartidorSesiones, type SesionRow } from '../identities/repartidor.ts'
import { RowCache } from './cachedLlaves.ts'

/** Maximum number of rows of a statement. A statement with more rows would delay other requests noticeably. */
const KEYS_PER_STATEMENT = 250
/** Maximum number of concurrent statements. */
const CONCURRENCY = 2

/**
 * Milliseconds for which a known key stays valid while its database is unreachable. Used only if merchants' rows are on
 * other machines, which may still be reachable. A key cannot be revoked meanwhile, unless only this process is cut off.
 */
const GRACE_MS = MINUTE_MS

const lookUpDirectly: LookUp = (read) => read()

/** Creates the function that reads a row by its key. Simultaneous calls share a statement. */
function groupReads<Row>(read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Row>>) {
  const groups = new Groups<GroupOwner, string, Row | undefined>({
    max: KEYS_PER_STATEMENT,
    concurrency: CONCURRENCY,
    groupKey: () => 'todas',
    async perform(requests) {
      const keys = requests.flatMap(({ datos }) => datos)
      const rows = await read([...new Set(keys)])
      return keys.map((key) => rows.get(key))
    },
    isSingleOwnerError: () => false,
  })
  return async (clave: string): Promise<Row | undefined> => (await groups.request({ clave }, [clave]))[0]
}

/**
 * Creates an authenticator for each security scheme of the contract.
 * @param nowMs monotonic clock, in milliseconds
 */
export function createAuthenticators(
  { db, clock, usages }: Pick<Deps, 'db' | 'clock' | 'usages'>,
  nowMs = () => performance.now(),
): Authenticators {
  const readLlaveRow = groupReads((ids) => findLlaves(db, ids))
  const graceMs = isDistributed(db) ? GRACE_MS : 0
  const llaves = new RowCache(
    nowMs,
    (text) => {
      const llaveParts = readLlave(text)
      if (!llaveParts) return undefined
      return async (requested) => {
        const row = await readLlaveRow(llaveParts.id)
        const now = clock()
        // A key that has ended counts as unknown, so that its requests count against the rate of the client's network.
        if (!row || !isPresentedLlave(row, llaveParts) || !isLlaveActive(row, now)) return undefined
        if (requested) usages.record(row, now)
        return { row, identity: identityOf(row) }
      }
    },
    graceMs,
  )
  /** Identities of sessions by their tokens. A session that has ended counts as unknown. */
  const createSesionReader = <Row, SesionIdentity extends { vence_en: Date; inactiva_en?: Date }>(
    find: (digests: readonly string[]) => Promise<ReadonlyMap<string, Row>>,
    identityOf: (row: Row) => SesionIdentity,
  ) => {
    const readSesion = groupReads(find)
    const ifOpen = (identity: SesionIdentity | undefined) =>
      identity && isOpen({ inactiva_en: identity.vence_en, ...identity }, clock()) ? identity : undefined
    const sesionCache = new RowCache(nowMs, (token) => {
      if (!isToken(token)) return undefined
      return async () => {
        const row = await readSesion(tokenHashText(token))
        return ifOpen(row && identityOf(row))
      }
    })
    const read = async (token: string, lookUp = lookUpDirectly) => ifOpen(await sesionCache.read(token, lookUp))
    return { knows: (token: string) => sesionCache.knows(token), read }
  }
  const sesiones = createSesionReader((digests) => findRepartidorSesiones(db, digests), sesionIdentity)
  const personaSesiones = createSesionReader((digests) => findPersonaSesiones(db, digests), personaIdentity)

  const verifyLlave = async (text: string, lookUp: LookUp) => {
    const entry = await llaves.read(text, lookUp)
    return entry && isLlaveActive(entry.row, clock()) ? entry.identity : undefined
  }

  return {
    knows: (text) => llaves.knows(text) || sesiones.knows(text) || personaSesiones.knows(text),
    identify(text) {
      const llaveParts = readLlave(text)
      return llaveParts && `llave_${llaveParts.id}`
    },
    async llaveDeComercio(text, lookUp = lookUpDirectly) {
      const identity = await verifyLlave(text, lookUp)
      return identity && 'comercio' in identity ? identity : undefined
    },
    async llaveDeOperacion(text, lookUp = lookUpDirectly) {
      const identity = await verifyLlave(text, lookUp)
      return identity && 'operador' in identity ? identity : undefined
    },
    sesionDePersona: personaSesiones.read,
    sesionDeRepartidor: sesiones.read,
  }
}

/**
 * Returns the identity of a key's row. Called once for each time that the row is read, because `Limits` caches data by
 * identity.
 */
function identityOf(row: OwnedLlaveRow): Identities['llaveDeComercio' | 'llaveDeOperacion'] {
  const { id: llave, dueno, nombre, demostracion } = row
  const ranges = row.redes.map(readRange)
  if (row.tipo === 'oper')
    return { operadorId: row.operador_id, operador: dueno, llave, alcances: row.alcances, ranges, demostracion }
  return {
    comercioId: row.comercio_id,
    comercio: dueno,
    modo: row.tipo,
    llave,
    alcances: row.alcances,
    nombre,
    pais: row.pais,
    estricto: row.estricto === true,
    ritmos: presentRates(row),
    vence_en: row.vence_en,
    ranges,
    demostracion,
  }
}

function sesionIdentity(row: SesionRow): Identities['sesionDeRepartidor'] {
  const { repartidor_id: repartidorId, repartidor, nombre, hash: sesion, vence_en, demostracion } = row
  return { repartidorId, repartidor, nombre, sesion, vence_en, demostracion }
}
