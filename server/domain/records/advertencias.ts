import type {
  Advertencia,
  CodigoDeAdvertencia,
  Estado,
  Falla,
  NombresSugeridos,
} from '../../generated/contract/types/index.ts'
import { distanceKm } from '../../platform/maps/point.ts'
import { FAR_KM, findDestino, type UnknownDestino } from '../catalogo/catalogo.ts'
import { findSuspicion, isImplausible, type Suspicion } from './suspectPlaces.ts'

/**
 * Warning codes that a guide may have. The excluded codes are about unknown members of a request and about an API key
 * that expires soon.
 */
type AdvertenciaCode = Exclude<CodigoDeAdvertencia, 'campo_desconocido' | 'llave_por_vencer'>

/**
 * Stored part of a guide's warning. The message and the suggestion are generated each time the warning is presented.
 */
export interface StoredAdvertencia {
  codigo: AdvertenciaCode
  /** Member of the guide that the warning refers to, as a JSON Pointer (RFC 6901); null if it refers to none. */
  campo: string | null
}

/** Declared department and municipality of a guide. */
interface Destino {
  departamento: string
  municipio: string
}

/** Coordinates of a guide's location; null while they are unknown. */
interface GuiaCoordinates {
  ubicacion_lat: number | null
  ubicacion_lng: number | null
}

/** Fields of a guide that its warnings and their texts depend on. */
interface WarnedGuia extends Destino, GuiaCoordinates {
  ubicacion_extra: { distancia_km?: number } | null
  advertencias: readonly StoredAdvertencia[]
}

/**
 * Checks a guide's destination and location, and never rejects the guide. Returns a warning if the catalogue does not
 * know the destination. Returns another warning if the location is far from the destination or implausible.
 */
export function judgeDestino(destino: Destino, place: GuiaCoordinates): DestinoJudgement {
  const found = findDestino(destino.departamento, destino.municipio)
  if ('explainUnknown' in found) {
    const explainUnknown = { codigo: 'destino_desconocido', campo: `/${found.explainUnknown}` } as const
    const suspicion = suspicionOf(destino, place)
    return {
      distancia_km: null,
      advertencias: suspicion ? [explainUnknown, ubicacionAdvertencia(suspicion.codigo)] : [explainUnknown],
    }
  }
  const { ubicacion_lat: lat, ubicacion_lng: lng } = place
  if (lat === null || lng === null) return { distancia_km: null, advertencias: [] }
  const km = Math.round(distanceKm(found.municipio, { lat, lng }) * 10) / 10
  // Nearly all locations are near, so the slower check runs only for the others.
  if (km <= FAR_KM) return { distancia_km: km, advertencias: [] }
  return {
    distancia_km: km,
    advertencias: [ubicacionAdvertencia(suspicionOf(destino, place)?.codigo ?? 'ubicacion_lejana')],
  }
}

/**
 * Kilometres from the location to the declared municipality (null if either is unknown), and the resulting warnings.
 */
interface DestinoJudgement {
  distancia_km: number | null
  advertencias: StoredAdvertencia[]
}

const ubicacionAdvertencia = (codigo: AdvertenciaCode): StoredAdvertencia => ({ codigo, campo: '/ubicacion' })

const suspicionOf = ({ departamento }: Destino, { ubicacion_lat: lat, ubicacion_lng: lng }: GuiaCoordinates) =>
  lat === null || lng === null ? undefined : findSuspicion(departamento, { lat, lng })

/** Returns a guide's warnings in the contract's form. */
export const presentAdvertencias = (guia: WarnedGuia): Advertencia[] =>
  guia.advertencias.map(({ codigo, campo }) => ({ codigo, campo, ...WORDINGS[codigo](guia, campo) }))

/** Codes of warnings about a null whose absence has a consequence. */
const OF_NULLS = ['referencia_nula', 'lugar_nulo'] as const satisfies readonly AdvertenciaCode[]

const isOfNull = (code: string) => (OF_NULLS as readonly string[]).includes(code)

/** Reports whether a warning of a new guide is a fault instead if the request has `estricto`. */
export const isRefusedIfStrict = (code: string): boolean => isImplausible(code) || isOfNull(code)

/** Returns the faults of a new guide whose nulls have a consequence, for requests with `estricto`. */
export const explainNulls = (guia: WarnedGuia): Falla[] =>
  presentAdvertencias(guia)
    .filter(({ codigo }) => isOfNull(codigo))
    .map(({ campo, mensaje }) => ({ campo: campo!, codigo: 'requerido', mensaje }))

/**
 * Returns the faults of a guide with an implausible location, for requests with `estricto`; empty if the location is
 * plausible. Each fault contains the warning's message and, if known, the location that was probably meant.
 * @param fromLink true if a link gave the location, false if coordinates did
 */
export const explainImplausible = (guia: WarnedGuia, fromLink: boolean): Falla[] =>
  presentAdvertencias(guia)
    .filter(({ codigo }) => isImplausible(codigo))
    .map(({ mensaje, sugerencia }) => {
      const corrected = sugerencia !== null && typeof sugerencia === 'object' && 'lat' in sugerencia ? sugerencia : null
      return {
        campo: fromLink ? '/maps_url' : corrected?.lat === guia.ubicacion_lat ? '/lng' : '/lat',
        codigo: 'lugar_inverosimil',
        mensaje: corrected ? `${mensaje} Quizá quiso decir ${corrected.lat}, ${corrected.lng}.` : mensaje,
        ...(corrected && { sugerencia: corrected }),
      }
    })

type Wording = Pick<Advertencia, 'mensaje' | 'sugerencia'>

/** Warnings of a repeated creation that ships nothing, by the state of the guide that it found. */
const ENDED: Partial<Record<Estado, AdvertenciaCode>> = {
  cancelado: 'ya_cancelada',
  en_devolucion: 'ya_devuelta',
  devuelto: 'ya_devuelta',
  extraviado: 'ya_extraviada',
}

/**
 * Adds a warning to the guide of a repeated creation if it will not be delivered.
 * @param campo member of the guide that was repeated; null if it was the request's key
 */
export function warnOfEnd<T extends { estado: Estado; advertencias: readonly StoredAdvertencia[] }>(
  guia: T,
  campo: '/external_ref' | null,
): T {
  const codigo = ENDED[guia.estado]
  return codigo ? { ...guia, advertencias: [...guia.advertencias, { codigo, campo }] } : guia
}

const sayEnded =
  (state: string) =>
  (_guia: WarnedGuia, field: string | null): Wording => ({
    mensaje: field
      ? `la guía de esta referencia ya existía y ${state}: para otro envío use otra external_ref`
      : `la guía que creó esta Idempotency-Key ${state}: para otro envío use otra clave`,
    sugerencia: null,
  })

const WORDINGS: Record<AdvertenciaCode, (guia: WarnedGuia, field: string | null) => Wording> = {
  telefono_dudoso: () => ({
    mensaje:
      'el número es posible, pero no figura en ningún plan de numeración conocido: revise los dígitos y el código de país',
    sugerencia: null,
  }),
  enlace_sin_coordenadas: () => ({
    mensaje:
      'el enlace de mapa no marca un punto y se conserva como lugar confirmado: si es corto se resuelve en unos minutos; si no, ponga un pin en la puerta o acerque el mapa hasta ver la casa y copie otra vez el enlace, o dé lat y lng',
    sugerencia: null,
  }),
  lugar_descrito: () => ({
    mensaje:
      'el destinatario describió el lugar con palabras, en ubicacion.referencia, y no hay un punto en el mapa: si lo conoce, dé lat y lng para que el repartidor llegue a él',
    sugerencia: null,
  }),
  lugar_por_revisar: () => ({
    mensaje:
      'se corrigió la dirección o el municipio y se conserva el lugar que estaba confirmado: revise que sea el mismo, o confirme el nuevo',
    sugerencia: null,
  }),
  etiqueta_desactualizada: () => ({
    mensaje: 'la etiqueta que se imprimió es anterior a una corrección de lo que muestra: imprímala otra vez',
    sugerencia: null,
  }),
  metadatos_distintos: () => ({
    mensaje: 'la guía ya existía con otros metadatos y conserva los suyos, que no cambian después de crearla',
    sugerencia: null,
  }),
  ya_cancelada: sayEnded('está cancelada'),
  ya_devuelta: sayEnded('se devuelve o se devolvió'),
  ya_extraviada: sayEnded('está extraviada'),
  referencia_nula: () => ({
    mensaje:
      'external_ref vino nula y cuenta como ausente: repetir esta creación hará otra guía; dé a cada pedido su referencia',
    sugerencia: null,
  }),
  lugar_nulo: (_guia, field) => ({
    mensaje: `${field?.slice(1)} vino sin valor (null) y cuenta como ausente: el lugar se le pregunta al destinatario; si lo conoce, dé lat y lng, o maps_url`,
    sugerencia: null,
  }),
  destino_desconocido: describeUnknown,
  telefono_fijo: () => ({
    mensaje:
      'es un teléfono fijo y no recibirá el mensaje que pide la ubicación: confirme usted el lugar, o cree la guía con un móvil',
    sugerencia: null,
  }),
  sin_mensajeria: () => ({
    mensaje:
      'nadie le preguntará el lugar al destinatario, porque el servicio no tiene mensajería configurada: confirme usted el lugar, con coordenadas o con un enlace de mapa, o pida a quien opera el servicio que la configure',
    sugerencia: null,
  }),
  coordenadas_en_cero: () => ({
    mensaje:
      'lat y lng son 0, un lugar en el mar: dé las coordenadas del destino, o ninguna, y se le preguntará al destinatario',
    sugerencia: null,
  }),
  coordenadas_sin_signo: describeSuspicion,
  coordenadas_invertidas: describeSuspicion,
  fuera_del_departamento: describeSuspicion,
  ubicacion_lejana: ({ ubicacion_extra }) => ({
    mensaje: `el lugar confirmado está a ${ubicacion_extra?.distancia_km ?? `más de ${FAR_KM}`} km del municipio declarado: revise el municipio y el lugar`,
    sugerencia: null,
  }),
}

/**
 * Describes an implausible location from its current data. Returns a generic message if the coordinates were erased or
 * no longer look implausible.
 */
function describeSuspicion(guia: WarnedGuia): Wording {
  const suspicion = suspicionOf(guia, guia)
  if (!suspicion) return { mensaje: 'el lugar no estaba donde dice el departamento', sugerencia: null }
  return {
    mensaje: `el lugar está ${describeWhere(suspicion, guia)}: ${askForCorrection(suspicion, guia)}`,
    sugerencia: suspicion.corrected,
  }
}

function describeWhere({ km }: Suspicion, { departamento, municipio, ubicacion_extra }: WarnedGuia): string {
  const kmToMunicipio = ubicacion_extra?.distancia_km
  if (kmToMunicipio !== undefined) return `a ${Math.round(kmToMunicipio)} km de ${municipio}`
  return km === null ? 'lejos de todos los departamentos del catálogo' : `a ${Math.round(km)} km de ${departamento}`
}

function askForCorrection({ codigo, corrected }: Suspicion, { ubicacion_lat, ubicacion_lng }: WarnedGuia): string {
  if (codigo === 'coordenadas_invertidas') return '¿lat y lng al revés?'
  if (!corrected) return 'revise el departamento y el lugar'
  if (corrected.lat === ubicacion_lat) return '¿falta el signo − en lng?'
  return corrected.lng === ubicacion_lng ? '¿falta el signo − en lat?' : '¿falta el signo − en lat y en lng?'
}

/** Describes an unknown destination, with its likely mistake, and suggests names from the current catalogue. */
function describeUnknown({ departamento, municipio }: WarnedGuia, field: string | null): Wording {
  const name = field === '/departamento' ? departamento : municipio
  const found = findDestino(departamento, municipio)
  const suggestedNames = 'suggest' in found ? found.suggest() : { departamentos: [], municipios: [] }
  // The catalogue may have changed since the warning was stored.
  const unknown = 'suggest' in found && field === `/${found.explainUnknown}` ? found : undefined
  return {
    mensaje: `${sayMistake(name, { departamento, municipio }, unknown, suggestedNames)}; si es correcto, la guía vale así`,
    sugerencia: suggestedNames.departamentos.length + suggestedNames.municipios.length > 0 ? suggestedNames : null,
  }
}

const or = new Intl.ListFormat('es', { type: 'disjunction' })

/** Maximum departments that a message lists. */
const MAX_LISTED = 5

const formatList = (departamentos: readonly string[]) =>
  departamentos.length > MAX_LISTED
    ? `${departamentos.slice(0, MAX_LISTED).join(', ')} u otros`
    : or.format(departamentos)

function sayMistake(
  name: string,
  { departamento, municipio }: Destino,
  found: UnknownDestino | undefined,
  names: NombresSugeridos,
): string {
  const mistake = found?.mistake()
  switch (mistake?.kind) {
    case 'elsewhere':
      return `«${name}» no es un municipio de ${departamento}, sino de ${formatList(mistake.departamentos)}: revise el departamento`
    case 'municipality':
      return `«${name}» no es un departamento, sino un municipio de ${formatList(mistake.departamentos)}: escriba su departamento`
    case 'swapped':
      return `«${name}» es un municipio y «${municipio}» su departamento: escriba cada uno en su campo`
    case 'part':
      return found?.explainUnknown === 'municipio'
        ? `«${name}» no es un municipio: escriba el suyo${inParentheses(names.municipios)}, y la zona en direccion`
        : `«${name}» no es un departamento: escriba el suyo${inParentheses(names.departamentos)} y su municipio${inParentheses(names.municipios)}, y la zona en direccion`
    default:
      return `«${name}» no está en el catálogo: revise cómo está escrito`
  }
}

const inParentheses = ([first]: readonly string[]) => (first === undefined ? '' : ` (${first})`)
