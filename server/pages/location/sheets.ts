import type { Limit } from '../../api/limits/buckets.ts'
import type { UbicacionRequests } from '../../domain/ubicacion/request.ts'
import type { Sheet } from '../page.ts'
import type { ReadShipment } from '../tracking/shipment.ts'
import {
  CHANGES_EXHAUSTED,
  CLOSED_UBICACION_REQUEST,
  confirmedPage,
  EXPIRED_UBICACION_REQUEST,
  farUbicacionPage,
  NEW_LINKS_EXHAUSTED,
  newLinkPage,
  readingLinkPage,
  replaceByWordsPage,
  UNKNOWN_UBICACION_REQUEST,
} from './afterwards.ts'
import {
  type FieldFault,
  type FormValues,
  formValuesOf,
  interpretUbicacionForm,
  isReferenceTooLong,
  REFERENCE_TOO_LONG,
  type UbicacionForm,
} from './form.ts'
import type { MapData } from './tiles.ts'
import { ubicacionFormPage } from './view.ts'

const EMPTY_VALUES: FormValues = {
  lat: '',
  lng: '',
  precision_m: '',
  metodo: '',
  enlace: '',
  referencia: '',
  aproximado: '',
  cambiar: '',
}

/** Part of the form in which the recipient corrects each kind of refusal. */
const FIELD_OF = {
  sin_lugar: 'lugar',
  coordenadas_invalidas: 'lugar',
  enlace_invalido: 'enlace',
  referencia_larga: 'referencia',
} as const

/** Fault of the form if the service could not read the link that was given earlier. */
const LINK_WITHOUT_PLACE: readonly FieldFault[] = [
  {
    campo: 'lugar',
    mensaje: 'El enlace que nos dio no lleva a un lugar del mapa. Díganos el lugar otra vez, aquí abajo.',
  },
]

/** Link of a recipient, as the browser opened it. */
interface OpenedUbicacionLink {
  token: string
  /** Relative path from the page to the service root. */
  root: string
  red: string
}

interface UbicacionSheetOptions {
  readShipment: ReadShipment
  /** Returns the path of the style sheet for the story of a parcel. */
  storyStyle: (root: string) => string
  /** Returns the map, given the relative path from the page to the service root; null if the service offers no map. */
  mapFor: (root: string) => MapData | null
  /** Rate limit per network for requests of a new link. */
  newLinkLimit: Limit
}

/**
 * Creates the two handlers of a recipient's link: `ver` shows its page, and `receive` answers the form sent from that
 * page.
 */
export function createUbicacionSheets(
  solicitudes: UbicacionRequests,
  { readShipment, storyStyle, mapFor, newLinkLimit }: UbicacionSheetOptions,
) {
  const ver = async (
    { token, root, red }: OpenedUbicacionLink,
    filled: Partial<FormValues> = {},
    fallas: readonly FieldFault[] = [],
  ): Promise<Sheet> => {
    const datos = await solicitudes.read(token)
    if (!datos) return { status: 404, ...UNKNOWN_UBICACION_REQUEST }
    if (datos.estado === 'vencida') return { status: 410, ...EXPIRED_UBICACION_REQUEST }
    if (datos.estado === 'cerrada') return { status: 200, ...CLOSED_UBICACION_REQUEST }
    const isChange = filled.cambiar === '1'
    if (datos.estado === 'confirmada' && !(isChange && datos.correctable)) {
      const reading = datos.correctable ? (datos.confirmed?.lectura ?? null) : null
      if (reading === 'sin_lugar') return ver({ token, root, red }, { cambiar: '1' }, LINK_WITHOUT_PLACE)
      if (reading === 'leyendo') return { status: 200, ...readingLinkPage(datos) }
      const wordsFault = fallas.find(({ campo }) => campo === 'referencia')?.mensaje
      return {
        status: wordsFault === undefined ? 200 : 422,
        ...confirmedPage(datos, (await readShipment(datos.guia))!, {
          style: storyStyle(root),
          tiles: mapFor(root),
          root,
          isLate: isChange,
          words: filled.referencia,
          fault: wordsFault,
        }),
      }
    }
    const nuevo = filled.metodo === undefined
    const referencia = nuevo ? (datos.confirmed?.referencia ?? '') : ''
    const values = { ...EMPTY_VALUES, referencia, ...filled }
    const content = ubicacionFormPage(datos, { values, fallas, placeMap: mapFor(root), nuevo })
    return { status: fallas.length > 0 ? 422 : 200, ...content }
  }
  const requestNewLink = async (opened: OpenedUbicacionLink): Promise<Sheet> => {
    if (newLinkLimit(opened.red) > 0) return { status: 429, ...NEW_LINKS_EXHAUSTED }
    const result = await solicitudes.requestAnother(opened.token)
    if (result.ok) return { status: 200, ...newLinkPage(result) }
    return result.motivo === 'agotada' ? { status: 429, ...NEW_LINKS_EXHAUSTED } : ver(opened)
  }
  const describePlace = async (opened: OpenedUbicacionLink, { referencia }: UbicacionForm): Promise<Sheet> => {
    const result = isReferenceTooLong(referencia)
      ? { ok: false as const, motivo: 'referencia_larga' as const, mensaje: REFERENCE_TOO_LONG }
      : await solicitudes.describe(opened.token, referencia)
    if (result.ok) return { status: 303, a: opened.token }
    if (result.motivo === 'agotada') return { status: 409, ...CHANGES_EXHAUSTED }
    if (!('mensaje' in result)) return ver(opened)
    return ver(opened, { referencia }, [{ campo: 'referencia', mensaje: result.mensaje }])
  }
  const receive = async (opened: OpenedUbicacionLink, form: UbicacionForm): Promise<Sheet> => {
    const { token } = opened
    const values = formValuesOf(form)
    if (form.accion === 'otro') return requestNewLink(opened)
    if (form.accion === 'corregir') return ver(opened, values)
    if (form.accion === 'senas') return describePlace(opened, form)
    const { lugar, fallas } = interpretUbicacionForm(form)
    if (!lugar) return ver(opened, values, fallas)
    const result = await solicitudes.confirm(token, lugar)
    if (result.ok) return { status: 303, a: token }
    if (result.motivo === 'agotada') return { status: 409, ...CHANGES_EXHAUSTED }
    if (result.motivo === 'lejos' || result.motivo === 'con_punto') {
      const datos = await solicitudes.read(token)
      if (!datos) return { status: 404, ...UNKNOWN_UBICACION_REQUEST }
      return result.motivo === 'lejos'
        ? { status: 422, ...farUbicacionPage(datos, values, result.distancia_km) }
        : { status: 422, ...replaceByWordsPage(datos, values) }
    }
    // The link is closed, expired or unknown. The page that answers says which.
    if (!('mensaje' in result)) return ver(opened, { cambiar: values.cambiar })
    return ver(opened, values, [{ campo: FIELD_OF[result.motivo], mensaje: result.mensaje }])
  }
  return { ver, receive }
}
