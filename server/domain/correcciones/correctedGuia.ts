// Computes the guide that a correction would produce. Pure functions.

import type { CorreccionDeGuia, Estado } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { judgeDestino, type StoredAdvertencia } from '../records/advertencias.ts'
import type { CorrectableColumn, CorrectionChanges } from '../records/correccionCipher.ts'
import { advertenciasOfTelefono } from '../records/guiaData.ts'
import { CORRECTABLE_COLUMNS, type GuiaRow, pickCorrectable, type StoredRecogida } from '../records/guiaFields.ts'

/** Fields of a guide that a correction can change, named as in the contract. */
export type CorrectedFields = Omit<CorreccionDeGuia, 'estricto' | 'secuencia'>

/** Settings of the guide's merchant. */
interface Cuenta {
  /** Default country of telephones without `+`. */
  pais: string | null
}

/** States in which the recipient's data, the contents and the destination may be corrected. */
const ENTREGA_STATES: readonly Estado[] = ['aceptado', 'recolectado', 'en_bodega', 'en_transito', 'intento_fallido']
/** States in which the pickup may be corrected: those before the parcel is collected. */
const RECOGIDA_STATES: readonly Estado[] = ['aceptado']

/** Reports whether the recipient's data, the contents and the destination may be corrected in this state. */
export const admitsCorreccion = (estado: Estado): boolean => ENTREGA_STATES.includes(estado)

/**
 * Reports whether a correction contains a field of the guide. `pais` alone does not count, because it only tells how to
 * read a telephone.
 */
const correctsAnything = (fields: CorrectedFields) => Object.keys(fields).some((field) => field !== 'pais')

/**
 * Rejects a correction that contains no field of the guide, as the contract rejects an empty body.
 * @throws Problema 422
 */
export function requireFields(fields: CorrectedFields): void {
  if (correctsAnything(fields)) return
  const mensaje = 'debe llevar al menos un campo que corregir'
  throw problemOfFaults('validacion', [{ campo: '', codigo: 'valor_no_admitido', mensaje }])
}

/**
 * Rejects a correction that the guide's state does not allow.
 * @throws Problema 409 `no_corregible`, with the states that allow all of its fields
 */
export function requireCorrectable(
  { estado }: Pick<GuiaRow, 'estado'>,
  { recogida, ...otherFields }: CorrectedFields,
): void {
  const admitida_en = recogida ? RECOGIDA_STATES : ENTREGA_STATES
  if (admitida_en.includes(estado)) return
  const remedy = recogida ? recogidaRemedy(estado, otherFields) : (REMEDIES[estado] ?? FIN)
  throw new Problema('no_corregible', `La guía está en ${estado}${remedy}`, { estado, admitida_en: [...admitida_en] })
}

const recogidaRemedy = (estado: Estado, otherFields: CorrectedFields) =>
  ` y la recogida ya no se corrige.${admitsCorreccion(estado) && correctsAnything(otherFields) ? ' Envíe los demás campos sin recogida.' : ''}`

const FIN = ' y ya no se corrige.'
/** Ends of the error message for states in which the user can still do something. */
const REMEDIES: Readonly<Partial<Record<Estado, string>>> = {
  en_ruta: '. Esa corrección se admite otra vez tras un intento fallido.',
  extraviado: '. Esa corrección se admite otra vez cuando el paquete aparezca.',
  en_devolucion: `${FIN} Si hace falta, hable con el servicio de mensajería.`,
}

/** Result of a correction: changed columns, and consequences for the guide. */
export interface CorrectedGuia {
  /** All columns that a correction may change, with their new values. */
  values: Pick<GuiaRow, CorrectableColumn>
  /** Old and new values of the columns that change. */
  cambios: CorrectionChanges
  /** JSON Pointers to the changed members of the guide, in the order of the contract's `Guia`. */
  campos: string[]
  /** Guide after the correction. A new location is not confirmed in it yet. */
  guia: GuiaRow
}

/**
 * Applies the fields of a correction to a guide, with the rules of a creation. Members that are absent stay, and null
 * erases.
 * @param cuenta account of the guide's merchant, whose country telephones without `+` have
 * @throws Error if a telephone was not validated
 */
export function correctGuia(storedGuia: GuiaRow, fields: CorrectedFields, cuenta: Cuenta): CorrectedGuia {
  const values = valuesOf(storedGuia, fields, cuenta)
  const changedColumns = CORRECTABLE_COLUMNS.filter((column) => !areEqual(storedGuia[column], values[column]))
  const cambios = Object.fromEntries(
    changedColumns.map((column) => [column, { antes: storedGuia[column], despues: values[column] }]),
  ) as CorrectionChanges
  const guia = { ...storedGuia, ...values }
  const { distancia_km, advertencias } = checkAdvertencias(storedGuia, guia, cambios)
  return {
    values,
    cambios,
    campos: changedColumns.flatMap((column) => pointersOf(column, storedGuia, values)),
    guia: { ...guia, advertencias, ubicacion_extra: withDistance(storedGuia, distancia_km) },
  }
}

function valuesOf(storedGuia: GuiaRow, fields: CorrectedFields, cuenta: Cuenta): CorrectedGuia['values'] {
  const { telefono, pais, recogida, lat, lng, maps_url, ...textFields } = fields
  return {
    ...pickCorrectable(storedGuia),
    ...textFields,
    ...(telefono === undefined ? {} : { telefono: readTelefono(telefono, pais ?? cuenta.pais) }),
    ...placeOf({ lat, lng, maps_url }),
    ...(recogida ? { recogida: correctRecogida(storedGuia.recogida, recogida, cuenta) } : {}),
  }
}

/**
 * Returns lat, lng and link of a place that a correction names; empty if it names none. The three columns change
 * together.
 */
const placeOf = ({ lat, lng, maps_url }: { [M in 'lat' | 'lng' | 'maps_url']?: CorrectedFields[M] | undefined }) =>
  lat === undefined && maps_url === undefined ? {} : { lat: lat ?? null, lng: lng ?? null, maps_url: maps_url ?? null }

function correctRecogida(
  storedRecogida: StoredRecogida,
  { lat, lng, maps_url, telefono, ...textFields }: NonNullable<CorrectedFields['recogida']>,
  { pais }: Cuenta,
): StoredRecogida {
  const reading = typeof telefono === 'string' ? readTelefono(telefono, pais) : telefono
  const contacto = { ...textFields, ...(reading === undefined ? {} : { telefono: reading }) }
  const correctedRecogida = { ...storedRecogida, ...placeOf({ lat, lng, maps_url }), ...contacto }
  // Members of the contact that are null are left out, as in a new guide.
  for (const member of ['contacto', 'telefono', 'direccion', 'indicaciones'] as const)
    if (correctedRecogida[member] === null) delete correctedRecogida[member]
  return correctedRecogida
}

function readTelefono(text: string, country: string | null | undefined): string {
  const telefono = readTelephone(text, country)
  if ('error' in telefono) throw new Error('the telephone was not validated')
  return telefono.e164
}

/** Compares two values of a column. Pickups are equal if all their members are equal. */
const areEqual = (left: unknown, other: unknown): boolean =>
  left === other ||
  (isObject(left) &&
    isObject(other) &&
    [...new Set([...Object.keys(left), ...Object.keys(other)])].every((member) => left[member] === other[member]))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function pointersOf(column: CorrectableColumn, storedGuia: GuiaRow, values: CorrectedGuia['values']): string[] {
  if (column !== 'recogida') return [`/${column}`]
  const [before, after] = [storedGuia.recogida, values.recogida]
  const members = ['nombre', 'lat', 'lng', 'maps_url', 'contacto', 'telefono', 'direccion', 'indicaciones'] as const
  return members.filter((member) => before[member] !== after[member]).map((member) => `/recogida/${member}`)
}

/** Codes of warnings about the form in which a creation gave its place and reference. A correction keeps them. */
const HOW_GIVEN: readonly string[] = [
  'enlace_sin_coordenadas',
  'lugar_descrito',
  'lugar_por_revisar',
  'referencia_nula',
  'lugar_nulo',
]

/** Columns whose correction may mean that the confirmed location is no longer the right one. */
const OTHER_PLACE = ['direccion', 'departamento', 'municipio'] as const

/** Columns that are printed on a label. */
const ON_ETIQUETA = [
  ...(['telefono', 'destinatario', 'departamento', 'municipio', 'direccion', 'indicaciones', 'contenido'] as const),
  'recogida',
] as const satisfies readonly CorrectableColumn[]

/** Checks the guide's location against its corrected destination, and returns all warnings of the guide. */
function checkAdvertencias(storedGuia: GuiaRow, guia: GuiaRow, changes: CorrectionChanges) {
  const { distancia_km, advertencias } = judgeDestino(guia, storedGuia)
  const tenia = (code: StoredAdvertencia['codigo']) =>
    storedGuia.advertencias.some((advertencia) => advertencia.codigo === code)
  const needsReview =
    guia.ubicacion_estado === 'confirmada' &&
    !tenia('lugar_por_revisar') &&
    OTHER_PLACE.some((column) => column in changes)
  const isEtiquetaStale =
    tenia('etiqueta_desactualizada') ||
    (storedGuia.etiqueta_en !== null && ON_ETIQUETA.some((column) => column in changes))
  const telefono = readTelephone(guia.telefono ?? '')
  return {
    distancia_km,
    advertencias: [
      ...('error' in telefono ? [] : advertenciasOfTelefono(telefono, guia)),
      ...storedGuia.advertencias.filter(({ codigo }) => HOW_GIVEN.includes(codigo)),
      ...(needsReview ? [{ codigo: 'lugar_por_revisar', campo: '/ubicacion' } as const] : []),
      ...(isEtiquetaStale ? [{ codigo: 'etiqueta_desactualizada', campo: '/guia' } as const] : []),
      ...advertencias,
    ],
  }
}

function withDistance({ ubicacion_extra }: GuiaRow, distancia_km: number | null): GuiaRow['ubicacion_extra'] {
  const { distancia_km: _former, ...rest } = ubicacion_extra ?? {}
  const extra = { ...rest, ...(distancia_km === null ? {} : { distancia_km }) }
  return Object.keys(extra).length === 0 ? null : extra
}
