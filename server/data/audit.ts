import { type Db, isDistributed, statement } from './db.ts'
import { queryReachableParts } from './partQueries.ts'

// On Citus, merchants' rows lie in several databases (parts). There a change's audit line is written in the change's
// part, in the same transaction. The part's table `bitacora` holds lines that wait to be collected. Code that reads or
// chains the audit record collects these lines first.

/** Maximum number of lines collected at a time. */
const MAX_LINES_PER_ROUND = 1_000

const COLUMNS = `id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes, despues,
  id_solicitud, red, creado_en`

const WAITING = statement<object, { id: string; line: string }>(
  'audit.waiting',
  'part',
  `select id, row_to_json(b)::text as line from (select ${COLUMNS} from bitacora order by id limit ${MAX_LINES_PER_ROUND}) b`,
)
/**
 * Appends collected lines to the audit record. Skips lines that an earlier call appended without deleting them from
 * their part.
 */
const COLLECT = statement<{ lines: string }>(
  'audit.collect',
  'central',
  `insert into bitacora (${COLUMNS}) select ${COLUMNS} from jsonb_populate_recordset(null::bitacora, :lines::jsonb)
   on conflict (id) do nothing`,
)
const FORGET = statement<{ ids: readonly string[] }>(
  'audit.forget',
  'part',
  'delete from bitacora where id = any(:ids::uuid[])',
)

/**
 * Moves the lines that wait in the parts into the audit record. Skips a part that cannot be reached; a later call
 * collects its lines.
 */
export async function collectAudit(db: Db): Promise<void> {
  if (!isDistributed(db)) return
  const anybody = db.central.asRole('guias_operacion')
  await queryReachableParts(anybody, async (there) => {
    for (let taken = MAX_LINES_PER_ROUND; taken === MAX_LINES_PER_ROUND; ) {
      const waiting = await there.query(WAITING)
      taken = waiting.length
      if (taken === 0) break
      await anybody.query(COLLECT, { lines: `[${waiting.map(({ line }) => line).join()}]` })
      await there.query(FORGET, { ids: waiting.map(({ id }) => id) })
    }
    return []
  })
}
