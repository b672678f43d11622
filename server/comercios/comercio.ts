import { base32AlAzar } from '../codigos/codigos.ts'
import type { Comercio } from '../contrato/generado/tipos/index.ts'
import type { Db } from '../db.ts'
import { Problema } from '../errores.ts'

export interface FilaComercio {
  id: string
  comercio: string
  nombre: string
  creado_en: Date
}

export const presentarComercio = ({ comercio, nombre, creado_en }: FilaComercio): Comercio => ({
  comercio,
  nombre,
  creado_en: creado_en.toISOString(),
})

export const nuevoCodigoDeComercio = () => `com_${base32AlAzar(12)}`

/** The merchant of that public identifier; undefined: none, also for what can't be one. */
export async function buscarComercio(db: Db, comercio: string): Promise<FilaComercio | undefined> {
  if (!/^com_[0-9A-Z]{12}$/.test(comercio)) return undefined
  return (await db.prisma.comercio.findUnique({ where: { comercio } })) ?? undefined
}

/** @throws Problema 404 */
export async function exigirComercio(db: Db, comercio: string): Promise<FilaComercio> {
  const fila = await buscarComercio(db, comercio)
  if (!fila) throw new Problema('comercio_desconocido', 'No hay ningún comercio con ese identificador.')
  return fila
}
