import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'

const CLOSE = statement<{ hash: Uint8Array }>(
  'sesiones.close',
  'central',
  'delete from sesion_repartidor where hash = :hash',
)

export const cerrarSesion: Handler<'cerrarSesion'> = async (
  { identity, requestId, red },
  { db, browser, bitacora },
) => {
  await inTransaction(db, async (query) => {
    await query(CLOSE, { hash: identity.sesion })
    await bitacora.record(query, { identity, requestId, red }, { accion: 'cerrarSesion' })
  })
  return { status: 204, headers: { 'Set-Cookie': browser.setSesion('', 0) }, body: undefined }
}
