import type { RitmosDeComercio } from '../../generado/contrato/tipos/index.ts'
import { demasiadas, type Problema } from '../../platform/errors.ts'
import type { Operacion } from '../contract/contract.ts'
import type { Identidad, Identidades } from '../http/identity.ts'
import { Cubos, type Ritmo } from './buckets.ts'
import { Conteo } from './count.ts'
import { ExpiringSet } from './expiringSet.ts'
import { LimitePorRed } from './networkLimit.ts'
import {
  type Clase,
  DE_DESCONOCIDAS,
  DE_SESION,
  deEtiquetas,
  deIntentos,
  deLlave,
  deOperacion,
  deRed,
  LLAVES,
  SIMULTANEAS,
} from './rates.ts'

type Nombre = 'solicitudes' | Clase

/** Cost of one request in one rate of a key, merchant or session. */
interface Gasto {
  nombre: Nombre
  clave: string
  ritmo: Ritmo
  costo: number
  /** Owner of the rate, in Spanish: `de su llave`. */
  de: string
}

/** Caller with a credential, as the limits see the caller for one operation. */
interface Quien {
  /** Key under which the caller's concurrent requests are counted. */
  clave: string
  /** Maximum number of concurrent requests. */
  simultaneas: number
  /** Costs of a request; costs in the same rate are adjacent. */
  gastos: readonly Gasto[]
  /** Public code of the courier; undefined if the caller is not a courier. */
  repartidor: string | undefined
}

/** Request that was admitted. */
export interface Admision {
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
export const COSTO_MAXIMO = 100

/** Classes of requests without a key; a network has a separate rate for each class. */
export type ClaseDeRed = 'operaciones' | 'paginas'

/** Time for which a valid key or session vouches for its network, in milliseconds. */
const VIGENCIA_DE_AVAL = 60_000
/** Time for which new connections of a network are refused, in milliseconds. */
const VIGENCIA_DE_VETO = 1_000

/** Rate limits of a process; `ritmos.ts` has the figures. */
export class Limites {
  readonly #cubos: Readonly<Record<Nombre | 'desconocidas', Cubos>>
  readonly #porRed: Readonly<Record<ClaseDeRed | 'intentos' | 'etiquetas', LimitePorRed>>
  readonly #alDesconocer: (repartidor: string) => void
  readonly #simultaneas = new Conteo()
  /** Look-ups of unknown keys and sessions in progress, by network. */
  readonly #averiguan = new Conteo()
  /** Requests of couriers in progress, each of which may turn out to name an unknown guide. */
  readonly #buscan = new Conteo()
  readonly #avaladas: ExpiringSet
  readonly #vetadas: ExpiringSet

  /** Callers by identity and operation. An identity is a new object each time that a credential is read. */
  readonly #quienes = new WeakMap<Identidad, Map<Operacion, Quien>>()
  /** Policies as texts, by their rate. A text is valid while the number of processes stays the same. */
  readonly #politicas = new WeakMap<Ritmo, { procesos: number; texto: string }>()

  readonly #deOperacion: Ritmo
  readonly #deRed: Ritmo
  readonly #deEtiquetas: Ritmo

  constructor({ procesos = () => 1, porOperador, porRed, reloj, alDesconocer = () => {} }: OpcionesDeLimites) {
    this.#alDesconocer = alDesconocer
    this.#deOperacion = deOperacion(porOperador)
    this.#deRed = deRed(porRed)
    this.#deEtiquetas = deEtiquetas(porRed)
    this.#avaladas = new ExpiringSet(VIGENCIA_DE_AVAL, reloj)
    this.#vetadas = new ExpiringSet(VIGENCIA_DE_VETO, reloj)
    const opciones = { procesos, ...(reloj ? { reloj } : {}) }
    const cubos = () => new Cubos(opciones)
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
      operaciones: new LimitePorRed(this.#deRed, opciones),
      paginas: new LimitePorRed(this.#deRed, opciones),
      intentos: new LimitePorRed(deIntentos(porRed), opciones),
      etiquetas: new LimitePorRed(this.#deEtiquetas, opciones),
    }
  }

  /**
   * Charges a request with a credential to all of its rates, or to none.
   * @throws Problema 429
   */
  admitir(operacion: Operacion, identidad: Identidad): Admision {
    const quien = this.#quienEs(operacion, identidad)
    const { gastos, repartidor } = quien
    const enCurso = this.#simultaneas.de(quien.clave)
    if (enCurso >= quien.simultaneas) throw this.#rechazo(quien, 1, `${enCurso} a la vez es el máximo`)
    // Each request in progress counts as a look-up of an unknown guide, because its result is not counted yet.
    if (repartidor !== undefined) this.#exigirConocidas(repartidor, this.#buscan.de(repartidor), quien)
    for (let i = 0; i < gastos.length; i++) {
      const gasto = gastos[i]!
      const espera = this.#de(gasto).tomar(gasto.clave, gasto.ritmo, gasto.costo)
      if (espera === 0) continue
      for (const tomado of gastos.slice(0, i)) this.#de(tomado).devolver(tomado.clave, tomado.costo)
      throw this.#rechazo(quien, espera, explicar(gasto))
    }
    this.#simultaneas.sumar(quien.clave)
    if (repartidor !== undefined) this.#buscan.sumar(repartidor)
    return new Limites.#Admitida(this, quien)
  }

  /**
   * Admitted request with a credential. A class, because every request creates an instance; closures would cost five
   * objects.
   */
  static readonly #Admitida = class implements Admision {
    readonly #limites: Limites
    readonly #quien: Quien
    #abierta = true

    constructor(limites: Limites, quien: Quien) {
      this.#limites = limites
      this.#quien = quien
    }

    get cabeceras() {
      return this.#limites.#cabeceras(this.#quien)
    }

    corregir(costo: number) {
      for (const gasto of this.#quien.gastos) {
        if (gasto.nombre !== 'solicitudes') this.#limites.#de(gasto).devolver(gasto.clave, gasto.costo - costo)
      }
    }

    terminar() {
      if (!this.#abierta) return
      this.#abierta = false
      const { clave, repartidor } = this.#quien
      this.#limites.#simultaneas.restar(clave)
      if (repartidor !== undefined) this.#limites.#buscan.restar(repartidor)
    }
  }

  /**
   * Admits a request without a credential if its network has few enough requests in progress. `gastarDeRed` charged the
   * rate when the request arrived.
   * @throws Problema 429
   */
  admitirDeRed(red: string): Admision {
    const enCurso = this.#simultaneas.de(red)
    if (enCurso >= SIMULTANEAS)
      throw demasiadas(`${enCurso} a la vez es el máximo`, 1, this.cabecerasDeRed(red, 'operaciones'))
    const limites = this
    return {
      get cabeceras() {
        return limites.cabecerasDeRed(red, 'operaciones')
      },
      corregir() {},
      terminar: this.#empezar(red),
    }
  }

  /**
   * Counts a request as in progress.
   * @returns function that ends the request; only its first call counts
   */
  #empezar(clave: string, repartidor?: string): () => void {
    this.#simultaneas.sumar(clave)
    if (repartidor !== undefined) this.#buscan.sumar(repartidor)
    let abierta = true
    return () => {
      if (!abierta) return
      abierta = false
      this.#simultaneas.restar(clave)
      if (repartidor !== undefined) this.#buscan.restar(repartidor)
    }
  }

  /**
   * Takes one token of a network. Cheap enough to run before any other code looks at the request.
   * @returns seconds to wait if nothing was taken; 0 if the token was taken
   */
  gastarDeRed(red: string, clase: ClaseDeRed): number {
    return this.#porRed[clase].tomar(red)
  }

  /** Spanish reason why a network has to wait. */
  get motivoDeRed(): string {
    return explicar({ nombre: 'solicitudes', ritmo: this.#deRed, de: 'de su red' })
  }

  /** Returns the headers that report what is left of a network's rate. */
  cabecerasDeRed(red: string, clase: ClaseDeRed): Admision['cabeceras'] {
    const limite = this.#porRed[clase]
    return cabecerasDe('solicitudes', limite.quedan(red), limite.parte)
  }

  /** Records that a valid key or session came from a network. */
  avalar(red: string): void {
    this.#avaladas.add(red)
  }

  /**
   * Refuses new connections of a network for a second, unless a valid key or session came from that network in the last
   * minute.
   */
  vetar(red: string): void {
    if (!this.#avaladas.has(red)) this.#vetadas.add(red)
  }

  /** Reports whether new connections of a network are refused now. */
  vetada(red: string): boolean {
    return this.#vetadas.has(red)
  }

  /** Reports whether a network may still try keys and sessions that this process does not know. */
  quedanIntentos(red: string): boolean {
    return this.#porRed.intentos.quedan(red).quedan > 0
  }

  /**
   * Counts an invalid key or session against the network that presented it. Valid credentials from the same network
   * stay usable, so that strangers cannot lock out other clients.
   * @throws Problema 429 if the network presented too many
   */
  contarFallo(red: string): void {
    this.#fallar(red, 1)
  }

  /**
   * Looks up a key or session that this process does not know. A network that presented too many invalid credentials
   * gets a single look-up at a time, and its other look-ups are refused. A client with a valid credential succeeds by
   * retrying.
   * @throws Problema 429
   */
  async averiguar<T>(red: string, leer: () => Promise<T>): Promise<T> {
    if (this.#averiguan.de(red) > 0) this.#fallar(red, 0)
    this.#averiguan.sumar(red)
    try {
      return await leer()
    } finally {
      this.#averiguan.restar(red)
    }
  }

  #fallar(red: string, cuantas: number): void {
    const { intentos } = this.#porRed
    const espera = intentos.tomar(red, cuantas)
    if (espera === 0) return
    const cabeceras = cabecerasDe('solicitudes', intentos.quedan(red), intentos.parte)
    throw demasiadas('Llegaron demasiadas llaves que no valen desde su red', espera, cabeceras)
  }

  /**
   * Charges the opening or drawing of labels to the network that opened the link.
   * @throws Problema 429
   */
  gastarEtiquetas(red: string, cuantas: number): void {
    const { etiquetas } = this.#porRed
    const espera = etiquetas.tomar(red, cuantas)
    if (espera === 0) return
    const porQue = explicar({ nombre: 'documentos', ritmo: this.#deEtiquetas, de: 'de su red' })
    const cabeceras = cabecerasDe('documentos', etiquetas.quedan(red), etiquetas.parte)
    throw demasiadas(porQue, espera, cabeceras)
  }

  /** Counts codes without a guide that a courier looked up, over all sessions of the courier. */
  contarDesconocidas(repartidor: string, cuantas: number): void {
    if (cuantas === 0) return
    const cubos = this.#cubos.desconocidas
    const negado = cubos.tomar(repartidor, DE_DESCONOCIDAS, cuantas) > 0
    if (!negado && cubos.quedan(repartidor, DE_DESCONOCIDAS).quedan === 0) this.#alDesconocer(repartidor)
  }

  /**
   * Refuses a courier who looked up too many codes without a guide.
   * @throws Problema 429
   */
  exigirConocidas(repartidor: string): void {
    this.#exigirConocidas(repartidor, 0)
  }

  #exigirConocidas(repartidor: string, sinContar: number, quien?: Quien): void {
    const cubos = this.#cubos.desconocidas
    const cabeceras = quien && this.#cabeceras(quien)
    const espera = cubos.tomar(repartidor, DE_DESCONOCIDAS, 0)
    if (espera > 0) throw demasiadas('Buscó demasiadas guías que no existen', espera, cabeceras)
    if (cubos.quedan(repartidor, DE_DESCONOCIDAS).quedan <= sinContar)
      throw demasiadas(`${sinContar} a la vez es el máximo`, 1, cabeceras)
  }

  /** Returns the caller of an operation, created once for each identity and operation. */
  #quienEs(operacion: Operacion, identidad: Identidad): Quien {
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

  #hacerQuien(operacion: Operacion, identidad: Identidad): Quien {
    if ('comercio' in identidad) return deComercio(operacion, identidad)
    if ('operador' in identidad) return solo(`llave ${identidad.llave}`, this.#deOperacion, 'de su llave')
    return solo(claveDeSesion(identidad.sesion), DE_SESION, 'de su sesión', identidad.repartidor)
  }

  #de({ nombre }: Gasto): Cubos {
    return this.#cubos[nombre]
  }

  #rechazo(quien: Quien, segundos: number, porQue: string): Problema {
    return demasiadas(porQue, segundos, this.#cabeceras(quien))
  }

  /**
   * Returns the headers of all rates. A rate is reported for the account with fewer tokens left: the key or its
   * merchant.
   */
  #cabeceras({ gastos }: Quien): Admision['cabeceras'] {
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
    return this.#de(gasto).quedan(gasto.clave, gasto.ritmo)
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

type Resto = ReturnType<Cubos['quedan']>

// Headers of the IETF draft draft-ietf-httpapi-ratelimit-headers.

const estadoDe = (nombre: Nombre, { quedan, enteroEn }: Resto) => `"${nombre}";r=${quedan};t=${enteroEn}`

const politicaDe = (nombre: Nombre, { porSegundo, rafaga }: Ritmo) =>
  `"${nombre}";q=${Math.floor(rafaga)};w=${Math.ceil(rafaga / porSegundo)}`

const cabecerasDe = (nombre: Nombre, resto: Resto, parte: Ritmo): Admision['cabeceras'] => ({
  RateLimit: estadoDe(nombre, resto),
  'RateLimit-Policy': politicaDe(nombre, parte),
})

function deComercio({ ritmo: clase, ritmoPor }: Operacion, identidad: Identidades['llaveDeComercio']): Quien {
  const { llave, comercioId, modo, ritmos } = identidad
  const costo = ritmoPor === undefined ? 1 : COSTO_MAXIMO
  const suyos = ritmosDe(ritmos)
  const gasto = (nombre: Nombre, costo: number): Gasto[] => [
    { nombre, costo, clave: `llave ${llave}`, ritmo: suyos.llave[nombre], de: 'de su llave' },
    { nombre, costo, clave: `comercio ${comercioId} ${modo}`, ritmo: suyos.comercio[nombre], de: 'de su cuenta' },
  ]
  return {
    clave: `comercio ${comercioId} ${modo}`,
    simultaneas: SIMULTANEAS + ritmos.solicitudes,
    gastos: clase ? [...gasto('solicitudes', 1), ...gasto(clase, costo)] : gasto('solicitudes', 1),
    repartidor: undefined,
  }
}

const claveDeSesion = (sesion: Uint8Array) => `sesion ${Buffer.from(sesion).toString('base64')}`

const solo = (clave: string, ritmo: Ritmo, de: string, repartidor?: string): Quien => ({
  clave,
  simultaneas: SIMULTANEAS,
  gastos: [{ nombre: 'solicitudes', clave, ritmo, costo: 1, de }],
  repartidor,
})

type DeComercio = Readonly<Record<'llave' | 'comercio', Readonly<Record<Nombre, Ritmo>>>>

/** Computed rates by the object that holds a merchant's figures, which is new each time that the figures are read. */
const hechos = new WeakMap<RitmosDeComercio, DeComercio>()

function ritmosDe(ritmos: RitmosDeComercio): DeComercio {
  const hecho = hechos.get(ritmos)
  if (hecho) return hecho
  const llave = deLlave(ritmos)
  const todas = ({ porSegundo, rafaga }: Ritmo): Ritmo => ({ porSegundo: LLAVES * porSegundo, rafaga: LLAVES * rafaga })
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
