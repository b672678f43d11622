import type { ShownParcel } from '../../domain/ubicacion/ubicacion.ts'
import * as icons from '../../generated/contract/icons.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { withSoftHyphens } from '../../platform/softHyphens.ts'
import { withFullStop } from '../../platform/words.ts'
import { icon } from '../ui/components.ts'
import type { FormValues } from './form.ts'

export const UBICACION_QUESTION = '¿Dónde le entregamos su paquete?'

/** Returns the first word of the recipient's name, cut at 40 characters; empty if the name is unknown. */
export const firstName = (destinatario: string | null) =>
  (destinatario ?? '').trim().split(/\s+/)[0]?.slice(0, 40) ?? ''
/** Returns the municipality with its department; the municipality alone if both have the same name. */
export const destinoArea = ({ municipio, departamento }: Pick<ShownParcel, 'municipio' | 'departamento'>) =>
  municipio === departamento ? municipio : `${municipio}, ${departamento}`

/** Maximum length of the parcel's content, in characters. A longer text would push the question out of sight. */
const MAX_CONTENT_LENGTH = 90

function shorten(text: string): string {
  if (text.length <= MAX_CONTENT_LENGTH) return text
  const beginning = text.slice(0, MAX_CONTENT_LENGTH)
  // Cuts at the end of a word, if the text has more than one word.
  return `${beginning
    .slice(0, beginning.lastIndexOf(' ') + 1 || undefined)
    .toWellFormed()
    .trim()}…`
}

/** Returns the sentence that says who sends the parcel, and what is in it. */
export const contentSentence = ({ comercio, contenido }: Pick<ShownParcel, 'comercio' | 'contenido'>): Html =>
  html`<strong>${withSoftHyphens(comercio)}</strong> le envía ${contenido?.trim() ? html`<strong>${withSoftHyphens(withFullStop(shorten(contenido.trim())))}</strong>` : 'un paquete.'}`

/** Returns the merchant, content and code of a parcel, to be shown above every question and message about it. */
export const parcelSummary = (datos: Pick<ShownParcel, 'comercio' | 'contenido' | 'guia'>): Html =>
  html`<div class="paquete"><p>${contentSentence(datos)}</p>
<p class="suave">Guía <b class="codigo">${inGroups(datos.guia)}</b></p></div>`

/** Returns hidden fields of a form with these values. */
export const hiddenFields = (values: FormValues, fields: readonly (keyof FormValues)[]) =>
  fields.map((field) => html`<input type="hidden" name="${field}" value="${values[field]}">`)

/** Attributes of a form with a map: the name and centre of the municipality, around which the map opens. */
export const aroundMunicipality = ({ municipio, centre }: Pick<ShownParcel, 'municipio' | 'centre'>): Html =>
  html` data-lugar="${municipio}"${centre && html` data-lat="${centre.lat}" data-lng="${centre.lng}"`}`

/**
 * Returns the button that finds the phone's position.
 * @param kind class of the filled button, where the position is the next step
 * @param otherWays sentence that names the other ways on the page, for a phone that finds none
 */
export const positionButton = (kind: 'principal' | '', otherWays: string): Html =>
  html`<div id="con-gps"><button type="button" class="opcion ${kind}" id="gps">${icon(icons.LocateFixed)}<span>Estoy ahí ahora<small>Usar mi ubicación</small></span></button>
<div id="estado-gps" class="estado" role="status" data-otra="${otherWays}"></div></div>`

/** Question whether a position will do that is too imprecise to identify a door. The page's script shows it. */
export const IMPRECISE_QUESTION = html`<div id="impreciso" class="aviso" hidden><p id="porque-impreciso"></p>
<label class="casilla"><input type="checkbox" id="aproximado" name="aproximado" value="1"> <span>Está bien así, aunque sea cerca</span></label></div>`

/** Paragraph with the address that the merchant gave. */
export const declaredAddress = (datos: ShownParcel): Html =>
  html`<p class="declarada"><span class="suave">La dirección que nos dieron:</span> <strong>${[datos.direccion?.trim(), destinoArea(datos)].filter(Boolean).join(', ')}</strong></p>`
