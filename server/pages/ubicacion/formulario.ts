import type { Request } from 'express'
import type { LugarPropuesto } from '../../domain/ubicacion/solicitud.ts'
import { linkWithin } from '../../platform/maps/links.ts'
import { readForm } from '../form.ts'
import { DESCRIPCION_CORTA, IMPRECISA_M, MINIMO_DE_DESCRIPCION, pedirPin } from './precision.ts'

const MAXIMO_DE_REFERENCIA = 200
/** Largest `precision_m` in the contract, in metres. A less precise position counts as this value. */
const PEOR_PRECISION = 100_000

const CAMPOS = [
  ...(['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia', 'aproximado', 'cambiar'] as const),
  ...(['seguro', 'sin_punto', 'accion'] as const),
] as const
type Campo = (typeof CAMPOS)[number]
/** Fields of the posted form, cleaned; empty if not filled in. */
export type Formulario = Record<Campo, string>

/** Texts and values that the recipient filled in. The form shows them again unchanged. */
export type FormValues = Omit<Formulario, 'seguro' | 'sin_punto' | 'accion'>

/** Fault of the form, and the part of the form where the recipient can correct it. */
export interface FieldFault {
  campo: 'lugar' | 'enlace' | 'referencia'
  mensaje: string
}

/**
 * Reads the posted form.
 * @throws FormError
 */
export const leerFormulario = (req: Request): Promise<Formulario> => readForm(req, CAMPOS)

/** Message shown if the recipient chose no location. */
const FALTA_LUGAR = 'Falta el lugar. Elíjalo aquí abajo.'

/** Returns the fields that the recipient filled in. */
export const valoresDe = ({
  seguro: _seguro,
  sin_punto: _sinPunto,
  accion: _accion,
  ...valores
}: Formulario): FormValues => valores

export const REFERENCIA_LARGA = 'La descripción es muy larga: use 200 letras o menos.'
export const referenciaLarga = (referencia: string) => [...referencia].length > MAXIMO_DE_REFERENCIA

/** Reads a decimal number in plain notation; undefined unless it is between `minimo` and `maximo`. */
function numero(texto: string, minimo: number, maximo: number): number | undefined {
  if (!/^-?\d{1,9}(?:\.\d{1,20})?$/.test(texto)) return undefined
  const valor = Number(texto)
  return valor >= minimo && valor <= maximo ? valor : undefined
}

/**
 * Returns the location that the form gives, or the form's faults. If the form has both a point and a link, `metodo`
 * says which of them the recipient chose last.
 */
export function interpretarFormulario(formulario: Formulario): { lugar?: LugarPropuesto; fallas: FieldFault[] } {
  const { metodo, enlace, referencia } = formulario
  const fallas: FieldFault[] = []
  if (referenciaLarga(referencia)) fallas.push({ campo: 'referencia', mensaje: REFERENCIA_LARGA })
  const comun = {
    seguro: formulario.seguro === '1',
    cambiar: formulario.cambiar === '1',
    ...(referencia && { referencia }),
  }
  const dado = (lugar: LugarPropuesto) => (fallas.length > 0 ? { fallas } : { lugar, fallas })
  if (metodo === 'descripcion' || formulario.accion === 'describir') {
    if (referencia.length < MINIMO_DE_DESCRIPCION) fallas.push({ campo: 'referencia', mensaje: DESCRIPCION_CORTA })
    return dado({ ...comun, metodo: 'descripcion', ...(formulario.sin_punto === '1' && { sin_punto: true }) })
  }
  if ((metodo === 'gps' || metodo === 'mapa') && (formulario.lat !== '' || formulario.lng !== '')) {
    const punto = leerPunto(formulario, metodo)
    if ('mensaje' in punto) return { fallas: [{ campo: 'lugar', mensaje: punto.mensaje }] }
    return dado({ ...comun, metodo, ...punto })
  }
  if (enlace === '') fallas.push({ campo: 'lugar', mensaje: FALTA_LUGAR })
  return dado({ ...comun, metodo: 'enlace', enlace: linkWithin(enlace) })
}

/**
 * Returns the point in the form, or the message about its fault. A phone's position less precise than `IMPRECISA_M`
 * counts only if the recipient says that it is right.
 */
export function leerPunto(
  formulario: Pick<Formulario, 'lat' | 'lng' | 'precision_m' | 'aproximado'>,
  metodo: 'gps' | 'mapa',
): { lat: number; lng: number; precision_m?: number } | { mensaje: string } {
  const lat = numero(formulario.lat, -90, 90)
  const lng = numero(formulario.lng, -180, 180)
  if (lat === undefined || lng === undefined) return { mensaje: 'No pudimos leer el lugar. Elíjalo otra vez.' }
  const precision = metodo === 'gps' ? numero(formulario.precision_m, 0, Number.POSITIVE_INFINITY) : undefined
  if (precision === undefined) return { lat, lng }
  const precision_m = Math.min(precision, PEOR_PRECISION)
  if (precision_m > IMPRECISA_M && formulario.aproximado !== '1') return { mensaje: pedirPin(precision_m) }
  return { lat, lng, precision_m }
}
