import type { Estado, EstadoDeUbicacion, Motivo } from '../../generated/contract/types/index.ts'
import {
  DESCRIPCIONES_DE_EVENTO,
  LOCATION_STATE_MACHINE,
  MOTIVOS,
  STATE_MACHINE,
  TIPOS_INTERNOS,
} from '../../generated/contract/vocabulary.ts'
import { Problema } from '../../platform/errors.ts'

const transiciones: Readonly<Record<Estado, readonly Estado[]>> = STATE_MACHINE.transiciones
const ubicacionTransitions: Readonly<Record<EstadoDeUbicacion, readonly EstadoDeUbicacion[]>> =
  LOCATION_STATE_MACHINE.transiciones
const motivos: Readonly<Partial<Record<Estado, Readonly<Partial<Record<Motivo, { requiere_accion: boolean }>>>>>> =
  MOTIVOS

/** Returns the states that a guide may enter next. */
export const nextStates = (estado: Estado): readonly Estado[] => transiciones[estado]

/** Returns the states that the courier of a parcel may report next. Only the merchant can cancel a guide. */
export const reportableStates = (estado: Estado): readonly Estado[] =>
  nextStates(estado).filter((other) => other !== 'cancelado')

/**
 * Reports whether a guide needs a confirmed location for this state: a courier does not leave without a destination.
 */
export const requiresUbicacion = (estado: Estado) => estado === 'en_ruta'

/** Reports whether the office may undo this state. */
export const isRectifiable = (estado: Estado) => (STATE_MACHINE.rectificables as readonly Estado[]).includes(estado)

/** Reports whether no state can follow this state. */
export const isFinalState = (estado: Estado) => nextStates(estado).length === 0

/** States of guides that are not over. */
export const ONGOING_STATES = (Object.keys(transiciones) as Estado[]).filter((estado) => !isFinalState(estado))

/** Returns the states that the location of a guide may enter next. */
export const nextUbicacionStates = (estado: EstadoDeUbicacion): readonly EstadoDeUbicacion[] =>
  ubicacionTransitions[estado]

/** Returns the reasons that a state may have; empty if the state takes none. */
export const reasonsOf = (estado: Estado): readonly Motivo[] => Object.keys(motivos[estado] ?? {}) as Motivo[]

/** Reports whether the merchant must act before the next delivery attempt can succeed. */
export const requiresAction = (estado: Estado, motivo: Motivo | null): boolean =>
  motivo !== null && (motivos[estado]?.[motivo]?.requiere_accion ?? false)

/**
 * Requires that a guide's present state may change to the reported state.
 * @throws Problema 409 `transicion_invalida`, with the states that can be reported
 */
export function requireTransition(estado: Estado, nuevo: Estado) {
  const possibleStates = reportableStates(estado)
  if (possibleStates.includes(nuevo)) return
  const possibleText = possibleStates.length > 0 ? `Puede pasar a ${possibleStates.join(', ')}.` : 'Es un estado final.'
  throw new Problema('transicion_invalida', `La guía está en ${estado} y no puede pasar a ${nuevo}. ${possibleText}`, {
    estado,
    transiciones: [...possibleStates],
  })
}

/**
 * Requires that a guide can still be cancelled, that is, no courier has or had the parcel.
 * @throws Problema 409 `transicion_invalida`, without states, because the client cannot report any
 */
export function requireCancellable(estado: Estado) {
  if (nextStates(estado).includes('cancelado')) return
  const remedy = nextStates(estado).includes('en_devolucion') ? ' Si el paquete debe volver, pida la devolución.' : ''
  const mensaje = `La guía está en ${estado} y ya no se puede cancelar: solo se cancela antes de que se recolecte.${remedy}`
  throw new Problema('transicion_invalida', mensaje, { estado, transiciones: [] })
}

/**
 * Word of each state for the person who waits for a parcel, on the tracking page and in the proof of delivery. The
 * contract has texts of its own (`DESCRIPCIONES_DE_ESTADO`), which stored events and webhook bodies keep.
 */
export const GUIA_STATE_WORDS: Readonly<Record<Estado, string>> = {
  aceptado: 'Envío registrado',
  recolectado: 'Recolectado',
  en_bodega: 'En bodega',
  en_transito: 'En camino a otra bodega',
  en_ruta: 'En ruta de entrega',
  intento_fallido: 'No se pudo entregar',
  entregado: 'Entregado',
  en_devolucion: 'De regreso a la tienda',
  devuelto: 'Devuelto a la tienda',
  extraviado: 'Lo estamos buscando',
  cancelado: 'Cancelado',
}

/** Words of the events of a location. For this person a place of delivery is a «lugar»; a «ubicación» is a phone's. */
const LOCATION_EVENT_WORDS = {
  'ubicacion.solicitada': 'Se preguntó dónde entregar',
  'ubicacion.confirmada': 'Lugar de entrega confirmado',
  'ubicacion.vencida': 'Nadie contestó a tiempo dónde entregar',
  'ubicacion.fallida': 'No se pudo preguntar dónde entregar',
}

/**
 * Words of each type of event for the person who waits for a parcel: those of a state or a location, or else the
 * contract's.
 */
export const EVENT_WORDS: Readonly<Record<string, string>> = {
  ...DESCRIPCIONES_DE_EVENTO,
  ...LOCATION_EVENT_WORDS,
  ...Object.fromEntries(Object.entries(GUIA_STATE_WORDS).map(([estado, word]) => [`guia.${estado}`, word])),
}

/** SQL condition that an event is a step of the parcel, which the recipient's pages and the proof show. */
export const IS_STEP = `tipo not in (${TIPOS_INTERNOS.map((tipo) => `'${tipo}'`).join(', ')})`
