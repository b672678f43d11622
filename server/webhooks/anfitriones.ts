import { Conteo } from '../limites/conteo.ts'
import { Cubos } from '../limites/cubos.ts'
import type { FilaEntregaDeWebhook } from './entrega.ts'
import type { Receptor } from './receptor.ts'
import { seComprueba } from './webhook.ts'

/**
 * Exchanges of one host under way at a time, of all merchants: a quarter of a process's (`EN_VUELO_MAXIMO`). Whoever answers
 * quickly never comes near it, however many merchants he serves; where a platform hangs, the others have the rest.
 */
export const POR_ANFITRION = 128
/** The same of a host that hasn't taken anything yet: enough to see whether it does. */
export const POR_DESCONOCIDO = 8
/**
 * Requests a minute, all at once if need be, to a host that hasn't taken anything yet, and tests to any: registering costs
 * nothing, and whoever registers a thousand endpoints at somebody else's server has it sent no more than this. One merchant
 * has no more of them than one host, in one mode: a wildcard gives a server as many names as he likes.
 */
export const POR_MINUTO = 60
const RITMO = { porSegundo: POR_MINUTO / 60, rafaga: POR_MINUTO }
/** Hosts that are remembered at most. */
const MAXIMO = 10_000

/** What is about to be sent, as far as its host is concerned. */
export interface Envio {
  anfitrion: string
  /** Whose endpoint it is, and of which mode. */
  comercio: string
  /** Whether an endpoint of it has shown that it takes what is sent. */
  comprobado: boolean
  esPrueba: boolean
}

/**
 * How much one host is sent by this process, whoever asked for it. Hosts are told apart by their names: names of others that
 * lead to the same machine end in its certificate, before anything is sent.
 */
export class Anfitriones<Linea> {
  readonly #enVuelo = new Conteo()
  readonly #cubos: Cubos
  /** Hosts that have answered with success since this process began, the one used last at the end. */
  readonly #toman = new Set<string>()
  readonly #esperan = new Map<string, Set<Linea>>()

  /** @param reloj in milliseconds, of which only differences count */
  constructor(reloj?: () => number) {
    this.#cubos = new Cubos({ maximo: MAXIMO, ...(reloj ? { reloj } : {}) })
  }

  /** Whether it may be sent now; if not, its line is given back when something of that host ends. */
  puede(envio: Envio, linea: Linea): boolean {
    const { anfitrion } = envio
    const tope = this.#toma(envio) ? POR_ANFITRION : POR_DESCONOCIDO
    const alcanza = this.#cuentas(envio).every((cuenta) => this.#cubos.quedan(cuenta, RITMO).quedan > 0)
    if (alcanza && this.#enVuelo.de(anfitrion) < tope) return true
    const esperan = this.#esperan.get(anfitrion) ?? new Set()
    this.#esperan.set(anfitrion, esperan.add(linea))
    return false
  }

  empezar(envio: Envio): void {
    for (const cuenta of this.#cuentas(envio)) this.#cubos.tomar(cuenta, RITMO)
    this.#enVuelo.sumar(envio.anfitrion)
  }

  /**
   * @param bueno whether it was taken
   * @returns the lines that waited for it
   */
  terminar({ anfitrion }: Envio, bueno: boolean): Iterable<Linea> {
    this.#enVuelo.restar(anfitrion)
    if (bueno) {
      this.#toman.delete(anfitrion)
      this.#toman.add(anfitrion)
      if (this.#toman.size > MAXIMO) this.#toman.delete(this.#toman.values().next().value!)
    }
    const esperan = this.#esperan.get(anfitrion) ?? []
    this.#esperan.delete(anfitrion)
    return esperan
  }

  /** A line that is gone waits for nothing. */
  olvidar(linea: Linea): void {
    for (const [anfitrion, esperan] of this.#esperan)
      if (esperan.delete(linea) && esperan.size === 0) this.#esperan.delete(anfitrion)
  }

  #toma({ anfitrion, comprobado }: Envio): boolean {
    return comprobado || this.#toman.has(anfitrion)
  }

  /** The accounts that it is taken from. */
  #cuentas(envio: Envio): string[] {
    const gasta = envio.esPrueba || !this.#toma(envio)
    return gasta ? [`anfitrion ${envio.anfitrion}`, `comercio ${envio.comercio}`] : []
  }
}

/** The host of an address; of this machine's own (http is for loopback alone), each port is one. */
const anfitrionDe = ({ protocol, hostname, host }: URL) => (protocol === 'http:' ? host : hostname)

/** Undefined: it isn't sent at all, for its address isn't one. */
export function envioDe(receptor: Receptor, entrega: Pick<FilaEntregaDeWebhook, 'causa'>): Envio | undefined {
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
