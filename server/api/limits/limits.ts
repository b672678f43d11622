import type { RitmosDeComercio } from '../../generated/contract/types/index.ts'
import { type Problema, tooMany } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import type { Operation } from '../contract/contract.ts'
import type { Identities, Identity } from '../http/identity.ts'
import { Buckets, type Rate } from './buckets.ts'
import { Counter } from './count.ts'
import { ExpiringSet } from './expiringSet.ts'
import { NetworkLimit } from './networkLimit.ts'
import {
  attemptRate,
  KEYS_PER_MERCHANT,
  keyRate,
  labelRate,
  MAX_SIMULTANEOUS,
  networkRate,
  operationRate,
  type RateClass,
  SESSION_RATE,
  UNKNOWN_RATE,
} from './rates.ts'

type Nombre = 'solicitudes' | RateClass

/** Cost that one request has in one rate of a key, merchant or session. */
interface Charge {
  nombre: Nombre
  clave: string
  rate: Rate
  cost: number
  /** Owner of the rate, in Spanish: `de su llave`. */
  de: string
}

/** Caller with a credential, and the limits that apply to the caller's requests for one operation. */
interface Caller {
  /** Key under which the caller's concurrent requests are counted. */
  clave: string
  /** Maximum number of concurrent requests. */
  maxConcurrent: number
  /** Costs of a request. Costs that count against the same rate are adjacent. */
  charges: readonly Charge[]
  /** Public code of the courier; undefined if the caller is not a courier. */
  repartidor: string | undefined
}

/** Request that was admitted. */
export interface RequestAdmission {
  /** Headers that report what is left of the caller's rates. */
  readonly headers: Readonly<Record<'RateLimit' | 'RateLimit-Policy', string>>
  /** Corrects the cost in the operation's class once the length of its list is known. */
  correct(cost: number): void
  /** Ends the request, which then no longer counts as concurrent. Further calls do nothing. */
  finish(): void
}

interface LimitsOptions {
  /** Returns the number of processes that share the limits at this moment. */
  processes?: () => number
  /** Requests per second of an operator's key. */
  perOperador: number
  /** Requests per second of a network without a key. */
  perNetwork: number
  /** Returns the time in milliseconds, of which only differences count. */
  clock?: () => number
  /** Called once when a courier has used up the look-ups of guide codes without a guide. */
  onUnknown?: (repartidor: string) => void
}

/** Cost that is charged before the list in the body is read. The contract limits the list to this length. */
export const MAX_COST = 100

/** Classes of requests without a key; a network has a separate rate for each class. */
export type NetworkClass = 'operaciones' | 'paginas'

/**
 * Time after a valid key or session came from a network, in milliseconds, in which {@link Limits.ban} does not affect
 * that network.
 */
const VOUCH_TTL_MS = MINUTE_MS
/** Time for which new connections of a network are refused, in milliseconds. */
const BAN_TTL_MS = 1_000

/** Rate limits of a process; `rates.ts` has the figures. */
export class Limits {
  readonly #buckets: Readonly<Record<Nombre | 'desconocidas', Buckets>>
  readonly #networkLimits: Readonly<Record<NetworkClass | 'intentos' | 'etiquetas', NetworkLimit>>
  readonly #onUnknown: (repartidor: string) => void
  readonly #concurrent = new Counter()
  /** Look-ups of unknown keys and sessions in progress, by network. */
  readonly #lookUps = new Counter()
  /**
   * Requests in progress, by courier. Until a request ends, it counts against the courier's limit of unknown guides,
   * because the guide that it names may not exist.
   */
  readonly #searching = new Counter()
  readonly #vouchedNetworks: ExpiringSet
  readonly #bannedNetworks: ExpiringSet

  /** Callers by identity and operation. An identity is a new object each time that a credential is read. */
  readonly #callers = new WeakMap<Identity, Map<Operation, Caller>>()
  /**
   * Header texts of the rate-limit policies, by their rate. A text is valid while the number of processes stays the
   * same.
   */
  readonly #policies = new WeakMap<Rate, { processes: number; texto: string }>()

  readonly #operationRate: Rate
  readonly #networkRate: Rate
  readonly #etiquetaRate: Rate

  constructor({ processes = () => 1, perOperador, perNetwork, clock, onUnknown = () => {} }: LimitsOptions) {
    this.#onUnknown = onUnknown
    this.#operationRate = operationRate(perOperador)
    this.#networkRate = networkRate(perNetwork)
    this.#etiquetaRate = labelRate(perNetwork)
    this.#vouchedNetworks = new ExpiringSet(VOUCH_TTL_MS, clock)
    this.#bannedNetworks = new ExpiringSet(BAN_TTL_MS, clock)
    const options = { processes, ...(clock ? { clock } : {}) }
    const buckets = () => new Buckets(options)
    this.#buckets = {
      solicitudes: buckets(),
      guias: buckets(),
      documentos: buckets(),
      recuperaciones: buckets(),
      cambios: buckets(),
      desconocidas: buckets(),
    }
    // Networks and keys have separate buckets, so that clients without a key cannot evict the buckets of merchants.
    this.#networkLimits = {
      operaciones: new NetworkLimit(this.#networkRate, options),
      paginas: new NetworkLimit(this.#networkRate, options),
      intentos: new NetworkLimit(attemptRate(perNetwork), options),
      etiquetas: new NetworkLimit(this.#etiquetaRate, options),
    }
  }

  /**
   * Counts a request with a credential against all of its rates. Counts against none if one of them is used up.
   * @throws Problema 429
   */
  admit(operation: Operation, identity: Identity): RequestAdmission {
    const caller = this.#callerOf(operation, identity)
    const { charges, repartidor } = caller
    const inProgress = this.#concurrent.de(caller.clave)
    if (inProgress >= caller.maxConcurrent) throw this.#refusal(caller, 1, `${inProgress} a la vez es el máximo`)
    // The result of a request in progress is not known yet. Each of the courier's requests in progress therefore counts
    // as a look-up of an unknown guide.
    if (repartidor !== undefined) this.#requireKnown(repartidor, this.#searching.de(repartidor), caller)
    for (let i = 0; i < charges.length; i++) {
      const charge = charges[i]!
      const waitSeconds = this.#bucketsOf(charge).take(charge.clave, charge.rate, charge.cost)
      if (waitSeconds === 0) continue
      for (const takenCharge of charges.slice(0, i))
        this.#bucketsOf(takenCharge).giveBack(takenCharge.clave, takenCharge.cost)
      throw this.#refusal(caller, waitSeconds, explainCharge(charge))
    }
    this.#concurrent.add(caller.clave)
    if (repartidor !== undefined) this.#searching.add(repartidor)
    return new Limits.#AdmittedRequest(this, caller)
  }

  /**
   * Admitted request with a credential. A class, because every request creates an instance; closures would cost five
   * objects.
   */
  static readonly #AdmittedRequest = class implements RequestAdmission {
    readonly #limits: Limits
    readonly #caller: Caller
    #isOpen = true

    constructor(limits: Limits, caller: Caller) {
      this.#limits = limits
      this.#caller = caller
    }

    get headers() {
      return this.#limits.#headers(this.#caller)
    }

    correct(cost: number) {
      for (const charge of this.#caller.charges) {
        if (charge.nombre !== 'solicitudes') this.#limits.#bucketsOf(charge).giveBack(charge.clave, charge.cost - cost)
      }
    }

    finish() {
      if (!this.#isOpen) return
      this.#isOpen = false
      const { clave, repartidor } = this.#caller
      this.#limits.#concurrent.subtract(clave)
      if (repartidor !== undefined) this.#limits.#searching.subtract(repartidor)
    }
  }

  /**
   * Admits a request without a credential if its network has few enough requests in progress. `chargeNetwork` charged the
   * rate when the request arrived.
   * @throws Problema 429
   */
  admitNetwork(network: string): RequestAdmission {
    const inProgress = this.#concurrent.de(network)
    if (inProgress >= MAX_SIMULTANEOUS)
      throw tooMany(`${inProgress} a la vez es el máximo`, 1, this.networkHeaders(network, 'operaciones'))
    const limits = this
    return {
      get headers() {
        return limits.networkHeaders(network, 'operaciones')
      },
      correct() {},
      finish: this.#begin(network),
    }
  }

  /**
   * Counts a request as in progress.
   * @returns function that ends the request; only its first call counts
   */
  #begin(key: string): () => void {
    this.#concurrent.add(key)
    let abierta = true
    return () => {
      if (!abierta) return
      abierta = false
      this.#concurrent.subtract(key)
    }
  }

  /**
   * Takes one token of a network. Cheap enough to run before any other code looks at the request.
   * @returns seconds to wait if nothing was taken; 0 if the token was taken
   */
  chargeNetwork(network: string, networkClass: NetworkClass): number {
    return this.#networkLimits[networkClass].take(network)
  }

  /** Spanish reason why a network has to wait. */
  get networkReason(): string {
    return explainCharge({ nombre: 'solicitudes', rate: this.#networkRate, de: 'de su red' })
  }

  /** Returns the headers that report what is left of a network's rate. */
  networkHeaders(network: string, networkClass: NetworkClass): RequestAdmission['headers'] {
    const limit = this.#networkLimits[networkClass]
    return rateHeaders('solicitudes', limit.remaining(network), limit.parte)
  }

  /** Records that a valid key or session came from a network. */
  vouch(network: string): void {
    this.#vouchedNetworks.add(network)
  }

  /**
   * Refuses new connections of a network for a second, unless a valid key or session came from that network in the last
   * minute.
   */
  ban(network: string): void {
    if (!this.#vouchedNetworks.has(network)) this.#bannedNetworks.add(network)
  }

  /** Reports whether new connections of a network are refused now. */
  isBanned(network: string): boolean {
    return this.#bannedNetworks.has(network)
  }

  /** Reports whether a network may still try keys and sessions that this process does not know. */
  attemptsLeft(network: string): boolean {
    return this.#networkLimits.intentos.remaining(network).remaining > 0
  }

  /**
   * Counts an invalid key or session against the network that presented it. Valid credentials from the same network
   * stay usable, so that strangers cannot lock out other clients.
   * @throws Problema 429 if the network presented too many
   */
  countFailure(network: string): void {
    this.#fail(network, 1)
  }

  /**
   * Looks up a key or session that this process does not know. A network that presented too many invalid credentials
   * gets a single look-up at a time, and its other look-ups are refused. A client with a valid credential succeeds by
   * retrying.
   * @throws Problema 429
   */
  async lookUp<T>(network: string, read: () => Promise<T>): Promise<T> {
    if (this.#lookUps.de(network) > 0) this.#fail(network, 0)
    this.#lookUps.add(network)
    try {
      return await read()
    } finally {
      this.#lookUps.subtract(network)
    }
  }

  #fail(network: string, count: number): void {
    const { intentos } = this.#networkLimits
    const waitSeconds = intentos.take(network, count)
    if (waitSeconds === 0) return
    const headers = rateHeaders('solicitudes', intentos.remaining(network), intentos.parte)
    throw tooMany('Llegaron demasiadas llaves que no valen desde su red', waitSeconds, headers)
  }

  /**
   * Counts the opening or drawing of labels against the rate of the network that opened the link.
   * @throws Problema 429
   */
  chargeLabels(network: string, count: number): void {
    const { etiquetas } = this.#networkLimits
    const waitSeconds = etiquetas.take(network, count)
    if (waitSeconds === 0) return
    const reason = explainCharge({ nombre: 'documentos', rate: this.#etiquetaRate, de: 'de su red' })
    const headers = rateHeaders('documentos', etiquetas.remaining(network), etiquetas.parte)
    throw tooMany(reason, waitSeconds, headers)
  }

  /** Counts codes without a guide that a courier looked up, over all sessions of the courier. */
  countUnknown(repartidor: string, count: number): void {
    if (count === 0) return
    const buckets = this.#buckets.desconocidas
    const isDenied = buckets.take(repartidor, UNKNOWN_RATE, count) > 0
    if (!isDenied && buckets.remaining(repartidor, UNKNOWN_RATE).remaining === 0) this.#onUnknown(repartidor)
  }

  /**
   * Refuses a courier who looked up too many codes without a guide.
   * @throws Problema 429
   */
  requireKnown(repartidor: string): void {
    this.#requireKnown(repartidor, 0)
  }

  #requireKnown(repartidor: string, uncounted: number, caller?: Caller): void {
    const buckets = this.#buckets.desconocidas
    const headers = caller && this.#headers(caller)
    const waitSeconds = buckets.take(repartidor, UNKNOWN_RATE, 0)
    if (waitSeconds > 0) throw tooMany('Buscó demasiadas guías que no existen', waitSeconds, headers)
    if (buckets.remaining(repartidor, UNKNOWN_RATE).remaining <= uncounted)
      throw tooMany(`${uncounted} a la vez es el máximo`, 1, headers)
  }

  /** Returns the caller of an operation, created once for each identity and operation. */
  #callerOf(operation: Operation, identity: Identity): Caller {
    let identityCallers = this.#callers.get(identity)
    if (!identityCallers) {
      identityCallers = new Map()
      this.#callers.set(identity, identityCallers)
    }
    let caller = identityCallers.get(operation)
    if (!caller) {
      caller = this.#createCaller(operation, identity)
      identityCallers.set(operation, caller)
    }
    return caller
  }

  #createCaller(operation: Operation, identity: Identity): Caller {
    if ('comercio' in identity) return comercioCaller(operation, identity)
    if ('operador' in identity) return singleRateCaller(`llave ${identity.llave}`, this.#operationRate, 'de su llave')
    const repartidor = 'repartidor' in identity ? identity.repartidor : undefined
    return singleRateCaller(sesionKey(identity.sesion), SESSION_RATE, 'de su sesión', repartidor)
  }

  #bucketsOf({ nombre }: Charge): Buckets {
    return this.#buckets[nombre]
  }

  #refusal(caller: Caller, seconds: number, reason: string): Problema {
    return tooMany(reason, seconds, this.#headers(caller))
  }

  /**
   * Returns the headers of all rates. A rate may have two token buckets, of the key and of its merchant. The headers
   * then report the bucket with fewer tokens left.
   */
  #headers({ charges }: Caller): RequestAdmission['headers'] {
    let estados = ''
    let policies = ''
    for (let i = 0; i < charges.length; ) {
      let charge = charges[i]!
      const { nombre } = charge
      let remainder = this.#remainder(charge)
      for (i++; i < charges.length && charges[i]!.nombre === nombre; i++) {
        const other = this.#remainder(charges[i]!)
        if (other.remaining >= remainder.remaining) continue
        charge = charges[i]!
        remainder = other
      }
      const coma = estados === '' ? '' : ', '
      estados += coma + rateLimitHeader(nombre, remainder)
      policies += coma + this.#policy(charge)
    }
    return { RateLimit: estados, 'RateLimit-Policy': policies }
  }

  #remainder(charge: Charge): Remainder {
    return this.#bucketsOf(charge).remaining(charge.clave, charge.rate)
  }

  #policy(charge: Charge): string {
    const { nombre, rate } = charge
    const buckets = this.#bucketsOf(charge)
    const { processes } = buckets
    const knownPolicy = this.#policies.get(rate)
    if (knownPolicy?.processes === processes) return knownPolicy.texto
    const texto = policyHeader(nombre, buckets.parte(rate))
    this.#policies.set(rate, { processes, texto })
    return texto
  }
}

type Remainder = ReturnType<Buckets['remaining']>

// Headers of the IETF draft draft-ietf-httpapi-ratelimit-headers.

const rateLimitHeader = (name: Nombre, { remaining, fullIn }: Remainder) => `"${name}";r=${remaining};t=${fullIn}`

const policyHeader = (name: Nombre, { perSecond, burst }: Rate) =>
  `"${name}";q=${Math.floor(burst)};w=${Math.ceil(burst / perSecond)}`

const rateHeaders = (name: Nombre, remainder: Remainder, part: Rate): RequestAdmission['headers'] => ({
  RateLimit: rateLimitHeader(name, remainder),
  'RateLimit-Policy': policyHeader(name, part),
})

function comercioCaller({ rate: rateClass, rateBy }: Operation, identity: Identities['llaveDeComercio']): Caller {
  const { llave, comercioId, modo, ritmos } = identity
  const cost = rateBy === undefined ? 1 : MAX_COST
  const comercioRates = ratesOf(ritmos)
  const charge = (nombre: Nombre, cost: number): Charge[] => [
    { nombre, cost, clave: `llave ${llave}`, rate: comercioRates.llave[nombre], de: 'de su llave' },
    { nombre, cost, clave: `comercio ${comercioId} ${modo}`, rate: comercioRates.comercio[nombre], de: 'de su cuenta' },
  ]
  return {
    clave: `comercio ${comercioId} ${modo}`,
    maxConcurrent: MAX_SIMULTANEOUS + ritmos.solicitudes,
    charges: rateClass ? [...charge('solicitudes', 1), ...charge(rateClass, cost)] : charge('solicitudes', 1),
    repartidor: undefined,
  }
}

const sesionKey = (sesion: Uint8Array) => `sesion ${Buffer.from(sesion).toString('base64')}`

const singleRateCaller = (clave: string, rate: Rate, de: string, repartidor?: string): Caller => ({
  clave,
  maxConcurrent: MAX_SIMULTANEOUS,
  charges: [{ nombre: 'solicitudes', clave, rate, cost: 1, de }],
  repartidor,
})

type ComercioRates = Readonly<Record<'llave' | 'comercio', Readonly<Record<Nombre, Rate>>>>

/**
 * Computed rates, by the object with the merchant's configured rates. Each read of the merchant creates a new object.
 */
const computedRates = new WeakMap<RitmosDeComercio, ComercioRates>()

function ratesOf(ritmos: RitmosDeComercio): ComercioRates {
  const cachedRates = computedRates.get(ritmos)
  if (cachedRates) return cachedRates
  const llave = keyRate(ritmos)
  const todas = ({ perSecond, burst }: Rate): Rate => ({
    perSecond: KEYS_PER_MERCHANT * perSecond,
    burst: KEYS_PER_MERCHANT * burst,
  })
  const comercio = {
    solicitudes: todas(llave.solicitudes),
    guias: todas(llave.guias),
    documentos: llave.documentos,
    recuperaciones: llave.recuperaciones,
    cambios: llave.cambios,
  }
  const nuevo = { llave, comercio }
  computedRates.set(ritmos, nuevo)
  return nuevo
}

const RATE_NAMES: Readonly<Record<Nombre, string>> = {
  solicitudes: 'solicitudes',
  guias: 'guías',
  documentos: 'etiquetas',
  recuperaciones: 'recuperaciones',
  cambios: 'cambios',
}

function explainCharge({ nombre, rate: { perSecond, burst }, de }: Pick<Charge, 'nombre' | 'rate' | 'de'>): string {
  const rate = perSecond >= 1 ? `${perSecond} por segundo` : `${Math.round(perSecond * 60)} por minuto`
  return `Se agotó el ritmo de ${RATE_NAMES[nombre]} ${de} (${rate}, ${burst} seguidas)`
}
