import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'

const CERRAR = sentencia('sesiones.cerrar', 'delete from sesion_repartidor where hash = $1')

export const cerrarSesion: Handler<'cerrarSesion'> = async ({ identidad }, { db, navegador }) => {
  await db.consultar(CERRAR, [identidad.sesion])
  return { status: 204, headers: { 'Set-Cookie': navegador.ponerSesion('', 0) }, body: undefined }
}
