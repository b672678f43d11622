import { siteOf } from '../http/network.ts'
import { type BucketOptions, Buckets, type Rate } from './buckets.ts'

/**
 * Factor by which all /64 networks of one /48 together may exceed the rate of a single /64. A /48 is the usual size of
 * a subscriber's site (RFC 6177), but a mobile carrier may spread its phones over a few /48 networks.
 */
export const SITE_FACTOR = 4

/** Token buckets by network, all with the same rate. An IPv6 network also spends the bucket of its /48. */
export class NetworkLimit {
  readonly #buckets: Buckets
  readonly #rate: Rate
  readonly #siteRate: Rate

  /** @param rate rate of an IPv4 address or an IPv6 /64 */
  constructor(rate: Rate, options: BucketOptions = {}) {
    this.#buckets = new Buckets(options)
    this.#rate = rate
    this.#siteRate = { perSecond: SITE_FACTOR * rate.perSecond, burst: SITE_FACTOR * rate.burst }
  }

  /** Share of this process in the rate of a network. */
  get parte(): Rate {
    return this.#buckets.parte(this.#rate)
  }

  /**
   * Takes tokens of a network, all or none.
   * @param network network as `networkOf` writes it; any other text has a bucket of its own and no /48
   * @returns seconds to wait if nothing was taken; 0 if the tokens were taken
   */
  take(network: string, cost = 1): number {
    const site = siteOf(network)
    if (site === undefined) return this.#buckets.take(network, this.#rate, cost)
    const siteWait = this.#buckets.take(site, this.#siteRate, cost)
    if (siteWait > 0) return siteWait
    const networkWait = this.#buckets.take(network, this.#rate, cost)
    if (networkWait > 0) this.#buckets.giveBack(site, cost)
    return networkWait
  }

  /** Gives back tokens that were taken but not needed. */
  giveBack(network: string, cost = 1): void {
    const site = siteOf(network)
    if (site !== undefined) this.#buckets.giveBack(site, cost)
    this.#buckets.giveBack(network, cost)
  }

  /**
   * Returns the whole tokens left to a network, and the seconds until its bucket is full. If the network's /48 has
   * fewer tokens left, the values are those of the /48.
   */
  remaining(network: string): { remaining: number; fullIn: number } {
    const networkRemaining = this.#buckets.remaining(network, this.#rate)
    const site = siteOf(network)
    if (site === undefined) return networkRemaining
    const siteRemaining = this.#buckets.remaining(site, this.#siteRate)
    return siteRemaining.remaining < networkRemaining.remaining ? siteRemaining : networkRemaining
  }
}
