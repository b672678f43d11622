import { sitioDe } from '../http/network.ts'
import { Cubos, type OpcionesDeCubos, type Ritmo } from './buckets.ts'

/**
 * Factor by which all /64 networks of one /48 together may exceed the rate of a single /64. A /48 is the usual size of
 * a subscriber's site (RFC 6177), but a mobile carrier may spread its phones over a few /48 networks.
 */
export const VECES_DE_SITIO = 4

/** Token buckets by network, all with the same rate. An IPv6 network also spends the bucket of its /48. */
export class LimitePorRed {
  readonly #cubos: Cubos
  readonly #ritmo: Ritmo
  readonly #deSitio: Ritmo

  /** @param ritmo rate of an IPv4 address or an IPv6 /64 */
  constructor(ritmo: Ritmo, opciones: OpcionesDeCubos = {}) {
    this.#cubos = new Cubos(opciones)
    this.#ritmo = ritmo
    this.#deSitio = { porSegundo: VECES_DE_SITIO * ritmo.porSegundo, rafaga: VECES_DE_SITIO * ritmo.rafaga }
  }

  /** Share of this process in the rate of a network. */
  get parte(): Ritmo {
    return this.#cubos.parte(this.#ritmo)
  }

  /**
   * Takes tokens of a network, all or none.
   * @param red network as `redDe` writes it; any other text has a bucket of its own and no /48
   * @returns seconds to wait if nothing was taken; 0 if the tokens were taken
   */
  tomar(red: string, costo = 1): number {
    const sitio = sitioDe(red)
    if (sitio === undefined) return this.#cubos.tomar(red, this.#ritmo, costo)
    const esperaDelSitio = this.#cubos.tomar(sitio, this.#deSitio, costo)
    if (esperaDelSitio > 0) return esperaDelSitio
    const espera = this.#cubos.tomar(red, this.#ritmo, costo)
    if (espera > 0) this.#cubos.devolver(sitio, costo)
    return espera
  }

  /** Gives back tokens that were taken but not needed. */
  devolver(red: string, costo = 1): void {
    const sitio = sitioDe(red)
    if (sitio !== undefined) this.#cubos.devolver(sitio, costo)
    this.#cubos.devolver(red, costo)
  }

  /**
   * Returns the whole tokens left to a network, and the seconds until its bucket is full. If the network's /48 has
   * fewer tokens left, the values are those of the /48.
   */
  quedan(red: string): { quedan: number; enteroEn: number } {
    const suyos = this.#cubos.quedan(red, this.#ritmo)
    const sitio = sitioDe(red)
    if (sitio === undefined) return suyos
    const delSitio = this.#cubos.quedan(sitio, this.#deSitio)
    return delSitio.quedan < suyos.quedan ? delSitio : suyos
  }
}
