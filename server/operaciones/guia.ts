import type { GuiaDeOperacion } from '../contrato/generado/tipos/index.ts'
import { type FilaGuia, presentar } from '../guias/guia.ts'

/** The guide as an operator sees it: whose it is stands with it. */
export const presentarGuia = (fila: FilaGuia & { comercio: string }): GuiaDeOperacion => ({
  ...presentar(fila),
  comercio: fila.comercio,
})
