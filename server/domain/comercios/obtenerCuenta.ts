import type { Advertencia } from '../../generated/contract/types/index.ts'
import { expiresSoon } from '../identities/llave.ts'
import type { Handler } from '../operation.ts'
import { readEvidencePolicy, readIntentosPolicy } from './comercio.ts'

export const obtenerCuenta: Handler<'obtenerCuenta'> = async ({ identity }, { db, clock }) => {
  const { comercioId, comercio, nombre, modo, alcances, vence_en, pais, estricto, ritmos } = identity
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
      evidencia: await readEvidencePolicy(db, comercioId),
      politica_de_intentos: await readIntentosPolicy(db, comercioId),
      advertencias: vence_en && expiresSoon(vence_en, clock()) ? [warnOfExpiry(vence_en)] : [],
    },
  }
}

const warnOfExpiry = (vence_en: Date): Advertencia => ({
  codigo: 'llave_por_vencer',
  campo: '/vence_en',
  mensaje: `la llave deja de valer el ${vence_en.toISOString()}: pida otra, o que la roten, y cámbiela antes`,
  sugerencia: null,
})
