import { createHmac, hash } from 'node:crypto'
import type { CodigoDeAdvertencia, OrigenDeUbicacion } from '../contrato/generado/tipos/index.ts'
import { Problema } from '../errores.ts'
import { esFinal } from '../estados/estados.ts'
import type { Lugar, Paso } from '../eventos/evento.ts'
import { type AdvertenciaGuardada, juzgarDestino } from '../guias/advertencias.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { leerEnlace } from '../mapas/enlaces.ts'
import type { Secretos } from '../secretos.ts'

/** Whether a guide's place may still be said, or said anew: a confirmed one until the courier is on the way there. */
export const admiteUbicacion = ({ estado, ubicacion_estado }: Pick<FilaGuia, 'estado' | 'ubicacion_estado'>) =>
  !esFinal(estado) && estado !== 'en_devolucion' && !(estado === 'en_ruta' && ubicacion_estado === 'confirmada')

/** A place that somebody says a guide goes to. */
export interface Propuesta {
  /** The link that names the place; with a short one, the coordinates come later. Without either, `referencia` describes it. */
  enlace: string | null
  lat: number | null
  lng: number | null
  precision_m: number | null
  referencia: string | null
  origen: NonNullable<OrigenDeUbicacion>
}

/** The warnings that are judged anew with every place, and the one of a message that isn't needed any more. */
const DEL_LUGAR: readonly CodigoDeAdvertencia[] = [
  ...(['telefono_fijo', 'enlace_sin_coordenadas', 'lugar_descrito', 'destino_desconocido'] as const),
  ...([
    'coordenadas_en_cero',
    'coordenadas_sin_signo',
    'coordenadas_invertidas',
    'fuera_del_departamento',
    'ubicacion_lejana',
  ] as const),
]

const SIN_COORDENADAS: AdvertenciaGuardada = { codigo: 'enlace_sin_coordenadas', campo: '/ubicacion/maps_url' }
const SOLO_DESCRITO: AdvertenciaGuardada = { codigo: 'lugar_descrito', campo: '/ubicacion/referencia' }

/** What a guide says of its place once that is confirmed; how it was asked for stays visible. */
function lugarConfirmado(guia: FilaGuia, propuesta: Propuesta, ahora: Date): Lugar {
  const { enlace, lat, lng, precision_m, referencia, origen } = propuesta
  const { distancia_km, advertencias } = juzgarDestino(guia, { ubicacion_lat: lat, ubicacion_lng: lng })
  const solicitud = guia.ubicacion_extra?.solicitud
  return {
    ubicacion_estado: 'confirmada',
    ubicacion_origen: origen,
    ubicacion_lat: lat,
    ubicacion_lng: lng,
    ubicacion_extra: {
      ...(enlace === null ? {} : { enlace }),
      ...(precision_m === null ? {} : { precision_m }),
      ...(referencia === null ? {} : { referencia }),
      ...(distancia_km === null ? {} : { distancia_km }),
      confirmado_en: ahora.toISOString(),
      ...(solicitud ? { solicitud } : {}),
    },
    advertencias: [
      ...guia.advertencias.filter(({ codigo }) => !DEL_LUGAR.includes(codigo)),
      ...(lat === null ? [enlace === null ? SOLO_DESCRITO : SIN_COORDENADAS] : []),
      ...advertencias,
    ],
  }
}

/** The step that confirms a place; its event tells the same coordinates. */
export const pasoDeLugar = (guia: FilaGuia, propuesta: Propuesta, ahora: Date) =>
  ({
    tipo: 'ubicacion.confirmada',
    ocurrido_en: ahora,
    registrado_en: ahora,
    lat: propuesta.lat,
    lng: propuesta.lng,
    ubicacion: lugarConfirmado(guia, propuesta, ahora),
  }) satisfies Paso

/**
 * Whether the guide's place is confirmed just so already: saying the same again changes nothing and writes no event.
 */
export const mismoLugar = (guia: FilaGuia, { enlace, lat, lng, referencia, origen }: Propuesta) =>
  guia.ubicacion_estado === 'confirmada' &&
  guia.ubicacion_origen === origen &&
  (enlace !== null
    ? guia.ubicacion_extra?.enlace === enlace
    : guia.ubicacion_lat === lat && guia.ubicacion_lng === lng) &&
  (guia.ubicacion_extra?.referencia ?? null) === referencia

/** Refuses a guide whose place may not be said any more. @throws Problema 409 `ubicacion_cerrada` */
export function exigirAbierta(guia: FilaGuia): void {
  if (admiteUbicacion(guia)) return
  const por =
    guia.estado === 'en_ruta' ? 'el repartidor ya va hacia el lugar confirmado' : 'ya no se va a entregar en otro lugar'
  throw new Problema('ubicacion_cerrada', `La guía está en ${guia.estado}; ${por}.`, { estado: guia.estado })
}

/**
 * The work that a link to a map makes: a short one names its place only to whoever follows it, any other makes none.
 */
export const enlacePorSeguir = (enlace: string | null, nuevoId: () => { id: string }) =>
  enlace !== null && leerEnlace(enlace).tipo === 'corto' ? { id: nuevoId().id, maps_url: enlace } : undefined

/** The bytes of a recipient's token: 128 bits. */
const BYTES_DE_TOKEN = 16

/**
 * The secret of a recipient's link, derived from the message that carries it: so the link can be made again for a
 * retry, and only its digest is kept.
 * @param kid which master key made it, of a link that is out already; else the present one
 * @returns undefined when that master key is gone
 */
export function tokenDe(secretos: Secretos, mensajeId: string, kid?: string | null) {
  const subclave = kid ? secretos.de('ubicacion', kid) : secretos.presente('ubicacion')
  if (!subclave) return undefined
  const token = createHmac('sha256', subclave.clave)
    .update(mensajeId)
    .digest()
    .subarray(0, BYTES_DE_TOKEN)
    .toString('base64url')
  return { kid: subclave.kid, token }
}

/** The digest by which a recipient's token is looked up. */
export const huellaDe = (token: string): Buffer => hash('sha256', token, 'buffer')
