import type { Estado, TipoDeEvento } from '../../generado/contrato/tipos/index.ts'
import { DESCRIPCIONES_DE_MOTIVO } from '../../generado/contrato/vocabulario.ts'
import { type Html, html } from '../html.ts'
import type { EnvioMostrado } from './envio.ts'

/** Meaning of a state for the person who waits for the parcel. The state's colour shows the same. */
type Tono = 'espera' | 'viaje' | 'bien' | 'fallo' | 'mal' | 'vuelta' | 'fin'

interface Aspecto {
  /** State, in the words of a person who waits for a parcel. */
  palabra: string
  tono: Tono
  /** SVG path of the state's icon, in a square of 24 by 24. */
  trazo: string
}

/** Word, tone and icon of each state. The type requires an entry for every state of the contract. */
export const ASPECTOS: Readonly<Record<Estado, Aspecto>> = {
  aceptado: {
    palabra: 'Envío registrado',
    tono: 'espera',
    trazo: 'M6 2h9l5 5v15H6ZM14 3.5V8h4.5ZM8.5 12h7v1.6h-7Zm0 3.5h7v1.6h-7Z',
  },
  recolectado: {
    palabra: 'Recogido',
    tono: 'viaje',
    trazo: 'M12 2 3 6.5v11L12 22l9-4.5v-11ZM12 4.2 17.8 7 12 9.9 6.2 7ZM5 8.7l6 3v7.4l-6-3Z',
  },
  en_bodega: {
    palabra: 'En bodega',
    tono: 'viaje',
    trazo: 'M12 3 2 8v13h3v-9h14v9h3V8ZM7 14h10v2H7Zm0 3.5h10v2H7Z',
  },
  en_transito: {
    palabra: 'En camino a otra bodega',
    tono: 'viaje',
    trazo: 'M4 11h11.2l-4.1-4.1L12.5 5.5 19 12l-6.5 6.5-1.4-1.4 4.1-4.1H4Z',
  },
  en_ruta: {
    palabra: 'En ruta de entrega',
    tono: 'viaje',
    trazo:
      'M1 5h13v11H9.9a3 3 0 0 0-5.8 0H1Zm14 3h4l4 4.5V16h-2.1a3 3 0 0 0-5.8 0H15ZM7 15a2 2 0 1 1 0 4 2 2 0 0 1 0-4Zm11 0a2 2 0 1 1 0 4 2 2 0 0 1 0-4Z',
  },
  intento_fallido: {
    palabra: 'No se pudo entregar',
    tono: 'fallo',
    trazo: 'M12 2 1 21h22Zm-1 7h2v6h-2Zm0 7.5h2v2h-2Z',
  },
  entregado: {
    palabra: 'Entregado',
    tono: 'bien',
    trazo: 'm9.5 18.5-6-6L5 11l4.5 4.5L19 6l1.5 1.5Z',
  },
  en_devolucion: {
    palabra: 'De regreso a la tienda',
    tono: 'vuelta',
    trazo: 'M9.5 4 3 10.5 9.5 17v-4H14a4 4 0 0 1 4 4v3h3v-3a7 7 0 0 0-7-7H9.5Z',
  },
  devuelto: {
    palabra: 'Devuelto a la tienda',
    tono: 'vuelta',
    trazo: 'M3 4h18l1 6a3 3 0 0 1-2 2.8V21H4v-8.2A3 3 0 0 1 2 10Zm3 9v6h6v-6Z',
  },
  extraviado: {
    palabra: 'Lo estamos buscando',
    tono: 'mal',
    trazo: 'M10 3a7 7 0 0 1 5.6 11.2l5.1 5.1-1.4 1.4-5.1-5.1A7 7 0 1 1 10 3Zm0 2a5 5 0 1 0 0 10 5 5 0 0 0 0-10Z',
  },
  cancelado: {
    palabra: 'Cancelado',
    tono: 'fin',
    trazo: 'm6.4 5 5.6 5.6L17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4Z',
  },
}

/** Steps of a parcel's way, in plain words. A state that is in no step has no progress line. */
const IDA: readonly (readonly [paso: string, estados: readonly Estado[]])[] = [
  ['Registrado', ['aceptado']],
  ['Recogido', ['recolectado']],
  ['En camino', ['en_bodega', 'en_transito']],
  ['En ruta', ['en_ruta', 'intento_fallido']],
  ['Entregado', ['entregado']],
]
const VUELTA: typeof IDA = [
  ['Registrado', []],
  ['Recogido', []],
  ['De regreso', ['en_devolucion']],
  ['Devuelto', ['devuelto']],
]

/** Returns the progress of a parcel as a line of steps; false if its state is in no step. */
export function avance(estado: Estado): Html | false {
  for (const camino of [IDA, VUELTA]) {
    const actual = camino.findIndex(([, estados]) => estados.includes(estado))
    if (actual === -1) continue
    return html`<ol class="avance" aria-label="Avance del envío">
${camino.map(([paso], i) => {
  if (i < actual) return html`<li class="hecho">${paso}<span class="oculto">, hecho</span></li>\n`
  return i === actual ? html`<li aria-current="step">${paso}</li>\n` : html`<li>${paso}</li>\n`
})}</ol>`
  }
  return false
}

/** Events whose reason is public. The reason for a lost parcel concerns only the courier company and the merchant. */
const CON_MOTIVO: readonly TipoDeEvento[] = ['guia.intento_fallido', 'guia.en_devolucion']

/**
 * Returns the reason of an event in plain words; undefined if there is no reason, it is `otro`, or it is not public.
 */
export const porQue = ({ tipo, motivo }: EnvioMostrado['eventos'][number]): string | undefined =>
  motivo !== null && motivo !== 'otro' && CON_MOTIVO.includes(tipo) ? DESCRIPCIONES_DE_MOTIVO[motivo] : undefined

/** Returns the heading of a parcel's page: the icon and the word of its state. */
export const cabecera = (estado: Estado): Html => {
  const { palabra, trazo } = ASPECTOS[estado]
  return html`<div class="estado"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${trazo}"/></svg>
<h1>${palabra}</h1></div>`
}
