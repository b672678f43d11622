import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Webhook } from '../../generado/contrato/tipos/index.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { codigoDeEntrega, type FilaAvisoDeWebhook, leerAvisoDeWebhook, presentarAvisoDeWebhook, YA } from './entrega.ts'
import { newOwnEventId } from './ownEvent.ts'
import { type ClaveDeWebhook, exigirWebhook, type FilaWebhook, presentarWebhook } from './webhook.ts'

/**
 * Inserts an event of the endpoint itself. The event belongs to no guide, so `guia_id` is the MD5 of the event's id,
 * and the row stores the data of the body.
 */
const ENVIAR = statement<
  ClaveDeWebhook &
    Pick<FilaAvisoDeWebhook, 'evento' | 'tipo' | 'causa' | 'proximo_en' | 'creado_en'> & {
      datos: { webhook: Webhook }
    },
  FilaAvisoDeWebhook
>(
  'webhookEntregas.enviarPropia',
  `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, datos, creado_en)
   values (:comercio_id, :modo, :webhook, md5(:evento)::uuid, 0, :evento, :tipo, 'pendiente', :causa, :proximo_en,
     :datos::jsonb, :creado_en) returning *`,
)

/** Finds a test of the endpoint that was not sent yet. A repeated request gets this test. */
const PENDIENTE = statement<ClaveDeWebhook & Pick<FilaAvisoDeWebhook, 'proximo_en'>, FilaAvisoDeWebhook>(
  'webhookEntregas.pruebaPendiente',
  `select * from webhook_aviso where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
     and estado = 'pendiente' and proximo_en = :proximo_en and causa = 'prueba' limit 1`,
)

/** Creates a test delivery, which is sent now and only once. Returns the previous test if that was not sent yet. */
export async function enviarPrueba(consultar: Query, fila: FilaWebhook, ahora: Date): Promise<FilaAvisoDeWebhook> {
  const { comercio_id, modo, webhook } = fila
  const suyo = { comercio_id, modo, webhook, proximo_en: YA }
  const [pendiente] = await consultar(PENDIENTE, suyo)
  if (pendiente) return pendiente
  const [entrega] = await consultar(ENVIAR, {
    ...suyo,
    evento: newOwnEventId(),
    tipo: 'webhook.prueba',
    causa: 'prueba',
    datos: { webhook: presentarWebhook(fila) },
    creado_en: ahora,
  })
  return entrega!
}

export const probarWebhook: Handler<'probarWebhook'> = async (entrada, deps) => {
  const { path, identidad, idSolicitud, red } = entrada
  const { db, reloj, avisarTrabajo, bitacora } = deps
  const { hecho, headers } = await unaVez(deps, 'probarWebhook', entrada, {
    async hacer(recordar) {
      const ahora = reloj()
      const fila = await exigirWebhook(db, identidad, path.webhook, ahora)
      const entrega = await inTransaction(db, async (consultar) => {
        const linea = { accion: 'probarWebhook', sobre: ['webhook', path.webhook] as const }
        await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
        const entrega = await enviarPrueba(consultar, fila, ahora)
        await recordar(consultar, codigoDeEntrega(entrega))
        return entrega
      })
      avisarTrabajo()
      return entrega
    },
    releer: (entrega) => leerAvisoDeWebhook(db, identidad, path.webhook, entrega),
  })
  return { status: 202, headers, body: presentarAvisoDeWebhook(hecho) }
}
