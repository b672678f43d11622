import type { RitmosDeComercio } from '../../generado/contrato/tipos/index.ts'
import { type Problema, tooMany } from '../../platform/errors.ts'
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
interface Gasto {
  nombre: Nombre
  clave: string
  ritmo: Rate
  costo: number
  /** Owner of the rate, in Spanish: `de su llave`. */
  de: string
}

/** Caller with a credential, and the limits that apply to the caller's requests for one operation. */
interface Quien {
  /** Key under which the caller's concurrent requests are counted. */
  clave: string
  /** Maximum number of concurrent requests. */
  simultaneas: number
  /** Costs of a request. Costs that count against the same rate are adjacent. */
  gastos: readonly Gasto[]
  /** Public code of the courier; undefined if the caller is not a courier. */
  repartidor: string | undefined
}

/** Request that was admitted. */
export interface RequestAdmission {
  /** Headers that report what is left of the caller's rates. */
  readonly cabeceras: Readonly<Record<'RateLimit' | 'RateLimit-Policy', string>>
  /** Corrects the cost in the operation's class once the length of its list is known. */
  corregir(costo: number): void
  /** Ends the request, which then no longer counts as concurrent. Further calls do nothing. */
  terminar(): void
}

interface OpcionesDeLimites {
  /** Returns the number of processes that share the limits at this moment. */
  procesos?: () => number
  /** Requests per second of an operator's key. */
  porOperador: number
  /** Requests per second of a network without a key. */
  porRed: number
  /** Returns the time in milliseconds, of which only differences count. */
  reloj?: () => number
  /** Called once when a courier has used up the look-ups of guide codes without a guide. */
  alDesconocer?: (repartidor: string) => void
}

/** Cost that is charged before the list in the body is read. The contract limits the list to this length. */
export const MAX_COST = 100

/** Classes of requests without a key; a network has a separate rate for each class. */
export type NetworkClass = 'operaciones' | 'paginas'

/**
 * Time after a valid key or session came from a network, in milliseconds, in which {@link Limits.ban} does not affect
 * that network.
 */
const VIGENCIA_DE_AVAL = 60_000
/** Time for which new connections of a network are refused, in milliseconds. */
const VIGENCIA_DE_VETO = 1_000

/** Rate limits of a process; `rates.ts` has the figures. */
export class Limits {
  readonly #cubos: Readonly<Record<Nombre | 'desconocidas', Buckets>>
  readonly #porRed: Readonly<Record<NetworkClass | 'intentos' | 'etiquetas', NetworkLimit>>
  readonly #alDesconocer: (repartidor: string) => void
  readonly #simultaneas = new Counter()
  /** Look-ups of unknown keys and sessions in progress, by network. */
  readonly #averiguan = new Counter()
  /**
   * Requests in progress, by courier. Until a request ends, it counts against the courier's limit of unknown guides,
   * because the guide that it names may not exist.
   */
  readonly #buscan = new Counter()
  readonly #avaladas: ExpiringSet
  readonly #vetadas: ExpiringSet

  /** Callers by identity and operation. An identity is a new object each time that a credential is read. */
  readonly #quienes = new WeakMap<Identity, Map<Operation, Quien>>()
  /**
   * Header texts of the rate-limit policies, by their rate. A text is valid while the number of processes stays the
   * same.
   */
  readonly #politicas = new WeakMap<Rate, { procesos: number; texto: string }>()

  readonly #deOperacion: Rate
  readonly #deRed: Rate
  readonly #deEtiquetas: Rate

  constructor({ procesos = () => 1, porOperador, porRed, reloj, alDesconocer = () => {} }: OpcionesDeLimites) {
    this.#alDesconocer = alDesconocer
    this.#deOperacion = operationRate(porOperador)
    this.#deRed = networkRate(porRed)
    this.#deEtiquetas = labelRate(porRed)
    this.#avaladas = new ExpiringSet(VIGENCIA_DE_AVAL, reloj)
    this.#vetadas = new ExpiringSet(VIGENCIA_DE_VETO, reloj)
    const opciones = { procesos, ...(reloj ? { reloj } : {}) }
    const cubos = () => new Buckets(opciones)
    this.#cubos = {
      solicitudes: cubos(),
      guias: cubos(),
      documentos: cubos(),
      recuperaciones: cubos(),
      cambios: cubos(),
      desconocidas: cubos(),
    }
    // Networks and keys have separate buckets, so that clients without a key cannot evict the buckets of merchants.
    this.#porRed = {
      operaciones: new NetworkLimit(this.#deRed, opciones),
      paginas: new NetworkLimit(this.#deRed, opciones),
      intentos: new NetworkLimit(attemptRate(porRed), opciones),
      etiquetas: new NetworkLimit(this.#deEtiquetas, opciones),
    }
  }

  /**
   * Counts a request with a credential against all of its rates. Counts against none if one of them is used up.
   * @throws Problema 429
   */
  admit(operacion: Operation, identidad: Identity): RequestAdmission {
    const quien = this.#quienEs(operacion, identidad)
    const { gastos, repartidor } = quien
    const enCurso = this.#simultaneas.de(quien.clave)
    if (enCurso >= quien.simultaneas) throw this.#rechazo(quien, 1, `${enCurso} a la vez es el máximo`)
    // The result of a request in progress is not known yet. Each of the courier's requests in progress therefore counts
    // as a look-up of an unknown guide.
    if (repartidor !== undefined) this.#exigirConocidas(repartidor, this.#buscan.de(repartidor), quien)
    for (let i = 0; i < gastos.length; i++) {
      const gasto = gastos[i]!
      const espera = this.#de(gasto).take(gasto.clave, gasto.ritmo, gasto.costo)
      if (espera === 0) continue
      for (const tomado of gastos.slice(0, i)) this.#de(tomado).giveBack(tomado.clave, tomado.costo)
      throw this.#rechazo(quien, espera, explicar(gasto))
    }
    this.#simultaneas.add(quien.clave)
    if (repartidor !== undefined) this.#buscan.add(repartidor)
    return new Limits.#Admitida(this, quien)
  }

  /**
   * Admitted request with a credential. A class, because every request creates an instance; closures would cost five
   * objects.
   */
  static readonly #Admitida = class implements RequestAdmission {
    readonly #limites: Limits
    readonly #quien: Quien
    #abierta = true

    constructor(limites: Limits, quien: Quien) {
      this.#limites = limites
      this.#quien = quien
    }

    get cabeceras() {
      return this.#limites.#cabeceras(this.#quien)
    }

    corregir(costo: number) {
      for (const gasto of this.#quien.gastos) {
        if (gasto.nombre !== 'solicitudes') this.#limites.#de(gasto).giveBack(gasto.clave, gasto.costo - costo)
      }
    }

    terminar() {
      if (!this.#abierta) return
      this.#abierta = false
      const { clave, repartidor } = this.#quien
      this.#limites.#simultaneas.subtract(clave)
      if (repartidor !== undefined) this.#limites.#buscan.subtract(repartidor)
    }
  }

  /**
   * Admits a request without a credential if its network has few enough requests in progress. `chargeNetwork` charged the
   * rate when the request arrived.
   * @throws Problema 429
   */
  admitNetwork(red: string): RequestAdmission {
    const enCurso = this.#simultaneas.de(red)
    if (enCurso >= MAX_SIMULTANEOUS)
      throw tooMany(`${enCurso} a la vez es el máximo`, 1, this.networkHeaders(red, 'operaciones'))
    const limites = this
    return {
      get cabeceras() {
        return limites.networkHeaders(red, 'operaciones')
      },
      corregir() {},
      terminar: this.#empezar(red),
    }
  }

  /**
   * Counts a request as in progress.
   * @returns function that ends the request; only its first call counts
   */
  #empezar(clave: string): () => void {
    this.#simultaneas.add(clave)
    let abierta = true
    return () => {
      if (!abierta) return
      abierta = false
      this.#simultaneas.subtract(clave)
    }
  }

  /**
   * Takes one token of a network. Cheap enough to run before any other code looks at the request.
   * @returns seconds to wait if nothing was taken; 0 if the token was taken
   */
  chargeNetwork(red: string, clase: NetworkClass): number {
    return this.#porRed[clase].take(red)
  }

  /** Spanish reason why a network has to wait. */
  get networkReason(): string {
    return explicar({ nombre: 'solicitudes', ritmo: this.#deRed, de: 'de su red' })
  }

  /** Returns the headers that report what is left of a network's rate. */
  networkHeaders(red: string, clase: NetworkClass): RequestAdmission['cabeceras'] {
    const limite = this.#porRed[clase]
    return cabecerasDe('solicitudes', limite.remaining(red), limite.parte)
  }

  /** Records that a valid key or session came from a network. */
  vouch(red: string): void {
    this.#avaladas.add(red)
  }

  /**
   * Refuses new connections of a network for a second, unless a valid key or session came from that network in the last
   * minute.
   */
  ban(red: string): void {
    if (!this.#avaladas.has(red)) this.#vetadas.add(red)
  }

  /** Reports whether new connections of a network are refused now. */
  isBanned(red: string): boolean {
    return this.#vetadas.has(red)
  }

  /** Reports whether a network may still try keys and sessions that this process does not know. */
  attemptsLeft(red: string): boolean {
    return this.#porRed.intentos.remaining(red).quedan > 0
  }

  /**
   * Counts an invalid key or session against the network that presented it. Valid credentials from the same network
   * stay usable, so that strangers cannot lock out other clients.
   * @throws Problema 429 if the network presented too many
   */
  countFailure(red: string): void {
    this.#fallar(red, 1)
  }

  /**
   * Looks up a key or session that this process does not know. A network that presented too many invalid credentials
   * gets a single look-up at a time, and its other look-ups are refused. A client with a valid credential succeeds by
   * retrying.
   * @throws Problema 429
   */
  async lookUp<T>(red: string, leer: () => Promise<T>): Promise<T> {
    if (this.#averiguan.de(red) > 0) this.#fallar(red, 0)
    this.#averiguan.add(red)
    try {
      return await leer()
    } finally {
      this.#averiguan.subtract(red)
    }
  }

  #fallar(red: string, cuantas: number): void {
    const { intentos } = this.#porRed
    const espera = intentos.take(red, cuantas)
    if (espera === 0) return
    const cabeceras = cabecerasDe('solicitudes', intentos.remaining(red), intentos.parte)
    throw tooMany('Llegaron demasiadas llaves que no valen desde su red', espera, cabeceras)
  }

  /**
   * Counts the opening or drawing of labels against the rate of the network that opened the link.
   * @throws Problema 429
   */
  chargeLabels(red: string, cuantas: number): void {
    const { etiquetas } = this.#porRed
    const espera = etiquetas.take(red, cuantas)
    if (espera === 0) return
    const porQue = explicar({ nombre: 'documentos', ritmo: this.#deEtiquetas, de: 'de su red' })
    const cabeceras = cabecerasDe('documentos', etiquetas.remaining(red), etiquetas.parte)
    throw tooMany(porQue, espera, cabeceras)
  }

  /** Counts codes without a guide that a courier looked up, over all sessions of the courier. */
  countUnknown(repartidor: string, cuantas: number): void {
    if (cuantas === 0) return
    const cubos = this.#cubos.desconocidas
    const negado = cubos.take(repartidor, UNKNOWN_RATE, cuantas) > 0
    if (!negado && cubos.remaining(repartidor, UNKNOWN_RATE).quedan === 0) this.#alDesconocer(repartidor)
  }

  /**
   * Refuses a courier who looked up too many codes without a guide.
   * @throws Problema 429
   */
  requireKnown(repartidor: string): void {
    this.#exigirConocidas(repartidor, 0)
  }

  #exigirConocidas(repartidor: string, sinContar: number, quien?: Quien): void {
    const cubos = this.#cubos.desconocidas
    const cabeceras = quien && this.#cabeceras(quien)
    const espera = cubos.take(repartidor, UNKNOWN_RATE, 0)
    if (espera > 0) throw tooMany('Buscó demasiadas guías que no existen', espera, cabeceras)
    if (cubos.remaining(repartidor, UNKNOWN_RATE).quedan <= sinContar)
      throw tooMany(`${sinContar} a la vez es el máximo`, 1, cabeceras)
  }

  /** Returns the caller of an operation, created once for each identity and operation. */
  #quienEs(operacion: Operation, identidad: Identity): Quien {
    let deIdentidad = this.#quienes.get(identidad)
    if (!deIdentidad) {
      deIdentidad = new Map()
      this.#quienes.set(identidad, deIdentidad)
    }
    let quien = deIdentidad.get(operacion)
    if (!quien) {
      quien = this.#hacerQuien(operacion, identidad)
      deIdentidad.set(operacion, quien)
    }
    return quien
  }

  #hacerQuien(operacion: Operation, identidad: Identity): Quien {
    if ('comercio' in identidad) return deComercio(operacion, identidad)
    if ('operador' in identidad) return solo(`llave ${identidad.llave}`, this.#deOperacion, 'de su llave')
    const repartidor = 'repartidor' in identidad ? identidad.repartidor : undefined
    return solo(claveDeSesion(identidad.sesion), SESSION_RATE, 'de su sesión', repartidor)
  }

  #de({ nombre }: Gasto): Buckets {
    return this.#cubos[nombre]
  }

  #rechazo(quien: Quien, segundos: number, porQue: string): Problema {
    return tooMany(porQue, segundos, this.#cabeceras(quien))
  }

  /**
   * Returns the headers of all rates. A rate may have two token buckets, of the key and of its merchant. The headers
   * then report the bucket with fewer tokens left.
   */
  #cabeceras({ gastos }: Quien): RequestAdmission['cabeceras'] {
    let estados = ''
    let politicas = ''
    for (let i = 0; i < gastos.length; ) {
      let gasto = gastos[i]!
      const { nombre } = gasto
      let resto = this.#resto(gasto)
      for (i++; i < gastos.length && gastos[i]!.nombre === nombre; i++) {
        const otro = this.#resto(gastos[i]!)
        if (otro.quedan >= resto.quedan) continue
        gasto = gastos[i]!
        resto = otro
      }
      const coma = estados === '' ? '' : ', '
      estados += coma + estadoDe(nombre, resto)
      politicas += coma + this.#politica(gasto)
    }
    return { RateLimit: estados, 'RateLimit-Policy': politicas }
  }

  #resto(gasto: Gasto): Resto {
    return this.#de(gasto).remaining(gasto.clave, gasto.ritmo)
  }

  #politica(gasto: Gasto): string {
    const { nombre, ritmo } = gasto
    const cubos = this.#de(gasto)
    const { procesos } = cubos
    const conocida = this.#politicas.get(ritmo)
    if (conocida?.procesos === procesos) return conocida.texto
    const texto = politicaDe(nombre, cubos.parte(ritmo))
    this.#politicas.set(ritmo, { procesos, texto })
    return texto
  }
}

type Resto = ReturnType<Buckets['remaining']>

// Headers of the IETF draft draft-ietf-httpapi-ratelimit-headers.

const estadoDe = (nombre: Nombre, { quedan, enteroEn }: Resto) => `"${nombre}";r=${quedan};t=${enteroEn}`

const politicaDe = (nombre: Nombre, { porSegundo, rafaga }: Rate) =>
  `"${nombre}";q=${Math.floor(rafaga)};w=${Math.ceil(rafaga / porSegundo)}`

const cabecerasDe = (nombre: Nombre, resto: Resto, parte: Rate): RequestAdmission['cabeceras'] => ({
  RateLimit: estadoDe(nombre, resto),
  'RateLimit-Policy': politicaDe(nombre, parte),
})

function deComercio({ ritmo: clase, ritmoPor }: Operation, identidad: Identities['llaveDeComercio']): Quien {
  const { llave, comercioId, modo, ritmos } = identidad
  const costo = ritmoPor === undefined ? 1 : MAX_COST
  const suyos = ritmosDe(ritmos)
  const gasto = (nombre: Nombre, costo: number): Gasto[] => [
    { nombre, costo, clave: `llave ${llave}`, ritmo: suyos.llave[nombre], de: 'de su llave' },
    { nombre, costo, clave: `comercio ${comercioId} ${modo}`, ritmo: suyos.comercio[nombre], de: 'de su cuenta' },
  ]
  return {
    clave: `comercio ${comercioId} ${modo}`,
    simultaneas: MAX_SIMULTANEOUS + ritmos.solicitudes,
    gastos: clase ? [...gasto('solicitudes', 1), ...gasto(clase, costo)] : gasto('solicitudes', 1),
    repartidor: undefined,
  }
}

const claveDeSesion = (sesion: Uint8Array) => `sesion ${Buffer.from(sesion).toString('base64')}`

const solo = (clave: string, ritmo: Rate, de: string, repartidor?: string): Quien => ({
  clave,
  simultaneas: MAX_SIMULTANEOUS,
  gastos: [{ nombre: 'solicitudes', clave, ritmo, costo: 1, de }],
  repartidor,
})

type DeComercio = Readonly<Record<'llave' | 'comercio', Readonly<Record<Nombre, Rate>>>>

/**
 * Computed rates, by the object with the merchant's configured rates. Each read of the merchant creates a new object.
 */
const hechos = new WeakMap<RitmosDeComercio, DeComercio>()

function ritmosDe(ritmos: RitmosDeComercio): DeComercio {
  const hecho = hechos.get(ritmos)
  if (hecho) return hecho
  const llave = keyRate(ritmos)
  const todas = ({ porSegundo, rafaga }: Rate): Rate => ({
    porSegundo: KEYS_PER_MERCHANT * porSegundo,
    rafaga: KEYS_PER_MERCHANT * rafaga,
  })
  const comercio = {
    solicitudes: todas(llave.solicitudes),
    guias: todas(llave.guias),
    documentos: llave.documentos,
    recuperaciones: llave.recuperaciones,
    cambios: llave.cambios,
  }
  const nuevo = { llave, comercio }
  hechos.set(ritmos, nuevo)
  return nuevo
}

const NOMBRES: Readonly<Record<Nombre, string>> = {
  solicitudes: 'solicitudes',
  guias: 'guías',
  documentos: 'etiquetas',
  recuperaciones: 'recuperaciones',
  cambios: 'cambios',
}

function explicar({ nombre, ritmo: { porSegundo, rafaga }, de }: Pick<Gasto, 'nombre' | 'ritmo' | 'de'>): string {
  const ritmo = porSegundo >= 1 ? `${porSegundo} por segundo` : `${Math.round(porSegundo * 60)} por minuto`
  return `Se agotó el ritmo de ${NOMBRES[nombre]} ${de} (${ritmo}, ${rafaga} seguidas)`
}
