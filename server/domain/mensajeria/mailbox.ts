import { statement } from '../../data/db.ts'
import { askByMerchant } from '../../data/spread.ts'
import { marcarEnviados } from './markSent.ts'
import { type ClaveDeMensaje, type DepsDeMensajes, idsDe } from './row.ts'

const EN_BUZON = statement<{ ids: readonly string[] }, ClaveDeMensaje>(
  'mensajes.enBuzon',
  `select id, comercio_id from mensaje where id = any(:ids::uuid[]) and canal = 'buzon' and modo = 'test'
     and estado = 'pendiente'`,
  { alcance: 'parte' },
)

/**
 * Delivers messages of test guides to the mailbox, the messages of one guide one after another. A repeated call does
 * nothing. A live message waits until the service has messaging (`retomar.ts`).
 */
export async function enviarAlBuzon(deps: DepsDeMensajes, mensajes: readonly ClaveDeMensaje[]): Promise<void> {
  const pendientes = (claves: readonly ClaveDeMensaje[]) =>
    askByMerchant(deps.db, claves, ({ consultar }, ofPart) => consultar(EN_BUZON, { ids: idsDe(ofPart) }))
  for (let quedan = await pendientes(mensajes), antes = Infinity; quedan.length > 0 && quedan.length < antes; ) {
    await marcarEnviados(deps, 'buzon', ['pendiente'], quedan)
    antes = quedan.length
    quedan = await pendientes(quedan)
  }
}
