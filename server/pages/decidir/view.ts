import type { DatosDeDecision, Eleccion } from '../../domain/decisiones/decidir.ts'
import { MAXIMOS_DE_VECINO } from '../../domain/decisiones/decidir.ts'
import * as icons from '../../generado/contrato/iconos.ts'
import type { QuienResuelve } from '../../generado/contrato/tipos/index.ts'
import { DESCRIPCIONES_DE_MOTIVO } from '../../generado/contrato/vocabulario.ts'
import { createClock } from '../../platform/time/clock.ts'
import { addDays, dayInWords, shortDay } from '../../platform/time/day.ts'
import { messagePage, type PageContent } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { type DatosDelMapa, elMapa, FLECHAS } from '../ubicacion/mosaicos.ts'
import {
  aroundMunicipality,
  conPunto,
  declaredAddress,
  paquete,
  soloNombre,
  zonaDelDestino,
} from '../ubicacion/partes.ts'
import { facts, faultSummary, field, icon } from '../ui/components.ts'
import type { AnswerFault, AnswerForm } from './formulario.ts'

export const QUESTION = '¿Qué hacemos con su paquete?'

/** Answer that the recipient began to fill in, and its faults. */
export interface Draft {
  /** Choice whose fields are shown; undefined if the recipient chose nothing yet. */
  eleccion: Eleccion | undefined
  valores: Partial<AnswerForm>
  fallas: readonly AnswerFault[]
}

/** Map of the page, and the script that opens it. */
export interface DecisionMap extends DatosDelMapa {
  guion: Html
}

/**
 * Returns the page with the question. Each choice has a form of its own, which opens without JavaScript.
 * @param mapa null if the service offers no map
 */
export function questionPage(datos: DatosDeDecision, borrador: Draft, mapa: DecisionMap | null): PageContent {
  const { fallas, eleccion } = borrador
  const { dias } = datos
  const cuerpo = html`${eleccion && fallas.length > 0 && faultSummary(fallas.map(({ campo, mensaje }) => [`${campo}-${eleccion}`, mensaje]))}
${paquete(datos)}
<h1 tabindex="-1">${QUESTION}</h1>
<p>${saludo(datos)}Fuimos a entregárselo y no se pudo${porQue(datos)}.</p>
${declaredAddress(datos)}
${plazo(datos)}
${
  dias
    ? html`${opcion(OTRO_DIA, borrador, html`${campoDeDia('otro_dia', dias, borrador)}`, `Desde el ${dayInWords(dias.desde)}`)}
${opcion(OTRO_LUGAR, borrador, html`${mapa && campoDeMapa(mapa, borrador)}${campoDeEnlace(borrador)}${campoDeReferencia(borrador)}${campoDeDia('otro_lugar', dias, borrador)}`, mapa ? 'En el mapa, con un enlace o con palabras' : 'Con un enlace de mapa o con palabras', aroundMunicipality(datos))}
${opcion(VECINO, borrador, html`${camposDeVecino(borrador)}${campoDeDia('vecino', dias, borrador)}`, 'Díganos quién lo recibe')}`
    : html`<p>Ya se hicieron todos los intentos. Si todavía lo quiere, escríbale a ${conPunto(datos.comercio)}</p>`
}
${opcion(RECHAZO, borrador, html`<p>Vuelve a la tienda. Si ya lo pagó, hable con ella.</p>`, 'Vuelve a la tienda')}`
  const guion = dias && mapa ? mapa.guion : undefined
  return { titulo: fallas.length > 0 ? `Falta algo – ${QUESTION}` : QUESTION, cuerpo, guion }
}

const saludo = ({ destinatario }: DatosDeDecision) => {
  const nombre = soloNombre(destinatario)
  return nombre && `Hola, ${nombre}. `
}

const porQue = ({ motivo }: DatosDeDecision) =>
  motivo === null || motivo === 'otro' ? '' : `: ${DESCRIPCIONES_DE_MOTIVO[motivo]}`

function plazo({ vence_en, vuelve, zona }: DatosDeDecision): Html {
  const reloj = createClock(zona)
  const despues = vuelve ? 'Después, vuelve a la tienda.' : 'Después, decide la tienda.'
  return html`<p>Puede decidir hasta el <strong>${dayInWords(reloj.dia(vence_en))} a las ${reloj.hora(vence_en)}</strong> (${reloj.nombre}). ${despues}</p>`
}

interface Choice {
  eleccion: Eleccion
  icon: string
  text: string
  /** Text of the button that sends the choice. */
  boton: string
}

const OTRO_DIA: Choice = {
  eleccion: 'otro_dia',
  icon: icons.CalendarDays,
  text: 'Que lo lleven otro día',
  boton: 'Pedir ese día',
}
const OTRO_LUGAR: Choice = {
  eleccion: 'otro_lugar',
  icon: icons.MapPin,
  text: 'Que lo lleven a otro lugar',
  boton: 'Pedir ese lugar',
}
const VECINO: Choice = {
  eleccion: 'vecino',
  icon: icons.House,
  text: 'Que lo dejen con un vecino',
  boton: 'Dejarlo con mi vecino',
}
const RECHAZO: Choice = { eleccion: 'rechazo', icon: icons.Undo2, text: 'No lo quiero', boton: 'No lo quiero' }

/**
 * Draws a choice that opens to show its form. In browsers that support `name` on `details`, opening one closes the
 * others.
 */
const opcion = (
  { eleccion, icon: drawing, text, boton }: Choice,
  borrador: Draft,
  campos: Html,
  detail: string,
  attributes?: Html,
): Html =>
  html`<details name="eleccion"${borrador.eleccion === eleccion && html` open`}><summary class="opcion">${icon(drawing)}<span>${text}<small>${detail}</small></span>${icon(icons.ChevronRight)}</summary>
<form method="post" novalidate${attributes}><input type="hidden" name="eleccion" value="${eleccion}">
${campos}
<button type="submit" class="principal">${boton}</button></form></details>`

/** Draws the part of the form that opens the map. It stays hidden until the page's script shows it. */
function campoDeMapa(mapa: DecisionMap, { eleccion, valores }: Draft): Html {
  const valor = (nombre: 'lat' | 'lng') => (eleccion === 'otro_lugar' && valores[nombre]) || ''
  return html`<input type="hidden" name="lat" value="${valor('lat')}"><input type="hidden" name="lng" value="${valor('lng')}">
<button type="button" class="opcion" id="abrir-mapa" hidden>${icon(icons.MapPin)}<span>Señalarlo en el mapa</span></button>
${elMapa(mapa, EN_EL_MAPA)}
<p id="estado-lugar" class="estado" role="status"></p><p id="envio" class="estado" role="status"></p>
${FLECHAS}
`
}

const EN_EL_MAPA = { titulo: 'ayuda-mapa', ayuda: 'Toque el lugar en el mapa, o arrastre el pin hasta la puerta.' }

interface Campo {
  nombre: AnswerFault['campo']
  etiqueta: string
  ayuda?: string
  /** Draws a form control with these attributes and this value. */
  control: (atributos: Html, valor: string) => Html
}

/** Draws a field with its label, help and fault. */
function campo(eleccion: Eleccion, borrador: Draft, { nombre, etiqueta, ayuda, control }: Campo): Html {
  const suyo = borrador.eleccion === eleccion
  return field({
    id: `${nombre}-${eleccion}`,
    label: etiqueta,
    hint: ayuda,
    fault: suyo ? borrador.fallas.find((una) => una.campo === nombre)?.mensaje : undefined,
    control: (atributos) =>
      control(html`${atributos} name="${nombre}" autocomplete="off"`, (suyo && borrador.valores[nombre]) || ''),
  })
}

const campoDeDia = (
  eleccion: Eleccion,
  { desde, hasta }: NonNullable<DatosDeDecision['dias']>,
  borrador: Draft,
): Html =>
  campo(eleccion, borrador, {
    nombre: 'fecha',
    etiqueta: '¿Qué día?',
    control: (atributos, valor) =>
      html`<select ${atributos}>${diasEntre(desde, hasta).map((dia) => html`<option value="${dia}"${dia === valor && html` selected`}>${shortDay(dia)}</option>`)}</select>`,
  })

function diasEntre(desde: string, hasta: string): string[] {
  const dias = []
  for (let dia = desde; dia <= hasta; dia = addDays(dia, 1)) dias.push(dia)
  return dias
}

const campoDeEnlace = (borrador: Draft): Html =>
  campo('otro_lugar', borrador, {
    nombre: 'enlace',
    etiqueta: 'Enlace del mapa, si tiene',
    ayuda: 'En Google Maps o Waze, busque el lugar, toque «Compartir» y «Copiar». Después péguelo aquí.',
    control: (atributos, valor) =>
      html`<input ${atributos} type="text" inputmode="url" autocapitalize="off" spellcheck="false" maxlength="2048" value="${valor}">`,
  })

const campoDeReferencia = (borrador: Draft): Html =>
  campo('otro_lugar', borrador, {
    nombre: 'referencia',
    etiqueta: '¿Cómo reconocemos el lugar?',
    ayuda: 'Calle o colonia, qué hay cerca, de qué color es. Sin enlace, descríbalo bien.',
    control: (atributos, valor) => html`<textarea ${atributos} rows="3" maxlength="200">
${valor}</textarea>`,
  })

const camposDeVecino = (borrador: Draft): readonly Html[] => [
  campo('vecino', borrador, {
    nombre: 'nombre',
    etiqueta: 'Nombre de su vecino',
    ayuda: 'Lo verán la tienda y el repartidor.',
    control: (atributos, valor) =>
      html`<input ${atributos} type="text" maxlength="${MAXIMOS_DE_VECINO.nombre}" value="${valor}">`,
  }),
  campo('vecino', borrador, {
    nombre: 'donde',
    etiqueta: '¿Dónde vive?',
    ayuda: 'Por ejemplo: casa verde de enfrente. Puede dejarlo vacío.',
    control: (atributos, valor) =>
      html`<input ${atributos} type="text" maxlength="${MAXIMOS_DE_VECINO.donde}" value="${valor}">`,
  }),
]

const ocultos = (valores: Partial<AnswerForm>) =>
  Object.entries(valores).map(([nombre, valor]) => html`<input type="hidden" name="${nombre}" value="${valor}">\n`)

/**
 * Returns the page that asks for confirmation before the parcel returns to the merchant, because this cannot be undone.
 */
export const refusalPage = (datos: DatosDeDecision, token: string): PageContent => ({
  titulo: '¿Seguro que no lo quiere?',
  cuerpo: html`${paquete(datos)}
<h1 tabindex="-1">¿Seguro que no lo quiere?</h1>
<p>El paquete vuelve a la tienda. Después ya no se puede cambiar aquí.</p>
<form method="post">
${ocultos({ eleccion: 'rechazo', seguro: '1' })}
<p><a class="boton principal" href="${token}">No, sí lo quiero</a></p>
<button type="submit">Sí, que vuelva a la tienda</button>
</form>`,
})

/**
 * Returns the page that asks for confirmation of a place far from the declared municipality.
 * @param distanciaKm distance from that municipality, in kilometres
 */
export function farPlacePage(datos: DatosDeDecision, valores: Partial<AnswerForm>, distanciaKm: number): PageContent {
  const { fecha = '', lat = '', lng = '', enlace = '', referencia = '' } = valores
  const km = distanciaKm.toLocaleString('es-GT')
  return {
    titulo: '¿Seguro que es ahí?',
    cuerpo: html`${paquete(datos)}
<h1 tabindex="-1">¿Seguro que es ahí?</h1>
<p>El lugar que eligió está a unos <strong>${km}\u00a0km</strong> de <strong>${zonaDelDestino(datos)}</strong>, que es la dirección del paquete.</p>
<form method="post">
${ocultos({ eleccion: 'otro_lugar', fecha, lat, lng, enlace, referencia })}
<button type="submit" class="principal" name="seguro" value="no">No, quiero corregirlo</button>
<button type="submit" name="seguro" value="1">Sí, entréguenlo ahí</button>
</form>`,
  }
}

const QUIEN: Readonly<Record<QuienResuelve, string>> = {
  comercio: 'La tienda',
  operador: 'El servicio de mensajería',
  destinatario: 'Usted',
  politica: 'Nadie decidió a tiempo',
}

const PEDIDO: Readonly<Record<Exclude<Eleccion, 'rechazo'>, string>> = {
  otro_dia: 'Se lo llevamos otro día',
  otro_lugar: 'Lo llevamos al lugar que nos dio',
  vecino: 'Lo dejamos con su vecino',
}

/**
 * Returns the page that says which decision was taken, and by which side (recipient, merchant or courier company). It
 * names no person.
 * @param raiz relative path from the page to the service root, such as `../`
 * @param tarde true if the recipient tried to decide after that
 */
export function decidedPage(datos: DatosDeDecision, raiz: string, tarde: boolean): PageContent {
  const { accion, por, fecha, franja, eleccion } = datos.decidido!
  const titulo = tarde ? 'Ya se había decidido' : por === 'destinatario' ? 'Gracias, ya quedó' : 'Ya se decidió'
  const pedido = eleccion && eleccion !== 'rechazo' ? PEDIDO[eleccion] : 'Se lo llevamos otra vez'
  const sigue = accion === 'devolver' ? 'El paquete vuelve a la tienda' : pedido
  return {
    titulo,
    cuerpo: html`${paquete({ ...datos, contenido: null })}
<h1 tabindex="-1">${titulo}</h1>
${facts([
  ['Qué sigue', sigue],
  [
    'Cuándo',
    accion !== 'devolver' &&
      fecha &&
      html`El ${dayInWords(fecha)}${franja && `, de ${franja.desde} a ${franja.hasta}`}`,
  ],
  ['Quién decidió', QUIEN[por as keyof typeof QUIEN] ?? 'El servicio de mensajería'],
])}
<p><a class="boton principal" href="${raiz}r/${datos.guia}">Seguir mi paquete</a></p>
<p>Si algo no está bien, escríbale a ${conPunto(datos.comercio)}</p>`,
  }
}

/**
 * Returns the page about a decision that became needless, because the parcel has gone on its way.
 */
export const supersededPage = ({ guia }: DatosDeDecision, raiz: string): PageContent =>
  messagePage(
    'Ya no hace falta decidir',
    html`El paquete siguió su camino. No tiene que hacer nada aquí.`,
    html`<a class="boton principal" href="${raiz}r/${guia}">Seguir mi paquete</a>`,
  )

/** Returns the page about a lost parcel, which must be found before a decision is possible. */
export const searchingPage = ({ guia }: DatosDeDecision, raiz: string): PageContent =>
  messagePage(
    'Estamos buscando su paquete',
    html`Cuando aparezca, podrá decidir aquí mismo, si el plazo no ha vencido.`,
    html`<a class="boton principal" href="${raiz}r/${guia}">Seguir mi paquete</a>`,
  )

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
