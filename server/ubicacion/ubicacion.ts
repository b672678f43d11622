import type { CanalDeMensaje, EstadoDeMensaje, Ubicacion } from '../contrato/generado/tipos/index.ts'
import { esFinal } from '../estados/estados.ts'
import type { FilaGuia } from '../guias/guia.ts'

/** How the request to the recipient goes; instants are texts, as JSON keeps them. */
export interface Solicitud {
  numero: number
  canal: CanalDeMensaje
  estado: EstadoDeMensaje
  creada_en: string
  enviada_en?: string
  entregada_en?: string
  leida_en?: string
  vence_en?: string
  motivo?: string
}

/** What is known of a place besides its coordinates: `guia.ubicacion_extra`. */
export interface UbicacionExtra {
  /** The link with which it was confirmed, unless that is the guide's own `maps_url`. */
  enlace?: string
  precision_m?: number
  referencia?: string
  distancia_km?: number
  confirmada_en?: string
  solicitud?: Solicitud
}

/** Beyond that distance from the centre of the declared municipality, in kilometres, somebody should look again. */
export const LEJOS = 50

/** A guide's place → the contract's. */
export function presentarUbicacion(fila: FilaGuia): Ubicacion {
  const { enlace, precision_m, referencia, distancia_km, confirmada_en, solicitud } = fila.ubicacion_extra ?? {}
  const confirmada = fila.ubicacion_estado === 'confirmada'
  return {
    estado: fila.ubicacion_estado,
    origen: fila.ubicacion_origen,
    lat: fila.ubicacion_lat,
    lng: fila.ubicacion_lng,
    maps_url: enlace ?? (fila.ubicacion_origen === 'maps_url' ? fila.maps_url : null),
    precision_m: precision_m ?? null,
    referencia: referencia ?? null,
    distancia_km: distancia_km ?? null,
    confirmada_en: confirmada ? (confirmada_en ?? fila.creado_en.toISOString()) : null,
    solicitud: solicitud
      ? {
          canal: solicitud.canal,
          estado: solicitud.estado,
          numero: solicitud.numero,
          creada_en: instante(solicitud.creada_en)!,
          enviada_en: instante(solicitud.enviada_en),
          entregada_en: instante(solicitud.entregada_en),
          leida_en: instante(solicitud.leida_en),
          vence_en: instante(solicitud.vence_en),
          motivo: solicitud.motivo ?? null,
        }
      : null,
  }
}

/** PostgreSQL writes instants into JSON in its own form. */
const instante = (texto: string | undefined) => (texto === undefined ? null : new Date(texto).toISOString())

/** Whether the place may still be said, or said anew: a confirmed one until the courier is on the way there. */
export const admiteUbicacion = ({ estado, ubicacion_estado }: Pick<FilaGuia, 'estado' | 'ubicacion_estado'>) =>
  !esFinal(estado) && estado !== 'en_devolucion' && !(estado === 'en_ruta' && ubicacion_estado === 'confirmada')
