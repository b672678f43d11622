import type { Handler } from '../contrato/tipos.ts'

export const cerrarSesion: Handler<'cerrarSesion'> = async ({ identidad }, { db, navegador }) => {
  await db.prisma.sesion_repartidor.deleteMany({ where: { hash: identidad.sesion } })
  return { status: 204, headers: { 'Set-Cookie': navegador.ponerSesion('', 0) }, body: undefined }
}
