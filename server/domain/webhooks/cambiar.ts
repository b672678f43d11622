import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import type { DecididoDeWebhook } from './campos.ts'
import { nombrarPorUrl } from './crear.ts'
import { enviarPrueba } from './probar.ts'
import {
  type ClaveDeWebhook,
  cambiosDeWebhook,
  exigirDestinoDeWebhook,
  exigirWebhook,
  explicarRepetido,
  type FilaWebhook,
  politicaAlPedir,
  presentarWebhook,
  seComprueba,
} from './webhook.ts'

/** Columns of an endpoint that a merchant may change; null leaves a column unchanged. */
type Cambio = { [Columna in DecididoDeWebhook]: FilaWebhook[Columna] | null }

/**
 * Changes an endpoint. If the endpoint is activated or gets another address, its earlier failures are cleared, because
 * they no longer describe it.
 */
const CAMBIAR = statement<ClaveDeWebhook & Cambio & { ahora: Date; se_comprueba: boolean }>(
  'webhooks.cambiar',
  `update webhook set url = coalesce(:url, url), tipos = coalesce(:tipos, tipos),
     descripcion = coalesce(:descripcion, descripcion),
     estado = coalesce(:estado, estado), estado_en = case when :estado <> estado then :ahora::timestamptz else estado_en end,
     comprobado_en = case when :url = url or not :se_comprueba::boolean or :url is null then comprobado_en end,
     motivo = case when :estado is null then motivo end,
     fallas = case when :estado = 'activo' or :url <> url then 0 else fallas end,
     aviso = case when :estado = 'activo' or :url <> url then 0 else aviso end,
     primera_falla_en = case when :estado = 'activo' or :url <> url then null else primera_falla_en end,
     freno_vence_en = case when :estado = 'activo' or :url <> url then null else freno_vence_en end,
     actualizado_en = :ahora
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and estado <> 'eliminado'`,
)

export const cambiarWebhook: Handler<'cambiarWebhook'> = async (
  { path, body, identidad, idSolicitud, red, reenviada },
  { db, reloj, destinos, avisarTrabajo, bitacora },
) => {
  const { comercioId, modo } = identidad
  const ahora = reloj()
  // An unknown endpoint returns 404, even if the body has faults.
  const antes = await exigirWebhook(db, identidad, path.webhook, ahora)
  const politica = politicaAlPedir(destinos, modo, reenviada())
  const url = body.url === undefined ? null : await exigirDestinoDeWebhook(body.url, politica)
  const cambio = {
    comercio_id: comercioId,
    modo,
    webhook: path.webhook,
    url,
    tipos: body.tipos ?? null,
    descripcion: body.descripcion ?? null,
    estado: body.estado ?? null,
    se_comprueba: seComprueba(modo),
    ahora,
  }
  const fila = await explicarRepetido(
    () =>
      inTransaction(db, async (consultar) => {
        await consultar(CAMBIAR, cambio)
        const despues = await exigirWebhook({ consultar }, identidad, path.webhook, ahora)
        // A new address counts as verified only after it answers a test, so a test is sent.
        if (antes.comprobado_en && !despues.comprobado_en) await enviarPrueba(consultar, despues, ahora)
        const linea = { accion: 'cambiarWebhook', sobre: ['webhook', path.webhook] as const }
        const quien = { identidad, idSolicitud, red }
        await bitacora.anotar(consultar, quien, { ...linea, ...cambiosDeWebhook(antes, despues) })
        return despues
      }),
    () => nombrarPorUrl(db, identidad, url ?? ''),
  )
  avisarTrabajo()
  return { status: 200, body: presentarWebhook(fila) }
}
