import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { toJob } from '../../data/queue/jobRows.ts'
import { askByMerchant, askThoseThere } from '../../data/spread.ts'
import type { Estado } from '../../generado/contrato/tipos/index.ts'
import { MAQUINA_DE_ESTADOS } from '../../generado/contrato/vocabulario.ts'
import { currentTrace } from '../../platform/tracing.ts'
import { announceChange, isOfGuia, lockGuias, type NuevaEntrega } from './requestSql.ts'
import { type ClaveDeMensaje, type DepsDeMensajes, idsDe } from './row.ts'
import { inTracesOf } from './traces.ts'

const VENCIDOS = statement<{ ahora: Date; cuantas: number }, ClaveDeMensaje>(
  'mensajes.vencidos',
  `select id, comercio_id from mensaje where abierta and vence_en <= :ahora order by vence_en limit :cuantas`,
  { alcance: 'parte' },
)

/** Returns the open requests that have expired, as jobs. */
export const solicitudesVencidas = async (
  { db, reloj }: Pick<DepsDeMensajes, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> =>
  (await askThoseThere(db, ({ consultar }) => consultar(VENCIDOS, { ahora: reloj(), cuantas }))).map(toJob)

const VENCER = statement<
  { ids: readonly string[]; ahora: Date; finales: readonly Estado[]; traza: string | null },
  NuevaEntrega
>(
  'mensajes.vencer',
  `with p as (
     ${lockGuias('id = any(:ids::uuid[])')}
   ), m as (
     update mensaje set abierta = false from p
     where ${isOfGuia('mensaje')} and mensaje.id = any(:ids::uuid[]) and abierta and vence_en <= :ahora returning mensaje.*
   ), q as (
     select distinct comercio_id, modo, guia_id from m where not exists (
       select from mensaje o where o.comercio_id = m.comercio_id and o.modo = m.modo and o.guia_id = m.guia_id
         and o.tipo = 'solicitud_ubicacion' and o.abierta and (o.vence_en is null or o.vence_en > :ahora))
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :ahora), ubicacion_estado = 'vencida' from q
     where guia.comercio_id = q.comercio_id and guia.modo = q.modo and guia.id = q.guia_id
       and guia.ubicacion_estado = 'solicitada' and not guia.estado = any(:finales::text[])
     returning guia.*
   ), ${announceChange('ubicacion.vencida')}`,
  { alcance: 'parte' },
)

/** Closes expired requests. A guide without another open request gets the location state `vencida`. */
export async function vencerSolicitudes(
  { db, reloj, avisarTrabajo }: DepsDeMensajes,
  mensajes: readonly ClaveDeMensaje[],
): Promise<void> {
  const ahora = reloj()
  const entregas = await inTracesOf(db, 'ubicacion.vencida', mensajes, (suyos) =>
    askByMerchant(db, suyos, ({ consultar }, claves) =>
      consultar(VENCER, { ids: idsDe(claves), ahora, finales: MAQUINA_DE_ESTADOS.finales, traza: currentTrace() }),
    ),
  )
  if (entregas.length > 0) avisarTrabajo(entregas)
}
