import { statement } from '../../data/db.ts'
import { queryByComercio } from '../../data/partQueries.ts'
import { markSent } from './markSent.ts'
import { idsOf, type MensajeDeps, type MensajeKey } from './row.ts'

const IN_MAILBOX = statement<{ ids: readonly string[] }, MensajeKey>(
  'mensajes.inMailbox',
  'part',
  `select id, comercio_id from mensaje where id = any(:ids::uuid[]) and canal = 'buzon' and modo = 'test'
     and estado = 'pendiente'`,
)

/**
 * Delivers messages of test guides to the mailbox, the messages of one guide one after another. A repeated call does
 * nothing. A live message waits until the service has messaging (`resume.ts`).
 */
export async function sendToMailbox(deps: MensajeDeps, mensajes: readonly MensajeKey[]): Promise<void> {
  const pending = (keys: readonly MensajeKey[]) =>
    queryByComercio(deps.db, keys, ({ query }, shardMensajes) => query(IN_MAILBOX, { ids: idsOf(shardMensajes) }))
  for (
    let remaining = await pending(mensajes), before = Infinity;
    remaining.length > 0 && remaining.length < before;
  ) {
    await markSent(deps, 'buzon', ['pendiente'], remaining)
    before = remaining.length
    remaining = await pending(remaining)
  }
}
