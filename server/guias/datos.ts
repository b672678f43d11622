import type { Cuenta, Falla, GuiaIndividual } from '../contrato/generado/tipos/index.ts'
import { leerEnlace } from '../mapas/enlaces.ts'
import { huella, type Secretos, type Subclave } from '../secretos.ts'
import { esFijo, leerTelefono } from '../telefonos/telefono.ts'
import { type AdvertenciaGuardada, juzgarDestino } from './advertencias.ts'
import type { FilaGuia } from './guia.ts'

/** The part of a guide's row that the request for it decides. */
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
 * Turns a valid request (its texts in NFC since they were read) into what is stored: the telephone in E.164, the pickup
 * resolved, the place read from coordinates or link.
 */
export function normalizar(cuerpo: GuiaIndividual, cuenta: Pick<Cuenta, 'pais'>): DatosDeGuia {
  const telefono = leerTelefono(cuerpo.telefono, cuerpo.pais ?? cuenta.pais)
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
      // Only whoever is asked for the place gets a message.
      ...(ubicacion.ubicacion_estado === 'solicitada' && esFijo(telefono.e164) ? [TELEFONO_FIJO] : []),
      ...(ubicacion.ubicacion_origen === 'maps_url' && ubicacion.ubicacion_lat === null
        ? [ENLACE_SIN_COORDENADAS]
        : []),
      ...destino.advertencias,
    ],
  }
}

type Lugar = Pick<FilaGuia, 'ubicacion_estado' | 'ubicacion_origen' | 'ubicacion_lat' | 'ubicacion_lng'>

/**
 * The place that a request names: coordinates win over a link, a link without coordinates still is the merchant's word
 * for it, and without either the recipient is asked.
 */
function ubicar({ lat, lng, maps_url }: GuiaIndividual): Lugar {
  if (lat !== undefined && lng !== undefined) {
    return { ubicacion_estado: 'confirmada', ubicacion_origen: 'coordenadas', ubicacion_lat: lat, ubicacion_lng: lng }
  }
  if (maps_url === undefined) {
    return { ubicacion_estado: 'solicitada', ubicacion_origen: null, ubicacion_lat: null, ubicacion_lng: null }
  }
  const enlace = leerEnlace(maps_url)
  const leidas = enlace.tipo === 'coordenadas' ? enlace.coordenadas : undefined
  return {
    ubicacion_estado: 'confirmada',
    ubicacion_origen: 'maps_url',
    ubicacion_lat: leidas?.lat ?? null,
    ubicacion_lng: leidas?.lng ?? null,
  }
}

/** The fields that make the content of a request: all that it can set, as normalised, except the reference itself. */
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

const digerir = (datos: DatosDeGuia, subclave: Subclave): string[] =>
  CAMPOS.map((campo) => {
    const valor = datos[campo]
    return valor === null ? '' : huella(subclave, `${campo}\n${JSON.stringify(valor)}`)
  })

/**
 * One keyed digest for each field of a request as first accepted, so that later confirmation or retention never makes a
 * replay a conflict: a text of the sub-key's name and the digests, in the order of the fields.
 */
export function huellasDe(datos: DatosDeGuia, secretos: Secretos): string {
  const presente = secretos.presente('huellas')
  return [presente.kid, ...digerir(datos, presente)].join(' ')
}

/** The fields in which a repeated request differs from the first one; none makes it a replay. */
export function diferencias(primera: string | null, datos: DatosDeGuia, secretos: Secretos): Falla[] {
  const [kid = '', ...primeras] = primera?.split(' ') ?? []
  const subclave = secretos.de('huellas', kid)
  // Without the key nobody can tell: refusing is the answer that can't create or hide a shipment.
  const segundas = subclave ? digerir(datos, subclave) : []
  return CAMPOS.filter((_campo, i) => primeras[i] !== segundas[i]).map((campo) => ({
    campo: `/${campo}`,
    codigo: 'difiere',
    mensaje: 'es distinto del que se envió al crear la guía',
  }))
}
