import { EVENT_WORDS, GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import type {
  Evento,
  EventoDeOperacion,
  GuiaDeOperacionConEventos,
  Mensaje,
  Nota,
  QuienReparte,
  Repartidor,
} from '../../generated/contract/types/index.ts'
import {
  DESCRIPCIONES_DE_ESTADO,
  DESCRIPCIONES_DE_EVENTO,
  DESCRIPCIONES_DE_MOTIVO,
} from '../../generated/contract/vocabulary.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { showTelephone } from '../../platform/telephones/telephone.ts'
import { type Clock, createClock } from '../../platform/time/clock.ts'
import { capitalized } from '../../platform/words.ts'
import type { PageContent } from '../frame.ts'
import { renderSmallMap, type Tiles } from '../location/tiles.ts'
import { sayDay } from '../tracking/promise.ts'
import { facts, notice, stateBadge, timeline } from '../ui/components.ts'
import { ACTIONS } from './actions.ts'
import { attemptsPart, type Evidence, mapLink, proofPart } from './evidence.ts'
import { actionForms, type Refused } from './forms.ts'
import { handoverTo } from './list.ts'
import { messagesPart } from './messages.ts'
import { type Office, officePage, outcome } from './shell.ts'

interface GuideOptions {
  office: Office
  guia: GuiaDeOperacionConEventos
  mensajes: readonly Mensaje[]
  evidence: Evidence
  /** Notes of the office about the guide. The merchant does not see them. */
  notas: readonly Nota[]
  /** Name of the guide's merchant. */
  comercio: string
  /** Name of the courier company. */
  brand: string
  couriers: readonly Repartidor[]
  /** Source of the map tiles; null if the service offers no map. */
  tiles: Tiles | null
  key: string
  refused?: Refused
  /** Name of the action that was just taken. */
  done?: string
}

/** Returns the page of one guide: the reason for its state, its data, its history, and the actions of the office. */
export function guidePage(options: GuideOptions): PageContent {
  const { office, guia, mensajes, evidence, notas, comercio, couriers, key, refused, done } = options
  const { root, scopes } = office
  const clock = createClock(guia.zona_horaria)
  const forms = {
    thing: { ...guia, couriers },
    scopes,
    key,
    secuencia: guia.secuencia,
    refused,
    root,
    here: `central/guias/${guia.guia.toLowerCase()}`,
  }
  const doneText = done !== undefined && Object.hasOwn(ACTIONS, done) && ACTIONS[done]!.done
  return officePage(office, {
    titulo: `Guía ${inGroups(guia.guia)}`,
    place: 'guias',
    guia: guia.guia,
    body: html`<p class="suave"><a href="${root}central/guias">Guías</a> / ${comercio}</p>
<div class="cabeza"><h1 class="codigo" tabindex="-1">${inGroups(guia.guia)}</h1>${stateBadge(guia.estado, GUIA_STATE_WORDS[guia.estado])}${guia.modo === 'test' && html`<span class="suave">de prueba</span>`}</div>
${doneText && outcome(doneText)}${whyPart(guia, clock, office)}
<div class="ficha"><div>
<section class="tarjeta" aria-labelledby="destino"><h2 id="destino">Destino</h2>${destination(options)}</section>
<section class="tarjeta" aria-labelledby="hacer"><h2 id="hacer">Qué hacer</h2>${actionForms(ACTIONS, forms) || html`<p class="suave">Con sus permisos, aquí solo puede ver.</p>`}</section>
${messagesPart(mensajes, clock, forms)}</div><div>
${proofPart(evidence, guia, clock, root)}${attemptsPart(evidence, clock, root)}<section class="tarjeta" aria-labelledby="historial"><h2 id="historial">Historial</h2>${history(guia, clock)}</section>
${placeMap(options)}${
  notas.length > 0 &&
  html`<section class="tarjeta" aria-labelledby="notas"><h2 id="notas">Notas de la central</h2><ul class="lista">${notas.toReversed().map(({ texto, autor, creado_en }) => html`<li><p class="nota">${texto}</p><p class="suave">${autor.nombre ?? 'Una llave de operación'} · ${clock.formatShort(creado_en)}</p></li>`)}</ul></section>
`
}</div></div>`,
  })
}

/** Explains the guide's state and what it waits for; false if there is nothing to explain. */
function whyPart(guia: GuiaDeOperacionConEventos, clock: Clock, office: Office): Html | false {
  const { estado, ubicacion, decision, intentos, eventos, repartidor } = guia
  const today = office.clock.dia(office.now.toISOString())
  const receiver = handoverTo(guia, office)
  const last = eventos.datos.findLast(({ tipo }) => tipo === `guia.${estado}`)
  const motivo = last?.motivo ? capitalized(DESCRIPCIONES_DE_MOTIVO[last.motivo]) : undefined
  const waits = [
    ubicacion.estado !== 'confirmada' && WAITS_FOR_PLACE[ubicacion.estado],
    decision?.estado === 'pendiente' &&
      `Se espera una decisión${decision.vence_en ? ` hasta el ${clock.formatShort(decision.vence_en)}` : ''}.`,
    decision?.estado === 'tomada' &&
      (decision.accion === 'devolver'
        ? 'Se decidió devolverlo.'
        : `Se decidió llevarlo otra vez${decision.fecha ? ` ${sayDay(decision.fecha, today)}` : ''}.`),
    receiver && `Espera el traspaso: lo lleva ${repartidor!.nombre} hasta que ${receiver} lo escanee.`,
  ].filter((item): item is string => typeof item === 'string')
  if (!motivo && waits.length === 0) return false
  return notice(
    html`<h2>${motivo ?? 'Por qué espera'}</h2>${motivo && last && html`<p>${clock.formatShort(last.ocurrido_en)}${last.repartidor && html`, ${last.repartidor.nombre}`}${intentos > 0 && html`. Intentos: ${intentos}`}.</p>`}${waits.map((item) => html`<p>${item}</p>`)}`,
  )
}

const WAITS_FOR_PLACE: Readonly<Record<string, string>> = {
  solicitada: 'Falta el lugar: quien recibe tiene un mensaje para decirlo.',
  vencida: 'Falta el lugar: quien recibe no contestó el mensaje a tiempo.',
  fallida: 'Falta el lugar: el mensaje no le llegó a quien recibe.',
}

function destination({ guia, comercio, brand, couriers, office: { root, clock, now } }: GuideOptions): Html {
  const { destinatario, telefono, direccion, indicaciones, contenido, municipio, departamento, ubicacion } = guia
  const { lat, lng } = ubicacion
  const place = lat === null ? 'Sin confirmar' : mapLink(lat, lng!, `${lat.toFixed(5)}, ${lng!.toFixed(5)}`)
  const greeting = `Hola${destinatario ? `, ${destinatario}` : ''}. Le escribe ${brand} por su paquete de ${comercio} (guía ${inGroups(guia.guia)}). `
  return facts([
    ['Recibe', destinatario],
    [
      'Teléfono',
      telefono &&
        html`<a href="tel:${telefono}">${showTelephone(telefono)}</a> · <a href="${chatWith(telefono, greeting)}" rel="noreferrer">Escribirle por WhatsApp</a>`,
    ],
    ['Dirección', html`${direccion && html`${direccion}<br>`}${municipio}, ${departamento}`],
    ['Indicaciones', indicaciones],
    ['Lugar', place],
    ['Señas', ubicacion.referencia],
    ['Lleva', contenido],
    ['Referencia', guia.external_ref],
    ['Lo lleva', guia.repartidor && courierOf(guia.repartidor, couriers, root)],
    [
      'Asignada a',
      guia.asignada_a &&
        html`${courierOf(guia.asignada_a, couriers, root)}, para ${sayDay(guia.asignada_a.fecha, clock.dia(now.toISOString()))}. La asignó ${guia.asignada_a.autor.nombre ?? 'una llave de operación'}.`,
    ],
    ['Seguimiento', html`<a href="${guia.url_rastreo}">Como lo ve quien espera</a>`],
  ])
}

/** Draws the place of delivery on a map; false without a place, or if the service offers no map. */
function placeMap({ guia: { ubicacion }, tiles }: GuideOptions): Html | false {
  const { lat, lng } = ubicacion
  const map = tiles !== null && lat !== null && lng !== null && renderSmallMap(tiles, { lat, lng })
  return map && html`<section class="tarjeta" aria-labelledby="mapa"><h2 id="mapa">Mapa</h2>${map}</section>`
}

/** Draws a courier's name as a link to the courier's page, with the telephone. */
function courierOf({ repartidor, nombre }: QuienReparte, couriers: readonly Repartidor[], root: string): Html {
  const telefono = couriers.find((item) => item.repartidor === repartidor)?.telefono
  return html`<a href="${root}central/reparto/${repartidor}">${nombre}</a>${telefono && html` · <a href="tel:${telefono}">${showTelephone(telefono)}</a>`}`
}

/** Returns the address that opens a WhatsApp chat with a greeting already typed. */
const chatWith = (telefono: string, greeting: string) =>
  `https://wa.me/${telefono.replace(/\D/g, '')}?text=${encodeURIComponent(greeting)}`

function history({ estado, eventos: { datos, cursor_siguiente } }: GuiaDeOperacionConEventos, clock: Clock): Html {
  const entries = datos.toReversed().map((evento) => ({
    text: wordsOf(evento),
    time: {
      iso: evento.ocurrido_en,
      words: [clock.formatShort(evento.ocurrido_en), ...peopleOf(evento)].join(' · '),
    },
  }))
  return html`${timeline(estado, entries)}${cursor_siguiente !== null && html`<p class="suave">Hay pasos más nuevos que no se muestran.</p>`}<p class="suave">De lo más reciente a lo más antiguo, en ${clock.nombre}.</p>`
}

/**
 * Returns the names of those who took part in an event: the courier, the author, and the person who had assigned the
 * guide.
 */
const peopleOf = ({ repartidor, autor, asignado_por, traspasado_por }: EventoDeOperacion): string[] => [
  ...(repartidor ? [traspasado_por ? `de ${traspasado_por.nombre} a ${repartidor.nombre}` : repartidor.nombre] : []),
  ...(autor ? [`registrado por ${autor.nombre ?? 'una llave de operación'}`] : []),
  ...(asignado_por ? [`asignado por ${asignado_por.nombre ?? 'una llave de operación'}`] : []),
]

/** Describes an event in words: what happened, its reason, and the description that a person typed. */
function wordsOf({ tipo, estado, motivo, descripcion }: Evento): string {
  const usual =
    tipo === `guia.${estado}`
      ? DESCRIPCIONES_DE_ESTADO[estado]
      : (DESCRIPCIONES_DE_EVENTO as Record<string, string>)[tipo]
  const parts = [
    EVENT_WORDS[tipo] ?? tipo,
    motivo && DESCRIPCIONES_DE_MOTIVO[motivo],
    descripcion !== usual && descripcion,
  ]
  return parts.filter(Boolean).join(': ')
}
