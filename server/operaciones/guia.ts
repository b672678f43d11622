import type { GuiaDeOperacion } from '../contrato/generado/tipos/index.ts'
import { type FilaGuia, type GuiaLeida, presentar } from '../guias/guia.ts'

/** A guide as an operator sees it, with the merchant whose it is and the courier who carries it. */
export const presentarGuia = (
  fila: GuiaLeida & Pick<FilaGuia, 'custodio'> & { comercio: string },
): GuiaDeOperacion => ({
  ...presentar(fila),
  comercio: fila.comercio,
  repartidor: fila.custodio,
})
