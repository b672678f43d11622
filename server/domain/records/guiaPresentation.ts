import type { Advertencia, CanalDeMensaje, Guia, GuiaDeAviso, Ubicacion } from '../../generated/contract/types/index.ts'
import { iso } from '../../platform/time/instant.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import { presentDecision } from '../estados/decision.ts'
import { isFinalState } from '../estados/estados.ts'
import { presentAdvertencias, type StoredAdvertencia } from './advertencias.ts'
import type { GuiaInJson, GuiaRow, StoredRecogida } from './guiaFields.ts'
import { isUnsendable } from './locationRequest.ts'
import { presentMetadata } from './metadatos.ts'

/** Settings on which the answers with a guide depend. */
interface GuiaSettings {
  readonly publicUrl: string
  readonly timeZone: string | undefined
}

/** Returns the URL of a guide's public tracking page. */
export const rastreoUrl = ({ publicUrl }: Pick<GuiaSettings, 'publicUrl'>, guia: string) => `${publicUrl}/r/${guia}`

/**
 * Returns a row of `guia` as the contract's current guide, including what follows from the state of its location
 * request.
 */
export const present = (settings: GuiaSettings, row: GuiaRow | GuiaInJson): Guia =>
  Object.assign(presentCurrent(row), {
    zona_horaria: timeZoneOf(row, settings.timeZone),
    url_rastreo: rastreoUrl(settings, row.guia),
  })

/** Returns the current guide like {@link present}, without what only answers have. */
export const presentCurrent = (row: GuiaRow | GuiaInJson): GuiaDeAviso => presentStored(withDerived(row))

/**
 * Returns a row of `guia` as the contract's guide, from stored data only. A webhook body is rebuilt from the snapshot
 * (`foto`) of its event. The body must stay the same, even if a later version derives something else.
 */
export function presentStored(row: GuiaRow | GuiaInJson): GuiaDeAviso {
  return {
    guia: row.guia,
    estado: row.estado,
    modo: row.modo,
    external_ref: row.external_ref,
    telefono: row.telefono,
    destinatario: row.destinatario,
    departamento: row.departamento,
    municipio: row.municipio,
    direccion: row.direccion,
    indicaciones: row.indicaciones,
    contenido: row.contenido,
    lat: row.lat,
    lng: row.lng,
    maps_url: row.maps_url,
    recogida: presentRecogida(row.recogida),
    metadatos: presentMetadata(row.metadatos),
    ubicacion: presentUbicacion(row),
    intentos: row.intentos,
    decision: presentDecision(row.decision),
    advertencias: presentAdvertencias(row),
    secuencia: row.secuencia,
    creado_en: iso(row.creado_en),
    actualizado_en: iso(row.actualizado_en),
    datos_borrados_en: row.datos_borrados_en && iso(row.datos_borrados_en),
  }
}

/** Reports whether the guide still needs the answer to a location request. */
const awaitsUbicacion = ({ estado, ubicacion_estado }: Pick<GuiaInJson, 'estado' | 'ubicacion_estado'>) =>
  ubicacion_estado !== 'confirmada' && !isFinalState(estado)

/**
 * Returns a request's state as clients see it. No worker processes a request that cannot be sent, so its row stays
 * `pendiente`. The result is `descartado` as soon as the guide does not need the answer.
 */
export const requestEstadoOf = <E extends string>(
  guia: Pick<GuiaInJson, 'modo' | 'estado' | 'ubicacion_estado'>,
  { canal, estado }: { canal: CanalDeMensaje; estado: E },
): E | 'descartado' =>
  estado === 'pendiente' && isUnsendable(guia.modo, canal) && !awaitsUbicacion(guia) ? 'descartado' : estado

const WITHOUT_MENSAJERIA: StoredAdvertencia = { codigo: 'sin_mensajeria', campo: '/ubicacion' }

/**
 * Returns the row with its request's state as clients see it. Adds the warning `sin_mensajeria` if the guide waits for
 * an answer to a request that was never sent.
 */
function withDerived<F extends GuiaRow | GuiaInJson>(row: F): F {
  const { solicitud } = row.ubicacion_extra ?? {}
  if (!solicitud || !isUnsendable(row.modo, solicitud.canal)) return row
  const estado = requestEstadoOf(row, solicitud)
  const nobodyAsks = estado === 'pendiente' && awaitsUbicacion(row)
  return {
    ...row,
    ubicacion_extra: { ...row.ubicacion_extra, solicitud: { ...solicitud, estado } },
    advertencias: nobodyAsks ? [...row.advertencias, WITHOUT_MENSAJERIA] : row.advertencias,
  }
}

/**
 * Returns a guide's warnings: the stored warnings, and the warning that follows from the state of its location request.
 */
export const advertenciasOf = (row: GuiaRow | GuiaInJson): Advertencia[] => presentAdvertencias(withDerived(row))

/**
 * Returns a pickup with its members in a fixed order. jsonb has its own order, and a rebuilt body must be identical.
 */
const presentRecogida = ({
  nombre,
  lat,
  lng,
  maps_url,
  contacto = null,
  telefono = null,
  direccion = null,
  indicaciones = null,
}: StoredRecogida): Guia['recogida'] => ({ nombre, lat, lng, maps_url, contacto, telefono, direccion, indicaciones })

/** Returns the location of a guide's row in the contract's form. */
function presentUbicacion(row: GuiaRow | GuiaInJson): Ubicacion {
  const { enlace, precision_m, referencia, distancia_km, confirmado_en, solicitud } = row.ubicacion_extra ?? {}
  const isConfirmed = row.ubicacion_estado === 'confirmada'
  return {
    estado: row.ubicacion_estado,
    origen: row.ubicacion_origen,
    lat: row.ubicacion_lat,
    lng: row.ubicacion_lng,
    maps_url: enlace ?? (row.ubicacion_origen === 'maps_url' ? row.maps_url : null),
    precision_m: precision_m ?? null,
    referencia: referencia ?? null,
    distancia_km: distancia_km ?? null,
    confirmado_en: isConfirmed ? (confirmado_en ?? iso(row.creado_en)) : null,
    solicitud: solicitud
      ? {
          canal: solicitud.canal,
          estado: solicitud.estado,
          numero: solicitud.numero,
          creado_en: iso(solicitud.creado_en),
          enviado_en: isoOrNull(solicitud.enviado_en),
          entregado_en: isoOrNull(solicitud.entregado_en),
          leido_en: isoOrNull(solicitud.leido_en),
          vence_en: isoOrNull(solicitud.vence_en),
          motivo: solicitud.motivo ?? null,
        }
      : null,
  }
}

const isoOrNull = (text: string | undefined) => (text === undefined ? null : iso(text))
