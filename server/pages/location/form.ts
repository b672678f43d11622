import type { Request } from 'express'
import type { ProposedPlace } from '../../domain/ubicacion/request.ts'
import { linkWithin } from '../../platform/maps/links.ts'
import { readForm } from '../form.ts'
import { askForPin, DESCRIPTION_TOO_SHORT, IMPRECISE_ABOVE_M, MIN_DESCRIPTION_LENGTH } from './precision.ts'

const MAX_REFERENCE_LENGTH = 200
/** Largest `precision_m` in the contract, in metres. A less precise position counts as this value. */
const WORST_PRECISION_M = 100_000

const CAMPOS = [
  ...(['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia', 'aproximado', 'cambiar'] as const),
  ...(['seguro', 'sin_punto', 'accion'] as const),
] as const
type Field = (typeof CAMPOS)[number]
/** Fields of the posted form, cleaned; empty if not filled in. */
export type UbicacionForm = Record<Field, string>

/** Texts and values that the recipient filled in. The form shows them again unchanged. */
export type FormValues = Omit<UbicacionForm, 'seguro' | 'sin_punto' | 'accion'>

/** Fault of the form, and the part of the form where the recipient can correct it. */
export interface FieldFault {
  campo: 'lugar' | 'enlace' | 'referencia'
  mensaje: string
}

/**
 * Reads the posted form.
 * @throws FormError
 */
export const readUbicacionForm = (req: Request): Promise<UbicacionForm> => readForm(req, CAMPOS)

/** Message shown if the recipient chose no location. */
const MISSING_PLACE = 'Falta el lugar. Elíjalo aquí abajo.'

/** Returns the fields that the recipient filled in. */
export const formValuesOf = ({
  seguro: _certain,
  sin_punto: _noPoint,
  accion: _action,
  ...values
}: UbicacionForm): FormValues => values

export const REFERENCE_TOO_LONG = 'La descripción es muy larga: use 200 letras o menos.'
export const isReferenceTooLong = (referencia: string) => [...referencia].length > MAX_REFERENCE_LENGTH

/** Reads a decimal number in plain notation; undefined unless it is between `min` and `max`. */
function number(text: string, min: number, max: number): number | undefined {
  if (!/^-?\d{1,9}(?:\.\d{1,20})?$/.test(text)) return undefined
  const value = Number(text)
  return value >= min && value <= max ? value : undefined
}

/**
 * Returns the location that the form gives, or the form's faults. If the form has both a point and a link, `metodo`
 * says which of them the recipient chose last.
 */
export function interpretUbicacionForm(form: UbicacionForm): { lugar?: ProposedPlace; fallas: FieldFault[] } {
  const { metodo, enlace, referencia } = form
  const fallas: FieldFault[] = []
  if (isReferenceTooLong(referencia)) fallas.push({ campo: 'referencia', mensaje: REFERENCE_TOO_LONG })
  const common = {
    acceptsDistance: form.seguro === '1',
    cambiar: form.cambiar === '1',
    ...(referencia && { referencia }),
  }
  const resultWith = (lugar: ProposedPlace) => (fallas.length > 0 ? { fallas } : { lugar, fallas })
  if (metodo === 'descripcion' || form.accion === 'describir') {
    if (referencia.length < MIN_DESCRIPTION_LENGTH) fallas.push({ campo: 'referencia', mensaje: DESCRIPTION_TOO_SHORT })
    return resultWith({ ...common, method: 'descripcion', ...(form.sin_punto === '1' && { removesPoint: true }) })
  }
  if ((metodo === 'gps' || metodo === 'mapa') && (form.lat !== '' || form.lng !== '')) {
    const point = readPoint(form, metodo)
    if ('mensaje' in point) return { fallas: [{ campo: 'lugar', mensaje: point.mensaje }] }
    return resultWith({ ...common, method: metodo, ...point })
  }
  if (enlace === '') fallas.push({ campo: 'lugar', mensaje: MISSING_PLACE })
  return resultWith({ ...common, method: 'enlace', enlace: linkWithin(enlace) })
}

/**
 * Returns the point in the form, or the message about its fault. A phone's position less precise than
 * `IMPRECISE_ABOVE_M` counts only if the recipient says that it is right.
 */
export function readPoint(
  form: Pick<UbicacionForm, 'lat' | 'lng' | 'precision_m' | 'aproximado'>,
  method: 'gps' | 'mapa',
): { lat: number; lng: number; precision_m?: number } | { mensaje: string } {
  const lat = number(form.lat, -90, 90)
  const lng = number(form.lng, -180, 180)
  if (lat === undefined || lng === undefined) return { mensaje: 'No pudimos leer el lugar. Elíjalo otra vez.' }
  const precision = method === 'gps' ? number(form.precision_m, 0, Number.POSITIVE_INFINITY) : undefined
  if (precision === undefined) return { lat, lng }
  const precision_m = Math.min(precision, WORST_PRECISION_M)
  if (precision_m > IMPRECISE_ABOVE_M && form.aproximado !== '1') return { mensaje: askForPin(precision_m) }
  return { lat, lng, precision_m }
}
