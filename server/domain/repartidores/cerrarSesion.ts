import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'

const CERRAR = statement<{ hash: Uint8Array }>('sesiones.cerrar', 'delete from sesion_repartidor where hash = :hash')

export const cerrarSesion: Handler<'cerrarSesion'> = async (
  { identidad, idSolicitud, red },
  { db, navegador, bitacora },
) => {
  await inTransaction(db, async (consultar) => {
    await consultar(CERRAR, { hash: identidad.sesion })
    await bitacora.anotar(consultar, { identidad, idSolicitud, red }, { accion: 'cerrarSesion' })
  })
  return { status: 204, headers: { 'Set-Cookie': navegador.ponerSesion('', 0) }, body: undefined }
}
