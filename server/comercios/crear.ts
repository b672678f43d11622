import type { Handler } from '../contrato/tipos.ts'
import { columnasDe, nuevoCodigoDeComercio, presentarComercio } from './comercio.ts'

export const crearComercio: Handler<'crearComercio'> = async ({ body }, { db, nuevoId }) => {
  const fila = await db.prisma.comercio.create({
    data: { ...nuevoId(), comercio: nuevoCodigoDeComercio(), ...columnasDe(body) },
  })
  return { status: 201, body: presentarComercio(fila) }
}
