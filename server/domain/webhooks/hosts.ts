import { Buckets } from '../../api/limits/buckets.ts'
import { Counter } from '../../api/limits/count.ts'
import type { FilaAvisoDeWebhook } from './entrega.ts'
import type { Receptor } from './receptor.ts'
import { seComprueba } from './webhook.ts'

/**
 * Maximum concurrent exchanges with one host, over all merchants: a quarter of a process's maximum (`MAX_IN_FLIGHT`).
 * A host that responds quickly never comes near this limit, for any number of merchants. If the host of a platform
 * hangs, the other hosts have the remaining three quarters.
 */
export const PER_HOST = 128
/**
 * Maximum concurrent exchanges with a host that has not accepted a delivery yet. The number is enough to find out if
 * the host accepts deliveries.
 */
export const PER_UNKNOWN_HOST = 8
/**
 * Maximum requests a minute, possibly all at once, to a host that has not accepted a delivery yet. The limit also
 * applies to test deliveries, to any host. Registration costs nothing: a merchant may register a thousand endpoints at
 * another company's server. That server receives no more than this number of requests. The same limit holds for each
 * merchant in each mode, because a wildcard in the DNS gives a server any number of names.
 */
export const SENDS_PER_MINUTE = 60
const RITMO = { porSegundo: SENDS_PER_MINUTE / 60, rafaga: SENDS_PER_MINUTE }
/** Maximum number of hosts kept in memory. */
const MAXIMO = 10_000

/** Properties of a request on which the limits of its host depend. */
export interface HostSend {
  anfitrion: string
  /** Merchant and mode of the endpoint. */
  comercio: string
  /** True if an endpoint of the host has shown by a test that it accepts deliveries; always false in test mode. */
  comprobado: boolean
  esPrueba: boolean
}

/**
 * Limits the requests of this process to each host, over all merchants. Hosts are identified by name. If a foreign name
 * leads to the same machine, the request fails at the certificate check, before anything is sent.
 */
export class Hosts<Linea> {
  readonly #enVuelo = new Counter()
  readonly #cubos: Buckets
  /**
   * Hosts that have returned a success since this process started, in order of use; the last one used is at the end.
   */
  readonly #toman = new Set<string>()
  readonly #esperan = new Map<string, Set<Linea>>()

  /** @param reloj clock in milliseconds, of which only differences matter */
  constructor(reloj?: () => number) {
    this.#cubos = new Buckets({ maximo: MAXIMO, ...(reloj ? { reloj } : {}) })
  }

  /**
   * Returns true if the request may be sent now. If not, remembers which line of deliveries waits. {@link finish}
   * returns the line when an exchange with the same host ends.
   */
  maySend(envio: HostSend, linea: Linea): boolean {
    const { anfitrion } = envio
    const tope = this.#toma(envio) ? PER_HOST : PER_UNKNOWN_HOST
    const alcanza = this.#cuentas(envio).every((cuenta) => this.#cubos.remaining(cuenta, RITMO).quedan > 0)
    if (alcanza && this.#enVuelo.de(anfitrion) < tope) return true
    const esperan = this.#esperan.get(anfitrion) ?? new Set()
    this.#esperan.set(anfitrion, esperan.add(linea))
    return false
  }

  /** Records the start of an exchange. */
  start(envio: HostSend): void {
    for (const cuenta of this.#cuentas(envio)) this.#cubos.take(cuenta, RITMO)
    this.#enVuelo.add(envio.anfitrion)
  }

  /**
   * Records the end of an exchange.
   * @param bueno true if the receiver accepted the delivery
   * @returns the lines that waited for the host
   */
  finish({ anfitrion }: HostSend, bueno: boolean): Iterable<Linea> {
    this.#enVuelo.subtract(anfitrion)
    if (bueno) {
      this.#toman.delete(anfitrion)
      this.#toman.add(anfitrion)
      if (this.#toman.size > MAXIMO) this.#toman.delete(this.#toman.values().next().value!)
    }
    const esperan = this.#esperan.get(anfitrion) ?? []
    this.#esperan.delete(anfitrion)
    return esperan
  }

  /** Removes a closed line, so that it no longer waits for any host. */
  forget(linea: Linea): void {
    for (const [anfitrion, esperan] of this.#esperan)
      if (esperan.delete(linea) && esperan.size === 0) this.#esperan.delete(anfitrion)
  }

  #toma({ anfitrion, comprobado }: HostSend): boolean {
    return comprobado || this.#toman.has(anfitrion)
  }

  /**
   * Returns the token buckets that the request draws from. A request to a host that accepts deliveries draws from none,
   * unless the request is a test.
   */
  #cuentas(envio: HostSend): string[] {
    const gasta = envio.esPrueba || !this.#toma(envio)
    return gasta ? [`anfitrion ${envio.anfitrion}`, `comercio ${envio.comercio}`] : []
  }
}

/** Returns the host of an address. With http, which is allowed only on this machine, each port is a host of its own. */
const anfitrionDe = ({ protocol, hostname, host }: URL) => (protocol === 'http:' ? host : hostname)

/**
 * Returns the properties of a request for {@link Hosts}. Returns undefined if the endpoint's address is not
 * allowed; then no request is sent.
 */
export function hostSendOf(receptor: Receptor, entrega: Pick<FilaAvisoDeWebhook, 'causa'>): HostSend | undefined {
  const { comercio_id, direccion, modo, comprobado_en } = receptor
  if (!direccion) return undefined
  const comprobado = seComprueba(modo) && comprobado_en !== null
  return {
    anfitrion: anfitrionDe(direccion),
    comercio: `${comercio_id} ${modo}`,
    comprobado,
    esPrueba: entrega.causa === 'prueba',
  }
}
