import { type Db, statement } from '../../data/db.ts'
import { queryByComercio } from '../../data/partQueries.ts'
import type { TipoDeEvento } from '../../generated/contract/types/index.ts'
import { currentSpan, inSpan, isTracing } from '../../platform/tracing.ts'
import { idsOf, type MensajeKey } from './row.ts'

const TRACES = statement<{ ids: readonly string[] }, { id: string; traza: string | null }>(
  'mensajes.traces',
  'part',
  `select m.id, (select v.traza from evento v where v.comercio_id = m.comercio_id and v.modo = m.modo
     and v.guia_id = m.guia_id and v.registrado_en <= m.creado_en order by v.secuencia desc limit 1) as traza
   from mensaje m where m.id = any(:ids::uuid[]) and m.tipo = 'solicitud_ubicacion'`,
)

/**
 * Runs a statement about messages that writes events of type `tipo`. Outside a request, such an event joins the trace
 * of the event that caused the message. Messages of several traces then need one statement per trace. Without tracing
 * all messages use one statement, and no trace is read.
 */
export async function inTracesOf<M extends MensajeKey, T>(
  db: Db,
  type: TipoDeEvento,
  mensajes: readonly M[],
  run: (mensajes: readonly M[]) => Promise<T[]>,
): Promise<T[]> {
  if (!isTracing()) return run(mensajes)
  const attributes = { 'guias.tipo': type }
  if (currentSpan()) return inSpan('event', { attributes }, () => run(mensajes))
  const rows = await queryByComercio(db, mensajes, ({ query }, keys) => query(TRACES, { ids: idsOf(keys) }))
  const traces = new Map(rows.map(({ id, traza }) => [id, traza]))
  const results: T[] = []
  // Only requests for a location write an event. Other messages have no trace here.
  for (const [parent, traceMensajes] of Map.groupBy(mensajes, ({ id }) => traces.get(id)))
    results.push(
      ...(await (parent === undefined
        ? run(traceMensajes)
        : inSpan('event', { parent, attributes }, () => run(traceMensajes)))),
    )
  return results
}
