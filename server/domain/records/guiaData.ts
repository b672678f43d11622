import type { Cuenta, GuiaIndividual } from '../../generated/contract/types/index.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'
import { isLandline, readTelephone } from '../../platform/telephones/telephone.ts'
import { judgeDestino, type StoredAdvertencia } from './advertencias.ts'
import type { GuiaData, GuiaRow, StoredRecogida } from './guiaFields.ts'
import { normalizeMetadata } from './metadatos.ts'

const DOUBTFUL_TELEFONO: StoredAdvertencia = { codigo: 'telefono_dudoso', campo: '/telefono' }
const LANDLINE_TELEFONO: StoredAdvertencia = { codigo: 'telefono_fijo', campo: '/telefono' }
const LINK_WITHOUT_COORDINATES: StoredAdvertencia = { codigo: 'enlace_sin_coordenadas', campo: '/maps_url' }

/**
 * Converts a valid request into the columns to store: telephone in E.164, every member of the pickup, location from
 * coordinates or link. The texts are in NFC since they were read.
 * @param nulls places of the request's members that were null, as JSON Pointers
 * @throws Error if the telephone was not validated
 */
export function normalizeGuia(body: GuiaIndividual, cuenta: Pick<Cuenta, 'pais'>, nulls?: readonly string[]): GuiaData {
  const telefono = readTelephone(body.telefono, body.pais ?? cuenta.pais)
  if ('error' in telefono) throw new Error('telefono was not validated')
  const ubicacion = locate(body)
  const destino = judgeDestino(body, ubicacion)
  return {
    external_ref: body.external_ref ?? null,
    telefono: telefono.e164,
    destinatario: body.destinatario ?? null,
    departamento: body.departamento,
    municipio: body.municipio,
    direccion: body.direccion ?? null,
    indicaciones: body.indicaciones ?? null,
    contenido: body.contenido ?? null,
    lat: body.lat ?? null,
    lng: body.lng ?? null,
    maps_url: body.maps_url ?? null,
    recogida: recogidaOf(body, cuenta),
    metadatos: normalizeMetadata(body.metadatos),
    ...ubicacion,
    ubicacion_extra: destino.distancia_km === null ? null : { distancia_km: destino.distancia_km },
    advertencias: [
      ...advertenciasOfTelefono(telefono, ubicacion),
      ...(ubicacion.ubicacion_origen === 'maps_url' && ubicacion.ubicacion_lat === null
        ? [LINK_WITHOUT_COORDINATES]
        : []),
      ...destino.advertencias,
      ...(nulls ? warningsOfNulls(nulls, ubicacion) : []),
    ],
  }
}

/** Returns the warnings about members that were null and whose absence has a consequence. */
function warningsOfNulls(
  nulls: readonly string[],
  { ubicacion_estado }: Pick<GuiaRow, 'ubicacion_estado'>,
): StoredAdvertencia[] {
  const nullPlaceMember = ['/lat', '/lng', '/maps_url'].find((member) => nulls.includes(member))
  return [
    ...(nulls.includes('/external_ref') ? [{ codigo: 'referencia_nula', campo: '/external_ref' } as const] : []),
    ...(nullPlaceMember && ubicacion_estado !== 'confirmada'
      ? [{ codigo: 'lugar_nulo', campo: nullPlaceMember } as const]
      : []),
  ]
}

/** Returns the warnings about a recipient's telephone. */
export const advertenciasOfTelefono = (
  { e164, dudoso }: { e164: string; dudoso: boolean },
  { ubicacion_estado }: Pick<GuiaRow, 'ubicacion_estado'>,
): StoredAdvertencia[] => [
  ...(dudoso ? [DOUBTFUL_TELEFONO] : []),
  // A message goes only to recipients who are asked for the location.
  ...(ubicacion_estado !== 'confirmada' && isLandline(e164) ? [LANDLINE_TELEFONO] : []),
]

function recogidaOf({ recogida }: GuiaIndividual, { pais }: Pick<Cuenta, 'pais'>): StoredRecogida {
  const { nombre = null, lat = null, lng = null, maps_url = null, telefono: rawTelefono, ...contacto } = recogida
  if (rawTelefono === undefined) return { nombre, lat, lng, maps_url, ...contacto }
  const telefono = readTelephone(rawTelefono, pais)
  if ('error' in telefono) throw new Error('recogida.telefono was not validated')
  return { nombre, lat, lng, maps_url, ...contacto, telefono: telefono.e164 }
}

type UbicacionColumns = Pick<GuiaRow, 'ubicacion_estado' | 'ubicacion_origen' | 'ubicacion_lat' | 'ubicacion_lng'>

/**
 * Returns the location that a request gives. Coordinates take precedence over a link. A link without coordinates still
 * counts as confirmed by the merchant. Without coordinates and link, the recipient is asked.
 */
function locate({ lat, lng, maps_url }: GuiaIndividual): UbicacionColumns {
  if (lat !== undefined && lng !== undefined) {
    return { ubicacion_estado: 'confirmada', ubicacion_origen: 'coordenadas', ubicacion_lat: lat, ubicacion_lng: lng }
  }
  if (maps_url === undefined) {
    return { ubicacion_estado: 'solicitada', ubicacion_origen: null, ubicacion_lat: null, ubicacion_lng: null }
  }
  const link = readLinkedPlace(maps_url)
  const linkCoordinates = link.tipo === 'coordenadas' ? link.coordinates : undefined
  return {
    ubicacion_estado: 'confirmada',
    ubicacion_origen: 'maps_url',
    ubicacion_lat: linkCoordinates?.lat ?? null,
    ubicacion_lng: linkCoordinates?.lng ?? null,
  }
}
