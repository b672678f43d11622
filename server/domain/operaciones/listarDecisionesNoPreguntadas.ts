import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { DecisionNoPreguntada, Modo } from '../../generated/contract/types/index.ts'
import { OF_ALL_MERCHANTS } from '../guias/list.ts'
import type { Handler } from '../operation.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import { presentOperacionGuias } from './guia.ts'

/** Maximum guides listed. */
const MAX_LISTED = 100
/** Maximum guides with an open decision that are read in each part of the data. */
const MAX_READ = 10_000

type Pregunta = DecisionNoPreguntada['pregunta']
type UnaskedRow = GuiaInJson &
  Pick<GuiaRow, 'id' | 'custodio'> & {
    comercio: string
    pregunta: Pick<Pregunta, 'estado' | 'motivo'>
    pregunta_en: Date
  }

/** Reads guides with an open decision from their partial index. Skips a message about an earlier decision. */
const UNASKED = statement<{ modo: Modo }, UnaskedRow>(
  'operaciones.unasked',
  'part',
  `select ${GUIA_COLUMNS}, g.id, g.custodio, c.comercio, m.creado_en as pregunta_en,
     json_build_object('estado', m.estado, 'motivo', m.motivo) as pregunta
   from (
     select * from guia where decision ->> 'estado' = 'pendiente' and modo = :modo and ${OF_ALL_MERCHANTS}
     order by id desc limit ${MAX_READ}) g
   cross join lateral (
     select estado, motivo, creado_en, decision_secuencia from mensaje
     where comercio_id = g.comercio_id and modo = g.modo and guia_id = g.id and tipo = 'solicitud_decision'
     order by numero desc limit 1) m
   join comercio c on c.id = g.comercio_id
   where m.estado in ('fallido', 'dudoso') and not exists (
     select from evento e where e.comercio_id = g.comercio_id and e.modo = g.modo and e.guia_id = g.id
       and e.secuencia > m.decision_secuencia and e.tipo = 'guia.decision_pendiente')
   order by g.id desc limit ${MAX_LISTED + 1}`,
  { plan: 'indexed' },
)

export const listarDecisionesNoPreguntadas: Handler<'listarDecisionesNoPreguntadas'> = async (
  { query, ...caller },
  deps,
) => {
  const { modo = 'live' } = query ?? {}
  const read = await queryAllParts(deps.db, (part) => part.query(UNASKED, { modo }))
  const rows = read.toSorted((row, other) => (row.id < other.id ? 1 : -1))
  const guiaViews = await presentOperacionGuias(deps, rows.slice(0, MAX_LISTED))
  const datos = guiaViews.map((guiaView, i) => {
    const { pregunta, pregunta_en } = rows[i]!
    return { ...guiaView, pregunta: { ...pregunta, creado_en: pregunta_en.toISOString() } }
  })
  await deps.bitacora.recordRead(caller, {
    accion: 'listarDecisionesNoPreguntadas',
    despues: { guias: datos.length },
  })
  return { status: 200, body: { datos, hay_mas: rows.length > MAX_LISTED } }
}
