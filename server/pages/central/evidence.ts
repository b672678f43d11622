import { relationInWords } from '../../domain/pruebasEntrega/prueba.ts'
import type {
  ArchivoDePrueba,
  Evento,
  GuiaDeOperacionConEventos,
  IntentoFallido,
  PruebaDeEntrega,
  PruebaRectificada,
} from '../../generated/contract/types/index.ts'
import { DESCRIPCIONES_DE_MOTIVO, DESCRIPCIONES_DE_SIN_FIRMA } from '../../generated/contract/vocabulary.ts'
import { type Html, html } from '../../platform/html.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { capitalized } from '../../platform/words.ts'
import { facts } from '../ui/components.ts'

/** Proof of delivery and failed attempts of a guide. */
export interface Evidence {
  /** Proof of the delivery; a sentence if there is none for some reason; undefined before any delivery. */
  prueba: PruebaDeEntrega | string | undefined
  /** Proofs of deliveries that were undone, newest first. */
  rectificadas: readonly PruebaRectificada[]
  intentos: readonly IntentoFallido[]
}

/** Reports whether a guide was ever delivered, even if the delivery was undone. */
export const wasDelivered = ({ estado, eventos }: GuiaDeOperacionConEventos): boolean =>
  estado === 'entregado' || deliveries(eventos.datos).length > 0

/** Reports whether a delivery of the guide was undone. */
export const wasUndone = (guia: GuiaDeOperacionConEventos): boolean => undoneDeliveries(guia).length > 0

/** Reports whether a guide may have failed attempts, including those reported late. */
export const mayHaveAttempts = ({ intentos, eventos }: GuiaDeOperacionConEventos): boolean =>
  intentos > 0 || eventos.datos.some(({ tipo }) => ['guia.intento_fallido', 'guia.escaneo_tardio'].includes(tipo))

const deliveries = (events: readonly Evento[]) => events.filter(({ tipo }) => tipo === 'guia.entregado')

/** Returns the deliveries of a guide that were undone. */
function undoneDeliveries({ estado, eventos }: GuiaDeOperacionConEventos): Evento[] {
  const made = deliveries(eventos.datos)
  return estado === 'entregado' ? made.slice(0, -1) : made
}

/** Draws the proof of delivery, and those of deliveries that were undone; false before any delivery. */
export function proofPart(
  { prueba, rectificadas }: Evidence,
  guia: GuiaDeOperacionConEventos,
  clock: Clock,
  root: string,
): Html | false {
  if (prueba === undefined) return false
  return html`<section class="tarjeta" aria-labelledby="prueba"><h2 id="prueba">Prueba de entrega</h2>
${typeof prueba === 'string' ? guia.estado === 'entregado' && html`<p class="suave">${prueba}</p>` : proof(prueba, clock, root)}${undoneDeliveries(guia).map(({ ocurrido_en }) => html`<p class="suave">La entrega del ${clock.formatShort(ocurrido_en)} se deshizo, y su prueba ya no vale.</p>`)}${rectificadas.map((one) => undoneProof(one, clock, root))}</section>
`
}

/** Draws a proof that is no longer valid, closed, so that nobody takes it for the guide's. */
const undoneProof = (prueba: PruebaRectificada, clock: Clock, root: string): Html =>
  html`<details class="accion"><summary>Ver la prueba que ya no vale</summary><p class="suave">Se deshizo el ${clock.formatShort(prueba.rectificada_en)}.</p>${proof(prueba, clock, root)}</details>`

function proof(prueba: PruebaDeEntrega, clock: Clock, root: string): Html {
  const { guia, entregado_en, recibido_por, repartidor, distancia_m, firma, sin_firma, fotos, pdf } = prueba
  const { nombre, documento } = recibido_por
  const where = placeOf(prueba)
  return html`${facts([
    ['Entregado', clock.formatShort(entregado_en)],
    ['Recibió', html`${nombre}${recibido_por.relacion && html`<br>${relationInWords(recibido_por)}`}`],
    ['Documento', documento],
    ['Entregó', repartidor?.nombre],
    ['Dónde', where && html`${where}${distancia_m !== null && `, a ${distancia_m} m del lugar`}`],
    ['Sin firma', sin_firma && DESCRIPCIONES_DE_SIN_FIRMA[sin_firma]],
  ])}${pictures(fotos, 'Foto de la entrega', clock, root)}${firma && pictures([firma], 'Firma', clock, root)}
<p>${pdf ? html`<a class="aparte" href="${addressOf(pdf, root)}">Bajar el PDF</a>` : 'El PDF se está haciendo.'} · <a class="aparte" href="${root}verificar/${guia}">Verificar la prueba</a></p>`
}

/** Draws the failed attempts, newest first; false if there are none. */
export const attemptsPart = ({ intentos }: Evidence, clock: Clock, root: string): Html | false =>
  intentos.length > 0 &&
  html`<section class="tarjeta" aria-labelledby="intentos"><h2 id="intentos">Intentos</h2><ul class="lista">${intentos.toReversed().map((intento) => attempt(intento, clock, root))}</ul></section>
`

function attempt(intento: IntentoFallido, clock: Clock, root: string): Html {
  const { numero_intento, motivo, descripcion, ocurrido_en, repartidor, fotos, aplicado } = intento
  const why = motivo ? capitalized(DESCRIPCIONES_DE_MOTIVO[motivo]) : 'No se pudo entregar'
  const where = placeOf(intento)
  return html`<li><b>${numero_intento !== null && `${numero_intento}. `}${why}</b>${descripcion && html`<p class="nota">${descripcion}</p>`}<p class="suave">${clock.formatShort(ocurrido_en)}${repartidor && html` · ${repartidor.nombre}`}${where && html` · ${where}`}${!aplicado && ' · se supo después'}</p>${pictures(fotos, 'Foto del intento', clock, root)}</li>`
}

/** Returns a link that opens a point on a map; false without a point. */
const placeOf = ({ lat, lng }: { lat: number | null; lng: number | null }): Html | false =>
  lat !== null && lng !== null && mapLink(lat, lng, 'en el mapa')

/** Draws a link that opens a point on a map. */
export const mapLink = (lat: number, lng: number, text: string): Html =>
  html`<a href="https://www.openstreetmap.org/?mlat=${lat}&amp;mlon=${lng}#map=18/${lat}/${lng}" rel="noreferrer">${text}</a>`

/** Draws small pictures; each opens in a new tab. */
const pictures = (files: readonly ArchivoDePrueba[], name: string, clock: Clock, root: string): Html | false =>
  files.length > 0 &&
  html`<ul class="fotos">${files.map((file, i) => {
    const address = addressOf(file, root)
    const number = files.length > 1 ? ` ${i + 1}` : ''
    const when = file.capturado_en === null ? '' : `, ${clock.formatShort(file.capturado_en)}`
    return html`<li><a href="${address}" target="_blank" rel="noopener"><img src="${address}" alt="${name}${number}${when}" loading="lazy" width="96" height="96"></a></li>`
  })}</ul>`

/**
 * Rewrites the address of a signed link to this page's own origin, because the page's Content-Security-Policy allows no
 * other.
 */
const addressOf = ({ archivo, url }: ArchivoDePrueba, root: string): string =>
  `${root}archivos/${archivo}${new URL(url).search}`
