import { type Db, esRepartida, sentencia } from '../db.ts'
import { askThoseThere } from './spread.ts'

// Where merchants' rows lie in parts, a change's line of the audit record is written in the change's part, in the same
// transaction: there `bitacora` is what waits to be collected. Whoever reads the record, or chains it, collects it first.

/** Lines that are taken at a time. */
const BATCH = 1_000

const COLUMNS = `id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes, despues,
  id_solicitud, red, creado_en`

const WAITING = sentencia<object, { id: string; line: string }>(
  'audit.waiting',
  `select id, row_to_json(b)::text as line from (select ${COLUMNS} from bitacora order by id limit ${BATCH}) b`,
  { alcance: 'parte' },
)
/** What was collected before, and not forgotten, is there already. */
const COLLECT = sentencia<{ lines: string }>(
  'audit.collect',
  `insert into bitacora (${COLUMNS}) select ${COLUMNS} from jsonb_populate_recordset(null::bitacora, :lines::jsonb)
   on conflict (id) do nothing`,
)
const FORGET = sentencia<{ ids: readonly string[] }>(
  'audit.forget',
  'delete from bitacora where id = any(:ids::uuid[])',
  { alcance: 'parte' },
)

/** Brings the lines that wait in the parts into the record. Those of a part that is away come another time. */
export async function collectAudit(db: Db): Promise<void> {
  if (!esRepartida(db)) return
  const anybody = db.central.como('guias_operacion')
  await askThoseThere(anybody, async (there) => {
    for (let taken = BATCH; taken === BATCH; ) {
      const waiting = await there.consultar(WAITING)
      taken = waiting.length
      if (taken === 0) break
      await anybody.consultar(COLLECT, { lines: `[${waiting.map(({ line }) => line).join()}]` })
      await there.consultar(FORGET, { ids: waiting.map(({ id }) => id) })
    }
    return []
  })
}
