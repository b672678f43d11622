import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { nombrarPorUrl } from './crear.ts'
import { exigirDestino, exigirWebhook, explicarRepetido, politicaDe, presentarWebhook } from './webhook.ts'

/** A change of state, or of address, forgets what failed before: it is another endpoint now, or a mended one. */
const CAMBIAR = sentencia(
  'webhooks.cambiar',
  `update webhook set url = coalesce($4, url), tipos = coalesce($5, tipos), descripcion = coalesce($6, descripcion),
     estado = coalesce($7, estado), estado_en = case when $7 <> estado then $8::timestamptz else estado_en end,
     motivo = case when $7 is null then motivo end,
     fallas = case when $7 = 'activo' or $4 <> url then 0 else fallas end,
     aviso = case when $7 = 'activo' or $4 <> url then 0 else aviso end,
     primera_falla_en = case when $7 = 'activo' or $4 <> url then null else primera_falla_en end,
     freno_vence_en = case when $7 = 'activo' or $4 <> url then null else freno_vence_en end,
     actualizado_en = $8
   where comercio_id = $1 and modo = $2 and webhook = $3 and estado <> 'eliminado'`,
)

export const cambiarWebhook: Handler<'cambiarWebhook'> = async (
  { path, body, identidad },
  { db, reloj, destinos, avisarTrabajo },
) => {
  const { comercioId, modo } = identidad
  const ahora = reloj()
  // Unknown is unknown, whatever the body asks for.
  await exigirWebhook(db, identidad, path.webhook, ahora)
  const url = body.url === undefined ? null : await exigirDestino(body.url, politicaDe(destinos, modo))
  await explicarRepetido(
    () =>
      db.consultar(CAMBIAR, [
        comercioId,
        modo,
        path.webhook,
        url,
        body.tipos ?? null,
        body.descripcion ?? null,
        body.estado ?? null,
        ahora,
      ]),
    () => nombrarPorUrl(db, identidad, url ?? ''),
  )
  avisarTrabajo()
  return { status: 200, body: presentarWebhook(await exigirWebhook(db, identidad, path.webhook, ahora)) }
}
