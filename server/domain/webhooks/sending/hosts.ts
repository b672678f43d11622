import { Buckets } from '../../../api/limits/buckets.ts'
import { Counter } from '../../../api/limits/count.ts'
import type { WebhookAvisoRow } from '../delivery.ts'
import { needsVerification } from '../webhook.ts'
import { MAX_EXCHANGES_PER_HOST, MAX_EXCHANGES_PER_UNKNOWN_HOST, MAX_HOSTS, MAX_REQUESTS_PER_MINUTE } from './limits.ts'
import type { Receiver } from './receiver.ts'

const SEND_RATE = { perSecond: MAX_REQUESTS_PER_MINUTE / 60, burst: MAX_REQUESTS_PER_MINUTE }

/** Properties of a request on which the limits of its host depend. */
export interface HostSend {
  host: string
  /** Merchant and mode of the endpoint. */
  comercio: string
  /** True if an endpoint of the host has shown by a test that it accepts deliveries; always false in test mode. */
  verified: boolean
  isTest: boolean
}

/**
 * Limits the requests of this process to each host, over all merchants. Hosts are identified by name. If a foreign name
 * leads to the same machine, the request fails at the certificate check, before anything is sent.
 */
export class Hosts<Line> {
  readonly #inFlight = new Counter()
  readonly #buckets: Buckets
  /**
   * Hosts that have returned a success since this process started, in order of use; the last one used is at the end.
   */
  readonly #acceptingHosts = new Set<string>()
  readonly #waitingLines = new Map<string, Set<Line>>()

  /** @param clock clock in milliseconds, of which only differences matter */
  constructor(clock?: () => number) {
    this.#buckets = new Buckets({ max: MAX_HOSTS, ...(clock ? { clock } : {}) })
  }

  /**
   * Returns true if the request may be sent now. Otherwise stores the line of deliveries as waiting, until
   * {@link finish} ends an exchange with the same host and returns the line.
   */
  maySend(hostSend: HostSend, line: Line): boolean {
    const { host } = hostSend
    const hostLimit = this.#accepts(hostSend) ? MAX_EXCHANGES_PER_HOST : MAX_EXCHANGES_PER_UNKNOWN_HOST
    const hasTokens = this.#bucketKeys(hostSend).every(
      (cuenta) => this.#buckets.remaining(cuenta, SEND_RATE).remaining > 0,
    )
    if (hasTokens && this.#inFlight.de(host) < hostLimit) return true
    const waitingLines = this.#waitingLines.get(host) ?? new Set()
    this.#waitingLines.set(host, waitingLines.add(line))
    return false
  }

  /** Records the start of an exchange. */
  start(hostSend: HostSend): void {
    for (const cuenta of this.#bucketKeys(hostSend)) this.#buckets.take(cuenta, SEND_RATE)
    this.#inFlight.add(hostSend.host)
  }

  /**
   * Records the end of an exchange.
   * @param isAccepted true if the receiver accepted the delivery
   * @returns the lines that waited for the host
   */
  finish({ host }: HostSend, isAccepted: boolean): Iterable<Line> {
    this.#inFlight.subtract(host)
    if (isAccepted) {
      this.#acceptingHosts.delete(host)
      this.#acceptingHosts.add(host)
      if (this.#acceptingHosts.size > MAX_HOSTS)
        this.#acceptingHosts.delete(this.#acceptingHosts.values().next().value!)
    }
    const waitingLines = this.#waitingLines.get(host) ?? []
    this.#waitingLines.delete(host)
    return waitingLines
  }

  /** Removes a closed line, so that it no longer waits for any host. */
  forget(line: Line): void {
    for (const [host, waitingLines] of this.#waitingLines)
      if (waitingLines.delete(line) && waitingLines.size === 0) this.#waitingLines.delete(host)
  }

  #accepts({ host, verified }: HostSend): boolean {
    return verified || this.#acceptingHosts.has(host)
  }

  /**
   * Returns the token buckets that the request draws from. A request to a host that accepts deliveries draws from none,
   * unless the request is a test.
   */
  #bucketKeys(hostSend: HostSend): string[] {
    const drawsTokens = hostSend.isTest || !this.#accepts(hostSend)
    return drawsTokens ? [`anfitrion ${hostSend.host}`, `comercio ${hostSend.comercio}`] : []
  }
}

/** Returns the host of an address. With http, which is allowed only on this machine, each port is a host of its own. */
const hostNameOf = ({ protocol, hostname, host }: URL) => (protocol === 'http:' ? host : hostname)

/**
 * Returns the properties of a request for {@link Hosts}. Returns undefined if the endpoint's address is not
 * allowed; then no request is sent.
 */
export function hostSendOf(receiver: Receiver, aviso: Pick<WebhookAvisoRow, 'causa'>): HostSend | undefined {
  const { comercio_id, direccion, modo, comprobado_en } = receiver
  if (!direccion) return undefined
  const verified = needsVerification(modo) && comprobado_en !== null
  return {
    host: hostNameOf(direccion),
    comercio: `${comercio_id} ${modo}`,
    verified,
    isTest: aviso.causa === 'prueba',
  }
}
