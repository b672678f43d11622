import type { Cursors } from '../../api/lists/cursor.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { collectAudit } from '../../data/audit.ts'
import { type Db, statement } from '../../data/db.ts'
import type { LineaDeBitacora, Modo } from '../../generated/contract/types/index.ts'
import { smallestId } from '../../platform/codes/codes.ts'
import { readInstant } from '../../platform/time/instant.ts'
import type { BitacoraRow } from './bitacora.ts'

type AuditRow = BitacoraRow & { comercio: string | null }

/** Filters for a page of audit lines; null matches any value. */
interface AuditConditions {
  comercio_id: string | null
  modo: Modo | null
  quien: string | null
  accion: string | null
  sobre: string | null
  desde: string | null
  hasta: string | null
}

const COLUMNS = `b.id, b.linea, b.comercio_id, b.modo, b.accion, b.quien_tipo, b.quien, b.llave, b.sobre_tipo, b.sobre,
  b.campos, b.antes, b.despues, b.id_solicitud, b.red, b.creado_en, c.comercio`

/**
 * Returns the SQL of a page whose first condition is the given one. Each first condition has its own statement, because
 * a single plan for all of them would scan every line.
 */
const buildQuery = (de: string) => `select ${COLUMNS} from (
   select * from bitacora where ${de} and (:modo::text is null or modo is null or modo = :modo)
     and (:accion::text is null or accion = :accion) and id >= :desde::uuid and id < :hasta::uuid
     and (:quien::text is null or quien = :quien) and (:sobre::text is null or sobre = :sobre)
     and (:comercio_id::uuid is null or comercio_id = :comercio_id)
   order by id desc limit :count) b left join comercio c on c.id = b.comercio_id order by b.id desc`

type AuditParams = Omit<AuditConditions, 'desde' | 'hasta'> & { desde: string; hasta: string; count: number }

const OF_ALL = statement<AuditParams, AuditRow>('bitacora.ofAll', 'central', buildQuery('true'))
const OF_COMERCIO = statement<AuditParams, AuditRow>(
  'bitacora.ofComercio',
  'central',
  buildQuery('comercio_id = :comercio_id::uuid'),
)
const OF_ACTOR = statement<AuditParams, AuditRow>('bitacora.ofActor', 'central', buildQuery('quien = :quien::text'))
const ABOUT = statement<AuditParams, AuditRow>('bitacora.about', 'central', buildQuery('sobre = :sobre::text'))

/** Selects the statement with the most selective index for the filters. */
const narrowestStatement = ({ sobre, quien, comercio_id }: AuditConditions) =>
  sobre !== null ? ABOUT : quien !== null ? OF_ACTOR : comercio_id !== null ? OF_COMERCIO : OF_ALL

/** Query parameters that both audit lists accept. */
export interface BitacoraQuery extends Pagination {
  accion?: string
  sobre?: string
  quien?: string
  creado_desde?: string
  creado_hasta?: string
}

const AFTER_EVERYTHING = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const boundOf = (instant: string | undefined) => (instant === undefined ? null : smallestId(readInstant(instant)!))

/** Reads a page of the audit record, newest line first. */
export function paginateBitacora<Item>(
  { db, cursors }: { db: Db; cursors: Cursors },
  caller: { operacion: string; dueno: string },
  { limite, cursor, creado_desde, creado_hasta, ...filters }: BitacoraQuery,
  de: Pick<AuditConditions, 'comercio_id' | 'modo'>,
  present: (row: AuditRow) => Item,
) {
  const { accion = null, sobre = null, quien: actor = null } = filters
  const desde = boundOf(creado_desde)
  const hasta = boundOf(creado_hasta)
  const conditions: AuditConditions = { ...de, quien: actor, accion, sobre, desde, hasta }
  return paginate(
    cursors,
    { ...caller, filters: { ...conditions } },
    { ...(limite ? { limite } : {}), ...(cursor ? { cursor } : {}) },
    {
      read: async (after, count) => {
        await collectAudit(db)
        const earlierThan = [
          (after?.[0] as string | undefined) ?? AFTER_EVERYTHING,
          hasta ?? AFTER_EVERYTHING,
        ].sort()[0]!
        const values = { ...conditions, desde: desde ?? smallestId(new Date(0)), hasta: earlierThan, count }
        return db.query(narrowestStatement(conditions), values)
      },
      positionOf: ({ id }) => [id],
      present,
    },
  )
}

/** Converts an audit line for operators. Omits its merchant. */
export const presentBitacoraLine = (row: BitacoraRow): LineaDeBitacora => ({
  linea: row.linea,
  accion: row.accion,
  quien: { tipo: row.quien_tipo, identificador: row.quien, llave: row.llave },
  sobre: row.sobre_tipo && row.sobre ? { tipo: row.sobre_tipo, identificador: row.sobre } : null,
  modo: row.modo,
  campos: row.campos,
  antes: row.antes,
  despues: row.despues,
  id_solicitud: row.id_solicitud,
  red: row.red,
  creado_en: row.creado_en.toISOString(),
})
