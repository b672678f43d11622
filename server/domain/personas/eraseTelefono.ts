import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { entrante, guia } from '../../generated/contract/prisma/client.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import { eraseSearchKeys } from '../busqueda/busqueda.ts'
import type { Deps } from '../deps.ts'
import { eraseNotas } from '../notas/nota.ts'
import { VALE } from '../pruebasEntrega/prueba.ts'
import { guiaKeyOf } from '../records/guiaFields.ts'
import type { GuiaKey } from './correccionesOfPersona.ts'
import { eraseAllPrevious } from './formerRecipients.ts'
import {
  DELETE_GUIA_DATA,
  DELETE_KEYS,
  de,
  deleteAnswersSql,
  type ErasedGuide,
  FIRST_ID,
  findGuiaIfAny,
  type GuiaQuery,
  HAS_ENDED,
  inEachPart,
  type PersonQuery,
  patternOf,
} from './persona.ts'
import { eraseRecogidas } from './pickupContacts.ts'

const MAX_GUIAS_PER_TRANSACTION = 100
/** Maximum number of bodies received from providers that one statement scans. */
const INCOMING_BATCH = 2_000

/**
 * SQL that erases the data of ended guides. Also deletes their proofs and files, the idempotency keys, and the content of
 * the responses of merchants' servers to webhooks.
 * @param condition SQL condition for the guides
 */
const eraseSql = (condition: string) => `with v as (
     select comercio_id, modo, id, guia from guia where ${condition} and ${HAS_ENDED}
     order by comercio_id, modo, id limit ${MAX_GUIAS_PER_TRANSACTION} for update
   ), p as (
     delete from prueba_entrega p using v where ${de('p')} returning p.comercio_id, p.modo, p.guia_id, p.rectificada_en
   ), b as (
     insert into prueba_borrada (comercio_id, modo, guia_id, borrado_en, motivo)
     select comercio_id, modo, guia_id, :now, 'peticion' from p where ${VALE}
   ), n as (
     delete from prueba_intento n using v where ${de('n')}
   ), a as (
     delete from archivo a using v where ${de('a')} returning a.archivo
   ), i as (
     update archivo_indice i set estado = 'borrando' from a where i.archivo = a.archivo
   ), ${DELETE_KEYS}, ${deleteAnswersSql()}, ${DELETE_GUIA_DATA}`

const ERASE = statement<PersonQuery & { now: Date }, ErasedGuide>(
  'personas.erase',
  'part',
  eraseSql('telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id)'),
)

const ERASE_ONE = statement<GuiaKey & { now: Date }, ErasedGuide>(
  'personas.eraseOne',
  'merchant',
  eraseSql('comercio_id = :comercio_id and modo = :modo and id = :guia_id'),
)

/**
 * Scans the next bodies received from providers. Deletes those that contain the telephone number, if they have already
 * been processed.
 */
const ERASE_INCOMING = statement<
  { pattern: string; desde: string },
  { deleted: number; pendientes: number; hasta: entrante['id'] | null }
>(
  'personas.eraseIncoming',
  'central',
  `with v as (
     select id, hecho_en, cuerpo ~ :pattern as own from entrante where id > :desde order by id limit ${INCOMING_BATCH}
   ), d as (
     delete from entrante e using v where e.id = v.id and v.own and v.hecho_en is not null returning 1
   )
   select (select count(*)::int from d) as deleted, count(*) filter (where own and hecho_en is null)::int as pendientes,
     (select id from v order by id desc limit 1) as hasta from v`,
)

const ONGOING = statement<PersonQuery, Pick<guia, 'guia'>>(
  'personas.ongoing',
  'central',
  `select guia from guia where telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id)
   order by id`,
)
const REPARTIDORES = statement<Pick<PersonQuery, 'telefono'>, { repartidor: string }>(
  'personas.repartidores',
  'central',
  'select repartidor from repartidor where telefono = :telefono order by id',
)

/** Result of an erasure: the erased data, and the data that remains. */
export interface Erasure {
  guias: number
  /** Number of guides that now have another telephone. Only this person's values were erased in them. */
  anteriores: number
  /** Codes of those guides that lost their metadata, because they were created with this telephone. */
  sin_metadatos: string[]
  /** Number of guides of other recipients in whose pickup, present or former, the telephone stood. */
  recogidas: number
  /** Number of deleted bodies that were received from the messaging provider. */
  entrantes: number
  /**
   * Number of bodies with the telephone number that are not processed yet. The next erasure deletes them, or the
   * retention job within a week.
   */
  entrantes_pendientes: number
  /** Codes of the guides that have not ended, and have the telephone of the recipient or of the pickup. */
  en_curso: string[]
  /** Identifiers of the couriers with this telephone number. */
  repartidores: string[]
}

type ErasureDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'bitacora'>

/**
 * Erases the data of ended guides with a telephone number, and what guides with another telephone still store about it.
 * Each transaction erases one batch and writes its audit line. After an interruption, the next call continues with the
 * remaining guides. The sweeper later deletes the files that no row names any more.
 */
export async function eraseTelefono(deps: ErasureDeps, actor: Actor, person: PersonQuery): Promise<Erasure> {
  const { anteriores, sin_metadatos } = await eraseAllPrevious(deps, actor, person)
  const guiaCounts = await inEachPart(deps.db, person, (db) => eraseOwnGuias({ ...deps, db }, actor, person))
  const guias = guiaCounts.reduce((sum, erased) => sum + erased, 0)
  const { recogidas, ongoing } = await eraseRecogidas(deps, actor, person)
  // The audit record gets a line even if there was nothing to erase.
  if (anteriores + guias + recogidas === 0) await deps.bitacora.record(deps.db.query, actor, lineOf(0))
  const { telefono, comercio_id } = person
  // The bodies received from providers belong to no merchant, so the erasure for one merchant keeps them.
  const incomingResult = comercio_id === null ? await eraseIncoming(deps, telefono) : { deleted: 0, pendientes: 0 }
  const ongoingGuias = await deps.db.query(ONGOING, person)
  const repartidores = await deps.db.query(REPARTIDORES, { telefono })
  return {
    guias,
    anteriores,
    sin_metadatos,
    recogidas,
    entrantes: incomingResult.deleted,
    entrantes_pendientes: incomingResult.pendientes,
    en_curso: [...new Set([...ongoingGuias.map(({ guia }) => guia), ...ongoing])],
    repartidores: repartidores.map(({ repartidor }) => repartidor),
  }
}

/**
 * Erases all personal data of one ended guide, for a person who stands in it without a telephone. A guide that this
 * database does not have is no error: the database may have been restored to an instant before its creation.
 */
export async function eraseGuia(deps: ErasureDeps, actor: Actor, { guia }: GuiaQuery): Promise<Erasure> {
  const row = await findGuiaIfAny(deps.db, { guia })
  const erasedGuias = row
    ? await eraseOneGuia({ ...deps, db: deps.db.forComercio(row.comercio_id) }, actor, guiaKeyOf(row))
    : []
  if (erasedGuias.length === 0) await deps.bitacora.record(deps.db.query, actor, guiaLineOf(guia, 0))
  return {
    guias: erasedGuias.length,
    anteriores: 0,
    sin_metadatos: [],
    recogidas: 0,
    entrantes: 0,
    entrantes_pendientes: 0,
    repartidores: [],
    en_curso: row && erasedGuias.length === 0 ? [guia] : [],
  }
}

const eraseOneGuia = ({ db, clock, bitacora }: ErasureDeps, actor: Actor, key: GuiaKey): Promise<ErasedGuide[]> =>
  inTransaction(db, async (query) => {
    const erasedGuias = await query(ERASE_ONE, { ...key, now: clock() })
    if (erasedGuias.length > 0) {
      await eraseRest(query, erasedGuias)
      await bitacora.record(query, actor, guiaLineOf(erasedGuias[0]!.guia, erasedGuias.length))
    }
    return erasedGuias
  })

/** Deletes search keys and notes of guides that this transaction has erased. */
async function eraseRest(query: Query, erasedGuias: readonly ErasedGuide[]): Promise<void> {
  await eraseSearchKeys(query, erasedGuias)
  await eraseNotas(query, erasedGuias)
}

const lineOf = (guias: number) => ({ accion: 'olvidarPersona', campos: ['telefono'], despues: { guias } })
const guiaLineOf = (guia: string, guias: number) => ({
  accion: 'olvidarPersona',
  sobre: ['guia', guia] as const,
  campos: ['guia'],
  despues: { guias },
})

async function eraseOwnGuias({ db, clock, bitacora }: ErasureDeps, actor: Actor, person: PersonQuery): Promise<number> {
  let guias = 0
  for (let batchCount = MAX_GUIAS_PER_TRANSACTION; batchCount === MAX_GUIAS_PER_TRANSACTION; guias += batchCount) {
    batchCount = await inTransaction(db, async (query) => {
      const erasedGuias = await query(ERASE, { ...person, now: clock() })
      if (erasedGuias.length === 0) return 0
      await eraseRest(query, erasedGuias)
      await bitacora.record(query, actor, lineOf(erasedGuias.length))
      return erasedGuias.length
    })
  }
  return guias
}

async function eraseIncoming({ db }: ErasureDeps, telefono: string) {
  const pattern = patternOf(telefono)
  const total = { deleted: 0, pendientes: 0 }
  for (let desde: string | null = FIRST_ID; desde !== null; ) {
    const [step]: { deleted: number; pendientes: number; hasta: string | null }[] = await db.query(ERASE_INCOMING, {
      pattern,
      desde,
    })
    total.deleted += step!.deleted
    total.pendientes += step!.pendientes
    desde = step!.hasta
  }
  return total
}
