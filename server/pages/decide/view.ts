import type { DecisionData, RecipientChoice } from '../../domain/decisiones/decidir.ts'
import { MAX_NEIGHBOUR_LENGTHS } from '../../domain/decisiones/decidir.ts'
import { isFinalState } from '../../domain/estados/estados.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { QuienResuelve } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { addDays, dayInWords, shortDay } from '../../platform/time/day.ts'
import { withFullStop } from '../../platform/words.ts'
import { messagePage, type PageContent } from '../frame.ts'
import {
  aroundMunicipality,
  contentSentence,
  declaredAddress,
  destinoArea,
  firstName,
  IMPRECISE_QUESTION,
  parcelSummary,
  positionButton,
} from '../location/parts.ts'
import { ARROWS, type MapData, renderMap } from '../location/tiles.ts'
import { followRow, recipientAdvice } from '../tracking/actions.ts'
import type { ShownShipment } from '../tracking/shipment.ts'
import { renderStatus, renderStory, renderThanks } from '../tracking/story.ts'
import { facts, faultSummary, field, icon, notice } from '../ui/components.ts'
import type { AnswerFault, AnswerForm } from './form.ts'

export const QUESTION = '¿Qué hacemos con su paquete?'

/** Answer that the recipient began to fill in, and its faults. */
export interface Draft {
  /** Choice whose fields are shown; undefined if the recipient chose nothing yet. */
  eleccion: RecipientChoice | undefined
  values: Partial<AnswerForm>
  fallas: readonly AnswerFault[]
}

/**
 * Returns the page that asks the recipient what to do with the parcel. Each choice has its own form, which opens
 * without JavaScript. If the draft has a choice, the page begins with that form, open.
 * @param map null if the service offers no map
 * @param placeScript script of the form for another place
 */
export function questionPage(
  datos: DecisionData,
  shipment: ShownShipment,
  draft: Draft,
  { map, placeScript }: { map: MapData | null; placeScript: Html },
): PageContent {
  const { fallas, eleccion } = draft
  const forms = choiceForms(datos, draft, map)
  const isChange = datos.estado === 'decidida'
  const deadline = html`${datos.dias === null && html`<p>Ya se hicieron todos los intentos. Si todavía lo quiere, escríbale a ${withFullStop(datos.comercio)}</p>`}
${!isChange && renderDeadline(datos)}`
  const body = eleccion
    ? html`${fallas.length > 0 && faultSummary(fallas.map(({ campo, mensaje }) => [campo === 'aproximado' ? campo : `${campo}-${eleccion}`, mensaje]))}
${parcelSummary(datos)}
<h1 tabindex="-1">${QUESTION}</h1>
${forms.filter((form) => form.eleccion === eleccion).map(({ form }) => form)}
${forms.filter((form) => form.eleccion !== eleccion).map(({ form }) => form)}
${deadline}`
    : renderStory(shipment, {
        heading: renderStatus(shipment, true),
        actions: html`<section aria-labelledby="puede"><h2 id="puede">${QUESTION}</h2>
<p>${greeting(datos)}${contentSentence(datos)}</p>
${isChange && html`<p>Lo que elija ahora queda en vez de lo que pidió. Si nos dio un lugar, se queda mientras no dé otro.</p>`}
${forms.map(({ form }) => form)}
${deadline}
${declaredAddress(datos)}</section>`,
      })
  const script = datos.dias ? placeScript : undefined
  return { titulo: fallas.length > 0 ? `Falta algo – ${QUESTION}` : QUESTION, body, script }
}

interface ChoiceForm {
  eleccion: RecipientChoice
  form: Html
}

/** Returns the forms of the choices that are possible. */
function choiceForms(datos: DecisionData, draft: Draft, map: MapData | null): ChoiceForm[] {
  const { dias } = datos
  const withForm = (choice: Choice, ...parts: [fields: Html, detail: string, attributes?: Html]) => ({
    eleccion: choice.eleccion,
    form: renderChoice(choice, draft, ...parts),
  })
  const refusal = withForm(
    REFUSAL,
    html`<p>Vuelve a la tienda. Si ya lo pagó, hable con ella.</p>`,
    'Vuelve a la tienda',
  )
  if (!dias) return [refusal]
  const placeFields = html`${pointField(map, draft)}${linkField(draft)}${referenceField(draft)}${dayField('otro_lugar', dias, draft)}`
  const placeDetail = map ? 'En el mapa, con un enlace o con palabras' : 'Con un enlace de mapa o con palabras'
  return [
    withForm(OTHER_DAY, dayField('otro_dia', dias, draft), `Desde el ${dayInWords(dias[0]!)}`),
    withForm(OTHER_PLACE, placeFields, placeDetail, aroundMunicipality(datos)),
    withForm(NEIGHBOUR, html`${neighbourFields(draft)}${dayField('vecino', dias, draft)}`, 'Díganos quién lo recibe'),
    refusal,
  ]
}

const greeting = ({ destinatario }: DecisionData) => {
  const name = firstName(destinatario)
  return name && `Hola, ${name}. `
}

function renderDeadline({ vence_en, returns, zona }: DecisionData): Html {
  const clock = createClock(zona)
  const after = returns ? 'Después, vuelve a la tienda.' : 'Después, decide la tienda.'
  return html`<p>Puede decidir hasta el <strong>${dayInWords(clock.dia(vence_en))} a las ${clock.hora(vence_en)}</strong> (${clock.nombre}). ${after}</p>`
}

interface Choice {
  eleccion: RecipientChoice
  icon: string
  text: string
  /** Text of the button that sends the choice. */
  button: string
}

const OTHER_DAY: Choice = {
  eleccion: 'otro_dia',
  icon: icons.CalendarDays,
  text: 'Que lo lleven otro día',
  button: 'Pedir ese día',
}
const OTHER_PLACE: Choice = {
  eleccion: 'otro_lugar',
  icon: icons.MapPin,
  text: 'Que lo lleven a otro lugar',
  button: 'Pedir ese lugar',
}
const NEIGHBOUR: Choice = {
  eleccion: 'vecino',
  icon: icons.House,
  text: 'Que lo dejen con un vecino',
  button: 'Dejarlo con mi vecino',
}
const REFUSAL: Choice = { eleccion: 'rechazo', icon: icons.Undo2, text: 'No lo quiero', button: 'No lo quiero' }

/**
 * Draws a choice that opens to show its form. In browsers that support `name` on `details`, opening one closes the
 * others.
 */
const renderChoice = (
  { eleccion, icon: drawing, text, button }: Choice,
  draft: Draft,
  fields: Html,
  detail: string,
  attributes?: Html,
): Html =>
  html`<details name="eleccion"${draft.eleccion === eleccion && html` open`}><summary class="opcion">${icon(drawing)}<span>${text}<small>${detail}</small></span>${icon(icons.ChevronRight)}</summary>
<form method="post" novalidate${attributes}><input type="hidden" name="eleccion" value="${eleccion}"><input type="hidden" name="cambiar" value="${draft.values.cambiar ?? ''}">
${fields}
<button type="submit" class="principal">${button}</button></form></details>`

/** Draws the parts of the form for a point. They stay hidden until the page's script shows them. */
function pointField(map: MapData | null, { eleccion, values }: Draft): Html {
  const hiddenField = (name: 'lat' | 'lng' | 'precision_m') =>
    html`<input type="hidden" name="${name}" value="${(eleccion === 'otro_lugar' && values[name]) || ''}">`
  const otherWays = `O ${map ? 'toque «Señalarlo en el mapa», ' : ''}pegue un enlace o descríbalo, aquí abajo.`
  return html`${(['lat', 'lng', 'precision_m'] as const).map(hiddenField)}
<div id="con-punto" hidden>${positionButton('', otherWays)}
${
  map &&
  html`<button type="button" class="opcion" id="abrir-mapa">${icon(icons.MapPin)}<span>Señalarlo en el mapa</span></button>
${renderMap(map, MAP_OPTIONS)}`
}
<p id="estado-lugar" class="estado" role="status"></p><p id="envio" class="estado" role="status"></p>
${IMPRECISE_QUESTION}
${map && ARROWS}</div>
`
}

const MAP_OPTIONS = {
  titulo: 'ayuda-mapa',
  hint: 'Mueva el mapa hasta que el pin esté en la puerta, o toque el lugar.',
}

interface Field {
  nombre: Exclude<AnswerFault['campo'], 'aproximado'>
  etiqueta: string
  hint?: string
  /** Draws a form control with these attributes and this value. */
  control: (attributes: Html, value: string) => Html
}

/** Draws a field with its label, help and fault. */
function campo(eleccion: RecipientChoice, draft: Draft, { nombre, etiqueta, hint, control }: Field): Html {
  const isChosen = draft.eleccion === eleccion
  return field({
    id: `${nombre}-${eleccion}`,
    label: etiqueta,
    hint,
    fault: isChosen ? draft.fallas.find((answerFault) => answerFault.campo === nombre)?.mensaje : undefined,
    control: (attributes) =>
      control(html`${attributes} name="${nombre}" autocomplete="off"`, (isChosen && draft.values[nombre]) || ''),
  })
}

const dayField = (eleccion: RecipientChoice, days: NonNullable<DecisionData['dias']>, draft: Draft): Html =>
  campo(eleccion, draft, {
    nombre: 'fecha',
    etiqueta: '¿Qué día?',
    hint: addDays(days[0]!, days.length - 1) === days.at(-1) ? undefined : 'Solo los días en que repartimos.',
    control: (attributes, value) =>
      html`<select ${attributes}>${days.map((day) => html`<option value="${day}"${day === value && html` selected`}>${shortDay(day)}</option>`)}</select>`,
  })

const linkField = (draft: Draft): Html =>
  campo('otro_lugar', draft, {
    nombre: 'enlace',
    etiqueta: 'Enlace del mapa, si tiene',
    hint: 'En Google Maps o Waze, busque el lugar, toque «Compartir» y «Copiar». Después péguelo aquí.',
    control: (attributes, value) =>
      html`<input ${attributes} type="text" inputmode="url" autocapitalize="off" spellcheck="false" maxlength="2048" value="${value}">`,
  })

const referenceField = (draft: Draft): Html =>
  campo('otro_lugar', draft, {
    nombre: 'referencia',
    etiqueta: '¿Cómo reconocemos el lugar?',
    hint: 'Calle o colonia, qué hay cerca, de qué color es. Sin enlace, descríbalo bien.',
    control: (attributes, value) => html`<textarea ${attributes} rows="3" maxlength="200">
${value}</textarea>`,
  })

const neighbourFields = (draft: Draft): readonly Html[] => [
  campo('vecino', draft, {
    nombre: 'nombre',
    etiqueta: 'Nombre de su vecino',
    hint: 'Lo verán la tienda y el repartidor.',
    control: (attributes, value) =>
      html`<input ${attributes} type="text" maxlength="${MAX_NEIGHBOUR_LENGTHS.nombre}" value="${value}">`,
  }),
  campo('vecino', draft, {
    nombre: 'donde',
    etiqueta: '¿Dónde vive?',
    hint: 'Por ejemplo: casa verde de enfrente. Puede dejarlo vacío.',
    control: (attributes, value) =>
      html`<input ${attributes} type="text" maxlength="${MAX_NEIGHBOUR_LENGTHS.donde}" value="${value}">`,
  }),
]

const hiddenInputs = (values: Partial<AnswerForm>) =>
  Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)

/**
 * Returns the page that asks for confirmation before the parcel returns to the merchant, because this cannot be undone.
 */
export const refusalPage = (datos: DecisionData, token: string, cambiar: string): PageContent => ({
  titulo: '¿Seguro que no lo quiere?',
  body: html`${parcelSummary(datos)}
<h1 tabindex="-1">¿Seguro que no lo quiere?</h1>
<p>El paquete vuelve a la tienda. Después ya no se puede cambiar aquí.</p>
<form method="post">
${hiddenInputs({ eleccion: 'rechazo', seguro: '1', cambiar })}
<p><a class="boton principal" href="${token}">No, sí lo quiero</a></p>
<button type="submit">Sí, que vuelva a la tienda</button>
</form>`,
})

/**
 * Returns the page that asks for confirmation of a place far from the declared municipality.
 * @param distanceKm distance from that municipality, in kilometres
 */
export function farPlacePage(datos: DecisionData, values: Partial<AnswerForm>, distanceKm: number): PageContent {
  const { fecha, lat, lng, precision_m, aproximado, enlace, referencia, cambiar } = values
  const km = distanceKm.toLocaleString('es-GT')
  return {
    titulo: '¿Seguro que es ahí?',
    body: html`${parcelSummary(datos)}
<h1 tabindex="-1">¿Seguro que es ahí?</h1>
<p>El lugar que eligió está a unos <strong>${km}\u00a0km</strong> de <strong>${destinoArea(datos)}</strong>, que es la dirección del paquete.</p>
<form method="post">
${hiddenInputs({ eleccion: 'otro_lugar', fecha, lat, lng, precision_m, aproximado, enlace, referencia, cambiar })}
<button type="submit" class="principal" name="seguro" value="no">No, quiero corregirlo</button>
<button type="submit" name="seguro" value="1">Sí, entréguenlo ahí</button>
</form>`,
  }
}

const DECIDERS: Readonly<Record<QuienResuelve, string>> = {
  comercio: 'La tienda',
  operador: 'El servicio de mensajería',
  destinatario: 'Usted',
  politica: 'Nadie decidió a tiempo',
}

const REQUESTED: Readonly<Record<Exclude<RecipientChoice, 'rechazo'>, string>> = {
  otro_dia: 'Se lo llevamos otro día',
  otro_lugar: 'Lo llevamos al lugar que nos dio',
  vecino: 'Lo dejamos con su vecino',
}

interface ClosedPageOptions {
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  /** True if the recipient tried to decide after the decision was closed. */
  isLate: boolean
}

/**
 * Returns the page of a decision that was taken: thanks until it is carried out, then the state of the parcel. Until the
 * parcel is at its end, it says which side decided (recipient, merchant or courier company), and names no person but the
 * neighbour.
 */
export function decidedPage(
  datos: DecisionData,
  shipment: ShownShipment,
  { root, isLate }: ClosedPageOptions,
): PageContent {
  const { accion, por, eleccion } = datos.decided!
  const isThanks = por === 'destinatario' && shipment.decision?.estado === 'tomada'
  const requested = eleccion && eleccion !== 'rechazo' ? REQUESTED[eleccion] : 'Se lo llevamos otra vez'
  const nextStep = accion === 'devolver' ? 'El paquete vuelve a la tienda' : requested
  return pageWithoutQuestion(shipment, {
    titulo: isLate ? ALREADY_DECIDED : isThanks ? THANKS : 'Ya se decidió',
    root,
    heading: isThanks ? renderThanks(shipment, THANKS) : undefined,
    actions: html`${isLate && notice(html`<p><strong>${ALREADY_DECIDED}.</strong> Vale lo que dice aquí.</p>`)}
${
  (isLate || !isFinalState(shipment.estado)) &&
  facts([
    ['Qué se decidió', nextStep],
    ['Vecino', datos.vecino],
    ['Quién decidió', DECIDERS[por as keyof typeof DECIDERS] ?? 'El servicio de mensajería'],
  ])
}
${
  datos.replaceable !== null &&
  html`<p>Puede cambiarlo hasta que el repartidor salga.</p>
<p><a class="boton" href="?cambiar=${datos.replaceable}">Cambiar lo que pedí</a></p>`
}`,
  })
}

const THANKS = 'Gracias, ya quedó'
const ALREADY_DECIDED = 'Ya se había decidido'

interface ClosedParts {
  titulo: string
  root: string
  /** Heading instead of the parcel's state. */
  heading?: Html | undefined
  /** Parts between the heading and the advice. */
  actions: Html
}

/** Returns a page on which the recipient cannot decide any more. */
const pageWithoutQuestion = (
  shipment: ShownShipment,
  { titulo, root, heading = renderStatus(shipment), actions }: ClosedParts,
): PageContent => ({
  titulo,
  body: renderStory(shipment, {
    heading,
    actions: html`${actions}
<section aria-labelledby="puede"><h2 id="puede">Qué puede hacer ahora</h2>
${recipientAdvice(shipment)}
${followRow(shipment, root)}</section>`,
  }),
})

/**
 * Returns the page about a decision that became needless, because the parcel has gone on its way.
 */
export const supersededPage = (shipment: ShownShipment, root: string): PageContent =>
  pageWithoutQuestion(shipment, {
    titulo: 'Ya no hace falta decidir',
    root,
    actions: notice(html`<p><strong>Ya no hace falta decidir.</strong> El paquete siguió su camino.</p>`),
  })

/** Returns the page about a lost parcel, which must be found before a decision is possible. */
export const searchingPage = (shipment: ShownShipment, root: string): PageContent =>
  pageWithoutQuestion(shipment, {
    titulo: 'Estamos buscando su paquete',
    root,
    actions: notice(
      html`<p><strong>Estamos buscando su paquete.</strong> Cuando aparezca, podrá decidir aquí mismo, si el plazo no ha vencido.</p>`,
    ),
  })

// The pages below reveal nothing about any parcel: the reader may have guessed the link, or found an old link.

export const UNKNOWN_DECISION = messagePage(
  'No encontramos este enlace',
  html`Puede que se haya cortado al copiarlo. Ábralo otra vez desde el mensaje que recibió.`,
  html`Si sigue sin abrir, escríbale a la tienda donde compró.`,
)

export const EXPIRED_DECISION = messagePage(
  'Este enlace ya venció',
  html`El plazo para decidir terminó.`,
  html`Escríbale a la tienda donde compró: ella sabe qué pasa con el paquete.`,
)

export const NOT_POSSIBLE = messagePage(
  'Eso ya no se puede pedir aquí',
  html`Abra otra vez el enlace para ver qué se puede pedir ahora.`,
  html`Si no encuentra lo que necesita, escríbale a la tienda donde compró.`,
)

export const UNREADABLE = messagePage(
  'No pudimos leer eso',
  html`Abra otra vez el enlace desde el mensaje que recibió y vuelva a intentarlo.`,
)

export const DECISION_FAILED = html`No es culpa suya. Espere un minuto y vuelva a abrir el enlace desde el mensaje que recibió.`
