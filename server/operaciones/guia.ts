import type { GuiaDeOperacion } from '../contrato/generado/tipos/index.ts'
import { type GuiaLeida, presentar } from '../guias/guia.ts'

/** A guide as an operator sees it, with the merchant whose it is. */
export const presentarGuia = (fila: GuiaLeida & { comercio: string }): GuiaDeOperacion => ({
  ...presentar(fila),
  comercio: fila.comercio,
})
