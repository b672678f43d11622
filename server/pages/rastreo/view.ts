import { EVENT_WORDS, esFinal, PALABRAS } from '../../domain/estados/estados.ts'
import { admiteUbicacion } from '../../domain/ubicacion/ubicacion.ts'
import * as icons from '../../generado/contrato/iconos.ts'
import type { Estado, EstadoDeUbicacion } from '../../generado/contrato/tipos/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { createClock } from '../../platform/time/clock.ts'
import { capitalized } from '../../platform/words.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { type Html, html } from '../html.ts'
import { advice, facts, stateLabel, timeline } from '../ui/components.ts'
import { whatToDo } from './actions.ts'
import type { EnvioMostrado } from './envio.ts'
import { avance, porQue } from './estados.ts'
import { decidedDay, sayTime, whenItComes } from './promise.ts'

/** Sentences about what may happen next, by state. The type requires a sentence for every state of the contract. */
export const SIGUE: Readonly<Record<Estado, (comercio: string) => string>> = {
  aceptado: (comercio) => `El repartidor pasará por el paquete. Hasta entonces, ${comercio} puede cancelar el envío.`,
  recolectado: () => 'El paquete pasa por una bodega o sale directo a ruta de entrega.',
  en_bodega: () => 'El paquete sale a ruta de entrega o a otra bodega. También puede entregarse en la misma bodega.',
  en_transito: () => 'El paquete llega a otra bodega o sale a ruta de entrega.',
  en_ruta: () => 'El repartidor va a entregarlo.',
  intento_fallido: () => 'El repartidor lo intenta otra vez, o el paquete espera en una bodega.',
  entregado: () => 'Nada más: el paquete ya se entregó.',
  en_devolucion: (comercio) => `El paquete va de regreso: ${comercio} lo recibirá.`,
  devuelto: (comercio) => `Nada más: ${comercio} ya tiene el paquete de vuelta.`,
  extraviado: () => 'Si aparece, va a una bodega o de regreso a quien lo envió.',
  cancelado: (comercio) => `Nada más: ${comercio} canceló el envío antes de que se recolectara.`,
}

const FALTA_LUGAR: Readonly<Record<Exclude<EstadoDeUbicacion, 'confirmada'>, string>> = {
  solicitada:
    'Quien recibe tiene un mensaje en su teléfono para decirnos dónde entregar. Mientras no conteste, el paquete no sale a ruta.',
  vencida:
    'Quien recibe tiene un mensaje que no contestó a tiempo, y su enlace ya no sirve. La tienda donde compró puede mandarle otro.',
  fallida:
    'A quien recibe no le llegó el mensaje para decirnos dónde entregar. Escríbale a la tienda donde compró para darle el lugar.',
}

interface EnvioPageOptions {
  /** Relative path from the page to the service root, such as `../`. */
  raiz: string
  /** Script that loads the page again; omitted in final states. */
  guion: Html
  fachada: Front
}

/** Returns the content of a parcel's page. */
export function paginaDelEnvio(envio: EnvioMostrado, { raiz, guion, fachada }: EnvioPageOptions): PageContent {
  const { guia, modo, estado, comercio, municipio, inicial, intentos, zona, ahora } = envio
  const termina = esFinal(estado)
  const prueba = modo === 'test'
  const cuerpo = html`${prueba && html`<p class="aviso"><strong>Guía de prueba.</strong> No hay ningún paquete: alguien está probando el servicio.</p>\n`}<p class="suave">De <b>${comercio}</b> · guía <b class="codigo">${inGroups(guia)}</b></p>
<div id="envio"><div>${comoVa(envio)}
${faltaLugar(envio)}
${whatToDo(envio, fachada, raiz)}</div>
<div>${historial(envio)}
${facts([
  ['Para', inicial !== null && `${inicial}.`],
  ['Municipio de destino', municipio],
  ['Intentos de entrega fallidos', intentos > 0 && intentos],
])}</div></div>
${!termina && html`<p class="suave visto" id="visto">Visto ${sayTime(ahora, { zona, ahora })}. <a href="${guia}">Actualizar</a></p>\n<p class="oculto" id="novedad" role="status"></p>`}
<p class="otro"><a href="${raiz || './'}">Seguir otro envío</a></p>`
  return { titulo: `Envío ${inGroups(guia)}`, cuerpo, conTelefono: true, guion: termina ? undefined : guion }
}

/**
 * Draws the state, its reason, the day, and the progress. Also says what may happen next, unless a decision already
 * says so.
 */
function comoVa(envio: EnvioMostrado): Html {
  const { estado, comercio, eventos } = envio
  const actual = eventos.find(({ tipo }) => tipo === `guia.${estado}`)
  const motivo = actual && porQue(actual)
  // For a failed attempt, the reason is the heading, because people want to know it. Screen readers read the state
  // before it.
  const fallido = estado === 'intento_fallido' && motivo !== undefined
  return stateLabel({
    estado,
    word: fallido ? html`<span class="oculto">${PALABRAS[estado]}: </span>${capitalized(motivo)}` : PALABRAS[estado],
    said: html`${motivo !== undefined && !fallido && html`<p class="motivo">Motivo: ${motivo}.</p>`}${whenItComes(envio)}${!decidedDay(envio) && html`<p>${SIGUE[estado](comercio)}</p>`}`,
    rest: avance(estado),
  })
}

function historial({ estado, zona, eventos, hayMas }: EnvioMostrado): Html {
  const reloj = createClock(zona)
  return html`<section aria-labelledby="historial"><h2 id="historial">Historial</h2>
${timeline(
  estado,
  eventos.map((evento) => {
    const iso = evento.ocurrido_en.toISOString()
    const porque = porQue(evento)
    const dicho = EVENT_WORDS[evento.tipo] ?? evento.tipo
    return { text: porque ? `${dicho}: ${porque}` : dicho, time: { iso, words: reloj.corta(iso) } }
  }),
)}
${hayMas && html`<p class="suave">Hay pasos más antiguos que no se muestran.</p>\n`}<p class="suave">De lo más reciente a lo más antiguo, en ${reloj.nombre}.</p></section>`
}

/**
 * Returns the notice that the delivery location is missing; false if the location is confirmed or no longer needed. In
 * the state `en_ruta` the notice is left out: the courier already knows that the location is missing.
 */
function faltaLugar({ estado, ubicacion, modo }: EnvioMostrado): Html | false {
  if (ubicacion === 'confirmada' || estado === 'en_ruta') return false
  if (!admiteUbicacion({ estado, ubicacion_estado: ubicacion })) return false
  return html`<section class="aviso" aria-labelledby="lugar"><h2 id="lugar">Falta saber dónde entregar</h2>
<p>${FALTA_LUGAR[ubicacion]}</p>${
    modo === 'test' &&
    html`
<p>Como es una guía de prueba, ese mensaje no sale a ningún teléfono.</p>`
  }</section>`
}

/**
 * Returns the page for texts that cannot be codes and for unknown codes. It does not tell them apart, so guessing
 * reveals nothing.
 * @param tecleado text typed into the form that cannot be a code
 */
export const paginaDesconocida = (raiz: string, tecleado?: string): PageContent => ({
  titulo: 'No encontramos ese envío',
  cuerpo: html`<h1>No encontramos ese envío</h1>
${codeForm({ raiz, tecleado })}
<section aria-labelledby="revise"><h2 id="revise">Lo que suele pasar</h2>
${advice([
  {
    icon: icons.Pencil,
    text: 'El código tiene un error',
    detail:
      'Cópielo otra vez del mensaje de la tienda o de la etiqueta: puede que falte una letra o que una esté cambiada.',
  },
  {
    icon: icons.Store,
    text: 'La tienda todavía no lo registra',
    detail: 'Si acaba de comprar, vuelva a intentarlo más tarde.',
  },
  {
    icon: icons.Truck,
    text: 'Lo lleva otro servicio de mensajería',
    detail: 'Pregúntele a la tienda donde compró con quién lo envió.',
  },
])}</section>`,
})

export const FALLO_DE_RASTREO = html`No es culpa suya, y el envío sigue su camino. Vuelva a cargar la página en un minuto.`
