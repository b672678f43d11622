import type { Falla } from '../contrato/generado/tipos/index.ts'
import { huella, type Secretos, type Subclave } from '../secretos.ts'
import type { DatosDeGuia } from './normalizar.ts'

/** What counts as the content of a request: the fields it can set, as normalised, except the reference itself. */
const CAMPOS = [
  'telefono',
  'destinatario',
  'departamento',
  'municipio',
  'direccion',
  'indicaciones',
  'contenido',
  'lat',
  'lng',
  'maps_url',
  'recogida',
] as const

/** Under this name stands which sub-key made the digests. */
const KID = 'kid'

const digerir = (datos: DatosDeGuia, subclave: Subclave) => {
  const huellas: Record<string, string> = { [KID]: subclave.kid }
  for (const campo of CAMPOS) {
    const valor = datos[campo]
    if (valor !== null) huellas[campo] = huella(subclave, `${campo}\n${JSON.stringify(valor)}`)
  }
  return huellas
}

/** One keyed digest per field of the request as first accepted: later confirmation or retention never makes a replay a conflict. */
export const huellasDe = (datos: DatosDeGuia, secretos: Secretos) => digerir(datos, secretos.presente('huellas'))

/** The fields in which a repeated request differs from the first one. Empty: a replay. */
export function diferencias(primera: Record<string, string> | null, datos: DatosDeGuia, secretos: Secretos): Falla[] {
  const subclave = secretos.de('huellas', primera?.[KID] ?? '')
  // Without the key nobody can tell: refusing is the answer that can't create or hide a shipment.
  const segunda = subclave ? digerir(datos, subclave) : {}
  return CAMPOS.filter((campo) => (primera?.[campo] ?? null) !== (segunda[campo] ?? null)).map((campo) => ({
    campo: `/${campo}`,
    codigo: 'difiere',
    mensaje: 'es distinto del que se envió al crear la guía',
  }))
}
