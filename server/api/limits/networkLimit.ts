import { siteOf } from '../http/network.ts'
import { type BucketOptions, Buckets, type Rate } from './buckets.ts'

/**
 * Factor by which all /64 networks of one /48 together may exceed the rate of a single /64. A /48 is the usual size of
 * a subscriber's site (RFC 6177), but a mobile carrier may spread its phones over a few /48 networks.
 */
export const SITE_FACTOR = 4

/** Token buckets by network, all with the same rate. An IPv6 network also spends the bucket of its /48. */
export class NetworkLimit {
  readonly #cubos: Buckets
  readonly #ritmo: Rate
  readonly #deSitio: Rate

  /** @param ritmo rate of an IPv4 address or an IPv6 /64 */
  constructor(ritmo: Rate, opciones: BucketOptions = {}) {
    this.#cubos = new Buckets(opciones)
    this.#ritmo = ritmo
    this.#deSitio = { porSegundo: SITE_FACTOR * ritmo.porSegundo, rafaga: SITE_FACTOR * ritmo.rafaga }
  }

  /** Share of this process in the rate of a network. */
  get parte(): Rate {
    return this.#cubos.parte(this.#ritmo)
  }

  /**
   * Takes tokens of a network, all or none.
   * @param red network as `networkOf` writes it; any other text has a bucket of its own and no /48
   * @returns seconds to wait if nothing was taken; 0 if the tokens were taken
   */
  take(red: string, costo = 1): number {
    const sitio = siteOf(red)
    if (sitio === undefined) return this.#cubos.take(red, this.#ritmo, costo)
    const esperaDelSitio = this.#cubos.take(sitio, this.#deSitio, costo)
    if (esperaDelSitio > 0) return esperaDelSitio
    const espera = this.#cubos.take(red, this.#ritmo, costo)
    if (espera > 0) this.#cubos.giveBack(sitio, costo)
    return espera
  }

  /** Gives back tokens that were taken but not needed. */
  giveBack(red: string, costo = 1): void {
    const sitio = siteOf(red)
    if (sitio !== undefined) this.#cubos.giveBack(sitio, costo)
    this.#cubos.giveBack(red, costo)
  }

  /**
   * Returns the whole tokens left to a network, and the seconds until its bucket is full. If the network's /48 has
   * fewer tokens left, the values are those of the /48.
   */
  remaining(red: string): { quedan: number; enteroEn: number } {
    const suyos = this.#cubos.remaining(red, this.#ritmo)
    const sitio = siteOf(red)
    if (sitio === undefined) return suyos
    const delSitio = this.#cubos.remaining(sitio, this.#deSitio)
    return delSitio.quedan < suyos.quedan ? delSitio : suyos
  }
}
