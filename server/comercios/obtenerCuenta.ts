import type { Handler } from '../contrato/tipos.ts'

export const obtenerCuenta: Handler<'obtenerCuenta'> = async ({ identidad }) => {
  const { comercio, nombre, modo, alcances, pais, estricto, ritmos } = identidad
  return { status: 200, body: { comercio, nombre, modo, alcances: [...alcances], pais, estricto, ritmos } }
}
