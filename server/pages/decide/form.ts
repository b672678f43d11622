import type { Request } from 'express'
import type { RecipientAnswer, RecipientChoice } from '../../domain/decisiones/decidir.ts'
import { MAX_NEIGHBOUR_LENGTHS } from '../../domain/decisiones/decidir.ts'
import type { ProposedPlace } from '../../domain/ubicacion/request.ts'
import { linkWithin } from '../../platform/maps/links.ts'
import { readForm } from '../form.ts'
import { isReferenceTooLong, readPoint } from '../location/form.ts'
import { DESCRIPTION_TOO_SHORT, MIN_DESCRIPTION_LENGTH } from '../location/precision.ts'

const CAMPOS = [
  'eleccion',
  'fecha',
  'lat',
  'lng',
  'precision_m',
  'aproximado',
  'enlace',
  'referencia',
  'nombre',
  'donde',
  'seguro',
  'cambiar',
] as const
/** Fields of the posted form, cleaned; empty if not filled in. */
export type AnswerForm = Record<(typeof CAMPOS)[number], string>

/** Fault of a field, in words for the recipient. */
export interface AnswerFault {
  campo: 'fecha' | 'aproximado' | 'enlace' | 'referencia' | 'nombre' | 'donde'
  mensaje: string
}

/**
 * Reads the posted answer.
 * @throws FormError
 */
export const readAnswer = (req: Request): Promise<AnswerForm> => readForm(req, CAMPOS)

/** Choices in the order in which the page shows them. */
export const CHOICES = ['otro_dia', 'otro_lugar', 'vecino', 'rechazo'] as const satisfies readonly RecipientChoice[]

/** Returns the answer in the form, or the form's faults; undefined if the form contains none of the page's choices. */
export function interpretAnswer(
  form: AnswerForm,
): { respuesta: RecipientAnswer } | { eleccion: RecipientChoice; fallas: AnswerFault[] } | undefined {
  const eleccion = CHOICES.find((choice) => choice === form.eleccion)
  if (!eleccion) return undefined
  const fallas = faultsOf(eleccion, form)
  if (fallas.length > 0) return { eleccion, fallas }
  const { nombre, donde } = form
  const fecha = form.fecha || undefined
  switch (eleccion) {
    case 'otro_dia':
      return { respuesta: { eleccion, fecha } }
    case 'otro_lugar':
      return { respuesta: { eleccion, fecha, lugar: placeOf(form) } }
    case 'vecino':
      return { respuesta: { eleccion, fecha, vecino: { nombre, donde } } }
    case 'rechazo':
      return { respuesta: { eleccion } }
  }
}

const length = (text: string) => [...text].length

function faultsOf(eleccion: RecipientChoice, form: AnswerForm): AnswerFault[] {
  const { nombre, donde } = form
  if (eleccion === 'otro_lugar') return faultsOfPlace(form)
  if (eleccion !== 'vecino') return []
  const faults: AnswerFault[] = []
  if (!/\p{L}/u.test(nombre)) faults.push({ campo: 'nombre', mensaje: 'Falta el nombre de su vecino.' })
  for (const [campo, text] of Object.entries({ nombre, donde }) as ['nombre' | 'donde', string][])
    if (length(text) > MAX_NEIGHBOUR_LENGTHS[campo])
      faults.push({ campo, mensaje: `Es muy largo: use ${MAX_NEIGHBOUR_LENGTHS[campo]} letras o menos.` })
  return faults
}

function faultsOfPlace(form: AnswerForm): AnswerFault[] {
  const { enlace, referencia } = form
  if (isReferenceTooLong(referencia))
    return [{ campo: 'referencia', mensaje: 'La descripción es muy larga: use 200 letras o menos.' }]
  const point = pointOfForm(form)
  const pointField = methodOf(form) === 'gps' ? 'aproximado' : 'enlace'
  if (point) return 'mensaje' in point ? [{ campo: pointField, mensaje: point.mensaje }] : []
  if (enlace === '' && referencia === '')
    return [{ campo: 'enlace', mensaje: 'Falta el lugar: pegue un enlace de mapa o descríbalo.' }]
  if (enlace === '' && referencia.length < MIN_DESCRIPTION_LENGTH)
    return [{ campo: 'referencia', mensaje: DESCRIPTION_TOO_SHORT }]
  return []
}

/** Only a position of the phone has a precision. */
const methodOf = ({ precision_m }: AnswerForm) => (precision_m === '' ? 'mapa' : 'gps')

/** Returns the point of the pin, or the fault of its coordinates; undefined if the form has no pin. */
const pointOfForm = (form: AnswerForm) =>
  form.lat === '' && form.lng === '' ? undefined : readPoint(form, methodOf(form))

function placeOf(form: AnswerForm): ProposedPlace {
  const { enlace, referencia, seguro } = form
  const common = { cambiar: true, acceptsDistance: seguro === '1', ...(referencia && { referencia }) }
  const point = pointOfForm(form)
  if (point && !('mensaje' in point)) return { ...common, method: methodOf(form), ...point }
  return enlace === ''
    ? { ...common, method: 'descripcion' }
    : { ...common, method: 'enlace', enlace: linkWithin(enlace) }
}
