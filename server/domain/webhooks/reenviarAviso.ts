import type { OperationId } from '../../api/contract/contract.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { type readKey, unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import {
  type Clave,
  exigirAvisoDeWebhook,
  type FilaAvisoDeWebhook,
  leerAvisoDeWebhook,
  presentarAvisoDeWebhook,
  YA,
} from './entrega.ts'
import type { AmbitoDeWebhooks } from './webhook.ts'

/**
 * Gives a delivery a new turn, even while it is being sent. The delivery is sent once more, even if the present attempt
 * succeeds. A delivery that has ended begins anew, and a delivery that waits is sent now.
 */
const REENVIAR = statement<Clave & Pick<FilaAvisoDeWebhook, 'proximo_en'>, FilaAvisoDeWebhook>(
  'webhookEntregas.reenviar',
  `update webhook_aviso set proximo_en = :proximo_en, causa = 'manual',
     turno = turno + 1,
     intento = case when estado = 'pendiente' then intento else 0 end, estado = 'pendiente', terminado_en = null
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and guia_id = :guia_id
     and secuencia = :secuencia and not (estado = 'pendiente' and causa = 'manual' and proximo_en = :proximo_en)
   returning *`,
)

export const reenviarAvisoDeWebhook: Handler<'reenviarAvisoDeWebhook'> = (entrada, deps) =>
  reenviar(deps, 'reenviarAvisoDeWebhook', entrada, entrada.identidad, entrada)

/**
 * Sends a delivery once more, for its merchant or for an operator, and answers with it.
 * @param quien author of the request, for the audit record
 * @throws Problema 404; 409 if the key belongs to another request
 */
export async function reenviar(
  deps: Pick<Deps, 'db' | 'reloj' | 'secretos' | 'avisarTrabajo' | 'bitacora'>,
  operacion: OperationId,
  { identidad, idSolicitud, red }: Quien,
  { comercioId, modo }: AmbitoDeWebhooks,
  {
    path,
    headers: cabeceras,
  }: {
    path: { webhook: string; aviso: string }
    headers: Parameters<typeof readKey>[0]
  },
) {
  const { db, avisarTrabajo, bitacora } = deps
  const ambito = { comercioId, modo }
  const { hecho, headers } = await unaVez(
    deps,
    operacion,
    { identidad: ambito, headers: cabeceras, path },
    {
      async hacer(recordar) {
        const leida = await exigirAvisoDeWebhook(db, ambito, path.webhook, path.aviso)
        const fila = await inTransaction(db.de(comercioId), async (consultar) => {
          const [reenviada] = await consultar(REENVIAR, { ...leida, proximo_en: YA })
          const sobre = ['aviso', path.aviso] as const
          const linea = { accion: operacion, sobre, de: { comercio_id: comercioId, modo } }
          if (reenviada) await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
          await recordar(consultar, path.aviso)
          return reenviada
        })
        avisarTrabajo()
        // No row was changed if an earlier request asked for the same resend and it was not sent yet. The response then
        // shows that resend.
        return fila ?? leida
      },
      releer: (entrega) => leerAvisoDeWebhook(db, ambito, path.webhook, entrega),
    },
  )
  return { status: 202, headers, body: presentarAvisoDeWebhook(hecho) } as const
}
