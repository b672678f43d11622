import { MAQUINA_DE_ESTADOS } from '../contrato/generado/vocabulario.ts'
import { sentencia } from '../db.ts'
import { foto } from '../eventos/evento.ts'
import type { DepsDeTrabajo } from '../trabajos.ts'
import { repartir } from '../webhooks/reparto.ts'

const PENDIENTES = sentencia(
  'mensajes.pendientes',
  `select id from mensaje where estado = 'pendiente' order by creado_en limit $1`,
)

/** Messages that no channel has received yet, oldest first. */
export const pendientesDeBuzon = ({ db }: DepsDeTrabajo, cuantas: number) =>
  db.consultar<{ id: string }>(PENDIENTES, [cuantas])

/**
 * Hands messages over, each once: only who finds it pending moves it on, and in the same statement the guide takes its next
 * sequence and the event is written; a second one of the same guide waits for the next round. A guide that no longer needs the answer (final, or confirmed meanwhile) asks nothing.
 */
const ENTREGAR = sentencia(
  'mensajes.entregar',
  `with q as (
     select distinct on (m.comercio_id, m.modo, m.guia_id) m.id as mensaje_id,
       g.ubicacion_estado = 'solicitada' and not g.estado = any($3::text[]) as hace_falta
     from mensaje m join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
     where m.id = any($1::uuid[]) and m.estado = 'pendiente' order by m.comercio_id, m.modo, m.guia_id, m.numero
   ), m as (
     update mensaje set estado = case when hace_falta then 'enviado' else 'descartado' end,
       enviado_en = case when hace_falta then $2::timestamptz end
     from q where mensaje.id = q.mensaje_id and mensaje.estado = 'pendiente' returning mensaje.*
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = $2 from m
     where m.estado = 'enviado' and guia.comercio_id = m.comercio_id and guia.modo = m.modo and guia.id = m.guia_id
     returning guia.*
   ), e as (
     insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, estado_anterior, foto, ocurrido_en,
       registrado_en)
     select comercio_id, modo, id, secuencia, guia, 'ubicacion.solicitada', estado, estado, ${foto('g')}, $2, $2 from g
     returning *
   )
   ${repartir('e')}`,
)

/** The mailbox takes everything; doing it twice does nothing. */
export async function entregarAlBuzon(
  { db, reloj, avisarTrabajo }: DepsDeTrabajo,
  ids: readonly string[],
): Promise<void> {
  const entregas = await db.consultar(ENTREGAR, [ids, reloj(), MAQUINA_DE_ESTADOS.finales])
  if (entregas.length > 0) avisarTrabajo()
}
