import type { RitmosDeComercio } from '../contrato/generado/tipos/index.ts'
import type { Ritmo } from './cubos.ts'

/** What a merchant has unless operators say otherwise: per key and second, over time. */
export const RITMOS_POR_OMISION: Readonly<RitmosDeComercio> = Object.freeze({ solicitudes: 50, guias: 100 })

/** What an operation spends besides requests: the contract's `x-ritmo` names it. */
export type Clase = 'guias' | 'documentos' | 'recuperaciones' | 'cambios'

/**
 * The rhythms of one key, from its merchant's figures. A burst of requests lasts 4 s, one of guides 20 s: an evening's batch
 * goes through at once. Labels cost a fifth of the CPU of all else that a guide costs, but in one piece. A change of what is
 * not a guide leaves a line in the audit record for ever.
 */
export const deLlave = ({ solicitudes, guias }: RitmosDeComercio): Record<'solicitudes' | Clase, Ritmo> => ({
  solicitudes: { porSegundo: solicitudes, rafaga: 4 * solicitudes },
  guias: { porSegundo: guias, rafaga: 20 * guias },
  documentos: { porSegundo: guias / 2, rafaga: 5 * guias },
  recuperaciones: { porSegundo: guias / 500, rafaga: Math.max(1, guias / 10) },
  cambios: { porSegundo: solicitudes / 50, rafaga: 2 * solicitudes },
})

/** So many times a key's rhythm all keys of a merchant have together, in one mode: test can't take what is live's. */
export const LLAVES = 2

/** Requests that one merchant and mode, session or network may have under way, besides what its rhythm allows in a second. */
export const SIMULTANEAS = 100

/** An operator's key. @param solicitudes per second */
export const deOperacion = (solicitudes: number): Ritmo => ({ porSegundo: solicitudes, rafaga: 4 * solicitudes })

/** A courier's session: what a phone sends after a day without coverage goes through at once. */
export const DE_SESION: Ritmo = { porSegundo: 20, rafaga: 300 }

/**
 * Codes that name no guide, which a courier may ask for on all his phones: a mistyped label now and then, a day's list after it was
 * swept, and never enough to guess one.
 */
export const DE_DESCONOCIDAS: Ritmo = { porSegundo: 0.5, rafaga: 60 }

/**
 * A network's requests without a key: a whole mobile network may stand behind one address.
 * @param solicitudes per second
 */
export const deRed = (solicitudes: number): Ritmo => ({ porSegundo: solicitudes, rafaga: 10 * solicitudes })

/**
 * The labels that are drawn for a network, which needs no more than a link: as many as a merchant may name in his links.
 * @param solicitudes per second that it may make without a key
 */
export const deEtiquetas = (solicitudes: number): Ritmo => ({ porSegundo: solicitudes, rafaga: 10 * solicitudes })

/**
 * A network's requests with a key or session that isn't one: each costs a look into the database.
 * @param solicitudes per second that it may make without any
 */
export const deIntentos = (solicitudes: number): Ritmo => ({ porSegundo: solicitudes / 5, rafaga: 2 * solicitudes })
