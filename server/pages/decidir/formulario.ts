import type { Request } from 'express'
import type { Eleccion, Respuesta } from '../../domain/decisiones/decidir.ts'
import { MAXIMOS_DE_VECINO } from '../../domain/decisiones/decidir.ts'
import type { LugarPropuesto } from '../../domain/ubicacion/solicitud.ts'
import { linkWithin } from '../../platform/maps/links.ts'
import { readForm } from '../form.ts'
import { leerPunto, referenciaLarga } from '../ubicacion/formulario.ts'
import { DESCRIPCION_CORTA, MINIMO_DE_DESCRIPCION } from '../ubicacion/precision.ts'

const CAMPOS = ['eleccion', 'fecha', 'lat', 'lng', 'enlace', 'referencia', 'nombre', 'donde', 'seguro'] as const
/** Fields of the posted form, cleaned; empty if not filled in. */
export type AnswerForm = Record<(typeof CAMPOS)[number], string>

/** Fault of a field, in words for the recipient. */
export interface AnswerFault {
  campo: 'fecha' | 'enlace' | 'referencia' | 'nombre' | 'donde'
  mensaje: string
}

/**
 * Reads the posted answer.
 * @throws FormError
 */
export const readAnswer = (req: Request): Promise<AnswerForm> => readForm(req, CAMPOS)

/** Choices in the order in which the page shows them. */
export const ELECCIONES = ['otro_dia', 'otro_lugar', 'vecino', 'rechazo'] as const satisfies readonly Eleccion[]

/** Returns the answer in the form, or the form's faults; undefined if the form contains none of the page's choices. */
export function interpretAnswer(
  formulario: AnswerForm,
): { respuesta: Respuesta } | { eleccion: Eleccion; fallas: AnswerFault[] } | undefined {
  const eleccion = ELECCIONES.find((una) => una === formulario.eleccion)
  if (!eleccion) return undefined
  const fallas = fallasDe(eleccion, formulario)
  if (fallas.length > 0) return { eleccion, fallas }
  const { nombre, donde } = formulario
  const fecha = formulario.fecha || undefined
  switch (eleccion) {
    case 'otro_dia':
      return { respuesta: { eleccion, fecha } }
    case 'otro_lugar':
      return { respuesta: { eleccion, fecha, lugar: lugarDe(formulario) } }
    case 'vecino':
      return { respuesta: { eleccion, fecha, vecino: { nombre, donde } } }
    case 'rechazo':
      return { respuesta: { eleccion } }
  }
}

const largo = (texto: string) => [...texto].length

function fallasDe(eleccion: Eleccion, formulario: AnswerForm): AnswerFault[] {
  const { nombre, donde } = formulario
  if (eleccion === 'otro_lugar') return fallasDeLugar(formulario)
  if (eleccion !== 'vecino') return []
  const fallas: AnswerFault[] = []
  if (!/\p{L}/u.test(nombre)) fallas.push({ campo: 'nombre', mensaje: 'Falta el nombre de su vecino.' })
  for (const [campo, texto] of Object.entries({ nombre, donde }) as ['nombre' | 'donde', string][])
    if (largo(texto) > MAXIMOS_DE_VECINO[campo])
      fallas.push({ campo, mensaje: `Es muy largo: use ${MAXIMOS_DE_VECINO[campo]} letras o menos.` })
  return fallas
}

function fallasDeLugar(formulario: AnswerForm): AnswerFault[] {
  const { enlace, referencia } = formulario
  if (referenciaLarga(referencia))
    return [{ campo: 'referencia', mensaje: 'La descripción es muy larga: use 200 letras o menos.' }]
  const punto = puntoDe(formulario)
  if (punto) return 'mensaje' in punto ? [{ campo: 'enlace', mensaje: punto.mensaje }] : []
  if (enlace === '' && referencia === '')
    return [{ campo: 'enlace', mensaje: 'Falta el lugar: pegue un enlace de mapa o descríbalo.' }]
  if (enlace === '' && referencia.length < MINIMO_DE_DESCRIPCION)
    return [{ campo: 'referencia', mensaje: DESCRIPCION_CORTA }]
  return []
}

/** Returns the point of the pin, or the fault of its coordinates; undefined if the form has no pin. */
const puntoDe = ({ lat, lng }: AnswerForm) =>
  lat === '' && lng === '' ? undefined : leerPunto({ lat, lng, precision_m: '', aproximado: '' }, 'mapa')

function lugarDe(formulario: AnswerForm): LugarPropuesto {
  const { enlace, referencia, seguro } = formulario
  const comun = { cambiar: true, seguro: seguro === '1', ...(referencia && { referencia }) }
  const punto = puntoDe(formulario)
  if (punto && !('mensaje' in punto)) return { ...comun, metodo: 'mapa', ...punto }
  return enlace === ''
    ? { ...comun, metodo: 'descripcion' }
    : { ...comun, metodo: 'enlace', enlace: linkWithin(enlace) }
}
