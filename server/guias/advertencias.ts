import { buscarDestino } from '../catalogo/catalogo.ts'
import type { Advertencia, CodigoDeAdvertencia } from '../contrato/generado/tipos/index.ts'
import { distanciaKm } from '../mapas/punto.ts'

/** What a guide may be warned of; the other codes are a batch's. */
type Codigo = Exclude<CodigoDeAdvertencia, 'campo_desconocido'>

/** What is kept of a guide's warning: what it says and suggests is written whenever it is told. */
export interface AdvertenciaGuardada {
  codigo: Codigo
  /** Which member of the guide is meant, as a JSON Pointer (RFC 6901). */
  campo: string
}

/** The part of a guide that its warnings speak of. */
interface Advertida {
  departamento: string
  municipio: string
  ubicacion_extra: { distancia_km?: number } | null
  advertencias: readonly AdvertenciaGuardada[]
}

/** The distance in kilometres from the centre of the declared municipality beyond which a place is warned of. */
export const LEJOS = 50

/** Warns of a destination that the catalogue doesn't know, or of a place far from it; it refuses nothing. */
export function juzgarDestino(
  { departamento, municipio }: Pick<Advertida, 'departamento' | 'municipio'>,
  { ubicacion_lat: lat, ubicacion_lng: lng }: { ubicacion_lat: number | null; ubicacion_lng: number | null },
): { distancia_km: number | null; advertencias: AdvertenciaGuardada[] } {
  const hallado = buscarDestino(departamento, municipio)
  if ('desconocido' in hallado) {
    const campo = `/${hallado.desconocido}`
    return { distancia_km: null, advertencias: [{ codigo: 'destino_desconocido', campo }] }
  }
  if (lat === null || lng === null) return { distancia_km: null, advertencias: [] }
  const km = Math.round(distanciaKm(hallado.municipio, { lat, lng }) * 10) / 10
  return { distancia_km: km, advertencias: km > LEJOS ? [{ codigo: 'ubicacion_lejana', campo: '/ubicacion' }] : [] }
}

/** The warnings of a guide, as the contract has them. */
export const presentarAdvertencias = (guia: Advertida): Advertencia[] =>
  guia.advertencias.map(({ codigo, campo }) => ({ codigo, campo, ...QUE_DECIR[codigo](guia, campo) }))

type Dicho = Pick<Advertencia, 'mensaje' | 'sugerencia'>

const QUE_DECIR: Record<Codigo, (guia: Advertida, campo: string) => Dicho> = {
  telefono_dudoso: () => ({
    mensaje:
      'el número es posible, pero no figura en ningún plan de numeración conocido: revise los dígitos y el código de país',
    sugerencia: null,
  }),
  enlace_sin_coordenadas: () => ({
    mensaje:
      'el enlace de mapa no lleva coordenadas y se conserva como lugar confirmado; si es corto se resuelve en unos minutos, y si no, dé lat y lng para que el mensajero llegue al punto exacto',
    sugerencia: null,
  }),
  destino_desconocido: decirDesconocido,
  ubicacion_lejana: ({ ubicacion_extra }) => ({
    mensaje: `el lugar confirmado está a ${ubicacion_extra?.distancia_km ?? `más de ${LEJOS}`} km del municipio declarado: revise el municipio, y que lat y lng no estén cambiadas`,
    sugerencia: null,
  }),
}

/** Words an unknown destination with the names that the merchant may have meant, by the catalogue of today. */
function decirDesconocido({ departamento, municipio }: Advertida, campo: string): Dicho {
  const nombre = campo === '/departamento' ? departamento : municipio
  const hallado = buscarDestino(departamento, municipio)
  const nombres = 'sugerir' in hallado ? hallado.sugerir() : { departamentos: [], municipios: [] }
  return {
    mensaje: `«${nombre}» no está en el catálogo: revise cómo está escrito; si es correcto, la guía vale así`,
    sugerencia: nombres.departamentos.length + nombres.municipios.length > 0 ? nombres : null,
  }
}
