import { type Db, statement } from '../../data/db.ts'
import type { Modo } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { requireComercio } from '../comercios/comercio.ts'
import type { WebhookScope } from './webhook.ts'

const MODO = statement<{ comercio_id: string; webhook: string }, { modo: Modo }>(
  'webhooks.modo',
  'merchant',
  `select modo from webhook where comercio_id = :comercio_id and webhook = :webhook and estado <> 'eliminado'`,
)

/**
 * Returns the merchant and the mode of an endpoint that an operator names. The code of an endpoint tells its mode.
 * @throws Problema 404 if the merchant is unknown, or has no such endpoint
 */
export async function readWebhookScope(
  db: Db,
  { comercio, webhook }: { comercio: string; webhook: string },
): Promise<WebhookScope> {
  const { id: comercioId } = await requireComercio(db, comercio)
  const [row] = await db.query(MODO, { comercio_id: comercioId, webhook })
  if (!row) throw new Problema('webhook_desconocido', 'Ese comercio no tiene ningún webhook con ese identificador.')
  return { comercioId, modo: row.modo }
}
