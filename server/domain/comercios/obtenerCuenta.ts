import type { Advertencia } from '../../generado/contrato/tipos/index.ts'
import { vencePronto } from '../llaves/llave.ts'
import type { Handler } from '../operation.ts'
import { leerIntentos, leerPolitica } from './comercio.ts'

export const obtenerCuenta: Handler<'obtenerCuenta'> = async ({ identidad }, { db, reloj }) => {
  const { comercioId, comercio, nombre, modo, alcances, vence_en, pais, estricto, ritmos } = identidad
  return {
    status: 200,
    body: {
      comercio,
      nombre,
      modo,
      alcances: [...alcances],
      vence_en: vence_en?.toISOString() ?? null,
      pais,
      estricto,
      ritmos,
      evidencia: await leerPolitica(db, comercioId),
      politica_de_intentos: await leerIntentos(db, comercioId),
      advertencias: vence_en && vencePronto(vence_en, reloj()) ? [advertir(vence_en)] : [],
    },
  }
}

const advertir = (vence_en: Date): Advertencia => ({
  codigo: 'llave_por_vencer',
  campo: '/vence_en',
  mensaje: `la llave deja de valer el ${vence_en.toISOString()}: pida otra, o que la roten, y cámbiela antes`,
  sugerencia: null,
})
