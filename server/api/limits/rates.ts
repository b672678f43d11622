import type { RitmosDeComercio } from '../../generated/contract/types/index.ts'
import type { Rate } from './buckets.ts'

/** Default rates of a merchant, in averages per key and second. Operators can set other rates. */
export const DEFAULT_RATES: Readonly<RitmosDeComercio> = Object.freeze({ solicitudes: 50, guias: 100 })

/** Rate that an operation spends besides requests; the contract's `x-ritmo` names the rate. */
export type RateClass = 'guias' | 'documentos' | 'recuperaciones' | 'cambios'

/**
 * Returns the rates of one key, from the figures of its merchant. A burst holds 4 s of requests. It holds 20 s of
 * guides and labels, so that an evening's batch passes at once. A hundred labels take 0.4 s of one thread. Changes of
 * other things have a low rate, because each leaves a permanent line in the audit record.
 */
export const keyRate = ({ solicitudes, guias }: RitmosDeComercio): Record<'solicitudes' | RateClass, Rate> => ({
  solicitudes: { perSecond: solicitudes, burst: 4 * solicitudes },
  guias: { perSecond: guias, burst: 20 * guias },
  documentos: { perSecond: guias, burst: 20 * guias },
  recuperaciones: { perSecond: guias / 500, burst: Math.max(1, guias / 10) },
  cambios: { perSecond: solicitudes / 50, burst: 2 * solicitudes },
})

/**
 * Factor by which all keys of a merchant in one mode together may exceed the rates of a single key, for requests and
 * guides. Test and live count separately, so that test requests cannot use up the rates of live requests.
 */
export const KEYS_PER_MERCHANT = 2

/**
 * Maximum number of concurrent requests of a merchant in one mode, an operator's key, a session or a network. A
 * merchant may have as many more as its rate allows per second.
 */
export const MAX_SIMULTANEOUS = 100

/**
 * Returns the rate of an operator's key.
 * @param requests requests per second
 */
export const operationRate = (requests: number): Rate => ({ perSecond: requests, burst: 4 * requests })

/** Rate of a courier's session. The burst admits at once all that a phone sends after a day without coverage. */
export const SESSION_RATE: Rate = { perSecond: 20, burst: 300 }

/**
 * Rate of unknown guide codes that a courier may look up, over all the courier's phones. The rate allows mistyped
 * labels and a day's list of guides that were deleted meanwhile. It never allows enough tries to guess a code.
 */
export const UNKNOWN_RATE: Rate = { perSecond: 0.5, burst: 60 }

/**
 * Returns the rate of a network's requests without a key. A whole mobile network may use a single address.
 * @param requests requests per second
 */
export const networkRate = (requests: number): Rate => ({ perSecond: requests, burst: 10 * requests })

/**
 * Returns the rate of labels drawn for a network, which needs only a link. By default it is the rate at which a
 * merchant may order labels.
 * @param requests requests per second that the network may make without a key
 */
export const labelRate = (requests: number): Rate => ({ perSecond: 2 * requests, burst: 40 * requests })

/**
 * Returns the rate of a network's requests with an invalid key or session, each of which costs a database look-up.
 * @param requests requests per second that the network may make without a key or session
 */
export const attemptRate = (requests: number): Rate => ({ perSecond: requests / 5, burst: 2 * requests })
