import type { CanalDeMensaje, EstadoDeMensaje, Ubicacion } from '../contrato/generado/tipos/index.ts'
import { esFinal } from '../estados/estados.ts'
import type { FilaGuia } from '../guias/guia.ts'

/** How the request to the recipient goes; instants are texts, as JSON keeps them. */
export interface Solicitud {
  numero: number
  canal: CanalDeMensaje
  estado: EstadoDeMensaje
  creado_en: string
  enviado_en?: string
  entregado_en?: string
  leido_en?: string
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
  confirmado_en?: string
  solicitud?: Solicitud
}

/** A guide's place → the contract's. */
export function presentarUbicacion(fila: FilaGuia): Ubicacion {
  const { enlace, precision_m, referencia, distancia_km, confirmado_en, solicitud } = fila.ubicacion_extra ?? {}
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
    confirmado_en: confirmada ? (confirmado_en ?? fila.creado_en.toISOString()) : null,
    solicitud: solicitud
      ? {
          canal: solicitud.canal,
          estado: solicitud.estado,
          numero: solicitud.numero,
          creado_en: instante(solicitud.creado_en)!,
          enviado_en: instante(solicitud.enviado_en),
          entregado_en: instante(solicitud.entregado_en),
          leido_en: instante(solicitud.leido_en),
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
