import type { Cuenta, Falla, GuiaIndividual } from '../../generado/contrato/tipos/index.ts'
import { readMapLink } from '../../platform/maps/links.ts'
import { digest, type Secrets, type SubKey } from '../../platform/secrets.ts'
import { isLandline, readTelephone } from '../../platform/telephones/telephone.ts'
import { type AdvertenciaGuardada, juzgarDestino } from './advertencias.ts'
import type { FilaGuia } from './guia.ts'

/** Columns of a guide's row that come from the creation request. */
export type DatosDeGuia = Omit<
  FilaGuia,
  | 'comercio_id'
  | 'modo'
  | 'id'
  | 'guia'
  | 'huellas'
  | 'estado'
  | 'estado_en'
  | 'custodio'
  | 'intentos'
  | 'secuencia'
  | 'creado_en'
  | 'actualizado_en'
  | 'datos_borrados_en'
>

const TELEFONO_DUDOSO: AdvertenciaGuardada = { codigo: 'telefono_dudoso', campo: '/telefono' }
const TELEFONO_FIJO: AdvertenciaGuardada = { codigo: 'telefono_fijo', campo: '/telefono' }
const ENLACE_SIN_COORDENADAS: AdvertenciaGuardada = { codigo: 'enlace_sin_coordenadas', campo: '/maps_url' }

/**
 * Converts a valid request into the columns to store: telephone in E.164, every member of the pickup, location from
 * coordinates or link. The texts are in NFC since they were read.
 * @throws Error if the telephone was not validated
 */
export function normalizar(cuerpo: GuiaIndividual, cuenta: Pick<Cuenta, 'pais'>): DatosDeGuia {
  const telefono = readTelephone(cuerpo.telefono, cuerpo.pais ?? cuenta.pais)
  if ('error' in telefono) throw new Error('telefono was not validated')
  const ubicacion = ubicar(cuerpo)
  const destino = juzgarDestino(cuerpo, ubicacion)
  return {
    external_ref: cuerpo.external_ref ?? null,
    telefono: telefono.e164,
    destinatario: cuerpo.destinatario ?? null,
    departamento: cuerpo.departamento,
    municipio: cuerpo.municipio,
    direccion: cuerpo.direccion ?? null,
    indicaciones: cuerpo.indicaciones ?? null,
    contenido: cuerpo.contenido ?? null,
    lat: cuerpo.lat ?? null,
    lng: cuerpo.lng ?? null,
    maps_url: cuerpo.maps_url ?? null,
    recogida: {
      nombre: cuerpo.recogida.nombre ?? null,
      lat: cuerpo.recogida.lat ?? null,
      lng: cuerpo.recogida.lng ?? null,
      maps_url: cuerpo.recogida.maps_url ?? null,
    },
    ...ubicacion,
    ubicacion_extra: destino.distancia_km === null ? null : { distancia_km: destino.distancia_km },
    advertencias: [
      ...(telefono.dudoso ? [TELEFONO_DUDOSO] : []),
      // A message goes only to recipients who are asked for the location.
      ...(ubicacion.ubicacion_estado === 'solicitada' && isLandline(telefono.e164) ? [TELEFONO_FIJO] : []),
      ...(ubicacion.ubicacion_origen === 'maps_url' && ubicacion.ubicacion_lat === null
        ? [ENLACE_SIN_COORDENADAS]
        : []),
      ...destino.advertencias,
    ],
  }
}

type Lugar = Pick<FilaGuia, 'ubicacion_estado' | 'ubicacion_origen' | 'ubicacion_lat' | 'ubicacion_lng'>

/**
 * Returns the location that a request gives. Coordinates take precedence over a link. A link without coordinates still
 * counts as confirmed by the merchant. Without coordinates and link, the recipient is asked.
 */
function ubicar({ lat, lng, maps_url }: GuiaIndividual): Lugar {
  if (lat !== undefined && lng !== undefined) {
    return { ubicacion_estado: 'confirmada', ubicacion_origen: 'coordenadas', ubicacion_lat: lat, ubicacion_lng: lng }
  }
  if (maps_url === undefined) {
    return { ubicacion_estado: 'solicitada', ubicacion_origen: null, ubicacion_lat: null, ubicacion_lng: null }
  }
  const enlace = readMapLink(maps_url)
  const leidas = enlace.tipo === 'coordenadas' ? enlace.coordenadas : undefined
  return {
    ubicacion_estado: 'confirmada',
    ubicacion_origen: 'maps_url',
    ubicacion_lat: leidas?.lat ?? null,
    ubicacion_lng: leidas?.lng ?? null,
  }
}

/**
 * Fields that are compared to recognise a repeated request: all that a request can set, as normalised, except
 * `external_ref`.
 */
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

const digerir = (datos: DatosDeGuia, subclave: SubKey): string[] =>
  CAMPOS.map((campo) => {
    const valor = datos[campo]
    return valor === null ? '' : digest(subclave, `${campo}\n${JSON.stringify(valor)}`)
  })

/**
 * Returns the sub-key's id and one keyed digest per field of {@link CAMPOS}, in that order, separated by spaces. The
 * digests are of the request as first accepted. A later confirmation or erasure therefore never turns a replay into a
 * conflict.
 */
export function huellasDe(datos: DatosDeGuia, secretos: Secrets): string {
  const presente = secretos.presente('huellas')
  return [presente.kid, ...digerir(datos, presente)].join(' ')
}

/** Returns the fields in which a repeated request differs from the first request; an empty list means a replay. */
export function diferencias(primera: string | null, datos: DatosDeGuia, secretos: Secrets): Falla[] {
  const [kid = '', ...primeras] = primera?.split(' ') ?? []
  const subclave = secretos.de('huellas', kid)
  // Without the sub-key the digests cannot be compared. Reporting every field as different is safe, because a conflict
  // neither creates nor hides a shipment.
  const segundas = subclave ? digerir(datos, subclave) : []
  return CAMPOS.filter((_campo, i) => primeras[i] !== segundas[i]).map((campo) => ({
    campo: `/${campo}`,
    codigo: 'difiere',
    mensaje: 'es distinto del que se envió al crear la guía',
  }))
}
