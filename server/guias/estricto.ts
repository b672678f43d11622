import { type Problema, problemaDeFallas } from '../errores.ts'
import type { Identidades } from '../http/identidad.ts'
import { explicarInverosimil } from './advertencias.ts'
import type { DatosDeGuia } from './datos.ts'
import type { Escritura } from './escritura.ts'
import { esInverosimil } from './lugares.ts'

/** Whether a guide is refused for its place if it is new: where `estricto` holds for it and the place is implausible. */
export const esRechazable = (estricto: boolean, { advertencias }: DatosDeGuia) =>
  estricto && advertencias.some(({ codigo }) => esInverosimil(codigo))

/**
 * Of guides that are refused if they are new, why each of them is: a creation that is repeated stays one, whatever
 * strictness was added since.
 */
export async function rechazar(
  { leerRepetidas }: Escritura,
  { comercioId, modo }: Identidades['llaveDeComercio'],
  rechazables: readonly DatosDeGuia[],
): Promise<ReadonlyMap<DatosDeGuia, Problema>> {
  const repetidas = await leerRepetidas(comercioId, modo, rechazables)
  const nuevas = rechazables.filter((datos) => !repetidas.has(datos))
  return new Map(
    nuevas.map((datos) => [datos, problemaDeFallas('validacion', explicarInverosimil(datos, datos.lat === null))]),
  )
}
