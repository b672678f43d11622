import { statement } from '../../data/db.ts'
import { askByMerchant } from '../../data/spread.ts'
import { venceAlCrear } from '../guias/guia.ts'
import { marcarEnviados } from './markSent.ts'
import { type ClaveDeMensaje, type DepsDeMensajes, type FilaMensaje, idsDe } from './row.ts'

const EN_BUZON = statement<{ ids: readonly string[] }, ClaveDeMensaje & Pick<FilaMensaje, 'modo'>>(
  'mensajes.enBuzon',
  `select id, comercio_id, modo from mensaje where id = any(:ids::uuid[]) and canal = 'buzon' and estado = 'pendiente'`,
  { alcance: 'parte' },
)

/** Postpones live messages of the mailbox that are due. Only a process of an earlier version writes such messages. */
const RETENER = statement<{ ids: readonly string[] }>(
  'mensajes.retener',
  `update mensaje set proximo_en = ${venceAlCrear('modo', 'canal', 'proximo_en')}
       where id = any(:ids::uuid[]) and estado = 'pendiente'`,
  { alcance: 'parte' },
)

/**
 * Delivers messages of test guides to the mailbox, the messages of one guide one after another. A repeated call does
 * nothing. A live message is held until the service has messaging (`retomar.ts`).
 */
export async function enviarAlBuzon(deps: DepsDeMensajes, mensajes: readonly ClaveDeMensaje[]): Promise<void> {
  const { db } = deps
  const pendientes = (claves: readonly ClaveDeMensaje[]) =>
    askByMerchant(db, claves, ({ consultar }, ofPart) => consultar(EN_BUZON, { ids: idsDe(ofPart) }))
  const { live = [], test = [] } = Object.groupBy(await pendientes(mensajes), ({ modo }) => modo)
  if (live.length > 0)
    await askByMerchant(db, live, ({ consultar }, claves) => consultar(RETENER, { ids: idsDe(claves) }))
  for (let quedan = test, antes = Infinity; quedan.length > 0 && quedan.length < antes; ) {
    await marcarEnviados(deps, 'buzon', ['pendiente'], quedan)
    antes = quedan.length
    quedan = await pendientes(quedan)
  }
}
