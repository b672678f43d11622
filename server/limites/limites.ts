import type { Operacion } from '../contrato/contrato.ts'
import type { RitmosDeComercio } from '../contrato/generado/tipos/index.ts'
import { demasiadas, type Problema } from '../errores.ts'
import type { Identidad, Identidades } from '../http/identidad.ts'
import { Conteo } from './conteo.ts'
import { Cubos, type Ritmo } from './cubos.ts'
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
} from './ritmos.ts'

type Nombre = 'solicitudes' | Clase

/** What one request spends of one rhythm. */
interface Gasto {
  nombre: Nombre
  clave: string
  ritmo: Ritmo
  costo: number
  /** In Spanish, whose rhythm it is: `de su llave`. */
  de: string
}

/** Who calls, as far as limits are concerned. */
interface Quien {
  /** Whose requests under way are counted together. */
  clave: string
  simultaneas: number
  gastos: readonly Gasto[]
}

/** A request that was let through. */
export interface Admision {
  /** What is left of its rhythms, for the answer. */
  readonly cabeceras: Readonly<Record<'RateLimit' | 'RateLimit-Policy', string>>
  /** What it spends of its operation's class turned out to be this. */
  corregir(costo: number): void
  /** It is over. */
  terminar(): void
}

interface OpcionesDeLimites {
  /** How many processes share the limits at this moment. */
  procesos?: () => number
  /** Requests per second of an operator's key. */
  porOperador: number
  /** Requests per second without a key of one network. */
  porRed: number
  /** In milliseconds, of which only differences count. */
  reloj?: () => number
  /** Told once when a courier has asked for too many guides that don't exist. */
  alDesconocer?: (repartidor: string) => void
}

/** What a request takes of its class before it is known how much it needs: it was bounded to this by the contract. */
export const COSTO_MAXIMO = 100

/** The limits of a process; see `ritmos.ts` for the figures. */
export class Limites {
  readonly #cubos: Readonly<Record<Nombre | 'desconocidos' | 'desconocidas', Cubos>>
  readonly #alDesconocer: (repartidor: string) => void
  readonly #simultaneas = new Conteo()
  /** Keys and sessions that are being looked up, by network. */
  readonly #averiguan = new Conteo()

  readonly #deOperacion: Ritmo
  readonly #deRed: Ritmo
  readonly #deIntentos: Ritmo
  readonly #deEtiquetas: Ritmo

  constructor({ procesos = () => 1, porOperador, porRed, reloj, alDesconocer = () => {} }: OpcionesDeLimites) {
    this.#alDesconocer = alDesconocer
    this.#deOperacion = deOperacion(porOperador)
    this.#deRed = deRed(porRed)
    this.#deIntentos = deIntentos(porRed)
    this.#deEtiquetas = deEtiquetas(porRed)
    const cubos = () => new Cubos({ procesos, ...(reloj ? { reloj } : {}) })
    this.#cubos = {
      solicitudes: cubos(),
      guias: cubos(),
      documentos: cubos(),
      recuperaciones: cubos(),
      cambios: cubos(),
      // Strangers have buckets of their own, so that they can't have those of merchants forgotten.
      desconocidos: cubos(),
      desconocidas: cubos(),
    }
  }

  /**
   * Takes what the request spends, of all its rhythms or of none.
   * @param red the network it comes from, which counts where nobody is known
   * @throws Problema 429
   */
  admitir(operacion: Operacion, identidad: Identidad | undefined, red: string): Admision {
    const quien = this.#quienEs(operacion, identidad, red)
    const enCurso = this.#simultaneas.de(quien.clave)
    if (enCurso >= quien.simultaneas) throw this.#rechazo(quien, 1, `${enCurso} a la vez es el máximo`)
    if (identidad && 'repartidor' in identidad) this.#exigirConocidas(identidad.repartidor, quien)
    const tomados: Gasto[] = []
    for (const gasto of quien.gastos) {
      const espera = this.#de(gasto).tomar(gasto.clave, gasto.ritmo, gasto.costo)
      if (espera > 0) {
        for (const tomado of tomados) this.#de(tomado).devolver(tomado.clave, tomado.costo)
        throw this.#rechazo(quien, espera, explicar(gasto))
      }
      tomados.push(gasto)
    }
    this.#simultaneas.sumar(quien.clave)
    return this.#admision(quien)
  }

  /**
   * Counts a key or session that is none against the network that presented it. Good ones from the same network aren't
   * touched: strangers can lock nobody out.
   * @throws Problema 429, once it is too many
   */
  contarFallo(red: string): void {
    this.#fallar(red, 1)
  }

  /**
   * Looks up a key or session that this process doesn't know. Of a network from where too many came that are none, one is
   * looked up at a time, and the others aren't at all: a good one from there finds its turn by coming again.
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
    const quien = solo(`red ${red} sin llave`, this.#deIntentos, 'de su red')
    this.#gastar(quien, cuantas, 'Llegaron demasiadas llaves que no valen desde su red')
  }

  /**
   * Takes what a page, a file of one or a path that leads nowhere costs, of the network that asked for it.
   * @throws Problema 429
   */
  gastarPagina(red: string): void {
    this.#gastar(solo(`red ${red} páginas`, this.#deRed, 'de su red'))
  }

  /**
   * Takes what opening or drawing labels costs, of the network that opened their link.
   * @throws Problema 429
   */
  gastarEtiquetas(red: string, cuantas: number): void {
    this.#gastar(solo(`red ${red} etiquetas`, this.#deEtiquetas, 'de su red', 'documentos'), cuantas)
  }

  /** Counts codes that a courier asked for and that name no guide: his own, whichever session he asks from. */
  contarDesconocidas(repartidor: string, cuantas: number): void {
    if (cuantas === 0) return
    const cubos = this.#cubos.desconocidas
    const negado = cubos.tomar(repartidor, DE_DESCONOCIDAS, cuantas) > 0
    if (!negado && cubos.quedan(repartidor, DE_DESCONOCIDAS).quedan === 0) this.#alDesconocer(repartidor)
  }

  #gastar(quien: Quien, costo = 1, porQue?: string): void {
    const [gasto] = quien.gastos
    const espera = this.#de(gasto!).tomar(gasto!.clave, gasto!.ritmo, costo)
    if (espera > 0) throw this.#rechazo(quien, espera, porQue ?? explicar(gasto!))
  }

  #exigirConocidas(repartidor: string, quien: Quien): void {
    const espera = this.#cubos.desconocidas.tomar(repartidor, DE_DESCONOCIDAS, 0)
    if (espera > 0) throw this.#rechazo(quien, espera, 'Buscó demasiadas guías que no existen')
  }

  #quienEs(operacion: Operacion, identidad: Identidad | undefined, red: string): Quien {
    if (!identidad) return solo(`red ${red}`, this.#deRed, 'de su red')
    if ('comercio' in identidad) return deComercio(operacion, identidad)
    if ('operador' in identidad) return solo(`llave ${identidad.llave}`, this.#deOperacion, 'de su llave')
    return solo(claveDeSesion(identidad.sesion), DE_SESION, 'de su sesión')
  }

  #de({ clave, nombre }: Gasto): Cubos {
    return this.#cubos[clave.startsWith('red ') ? 'desconocidos' : nombre]
  }

  #admision(quien: Quien): Admision {
    const limites = this
    let abierta = true
    return {
      get cabeceras() {
        return limites.#cabeceras(quien)
      },
      corregir(costo) {
        for (const gasto of quien.gastos) {
          if (gasto.nombre !== 'solicitudes') limites.#de(gasto).devolver(gasto.clave, gasto.costo - costo)
        }
      },
      terminar() {
        if (!abierta) return
        abierta = false
        limites.#simultaneas.restar(quien.clave)
      },
    }
  }

  #rechazo(quien: Quien, segundos: number, porQue: string): Problema {
    return demasiadas(porQue, segundos, this.#cabeceras(quien))
  }

  /** Of each rhythm, the account that has less left: a key's, or all its merchant's. */
  #cabeceras({ gastos }: Quien): Admision['cabeceras'] {
    const dichos = new Map<Nombre, { quedan: number; estado: string; politica: string }>()
    for (const gasto of gastos) {
      const { nombre, clave, ritmo } = gasto
      const cubos = this.#de(gasto)
      const { quedan, enteroEn } = cubos.quedan(clave, ritmo)
      const dicho = dichos.get(nombre)
      if (dicho && dicho.quedan <= quedan) continue
      const { porSegundo, rafaga } = cubos.parte(ritmo)
      dichos.set(nombre, {
        quedan,
        estado: `"${nombre}";r=${quedan};t=${enteroEn}`,
        politica: `"${nombre}";q=${Math.floor(rafaga)};w=${Math.ceil(rafaga / porSegundo)}`,
      })
    }
    const valores = [...dichos.values()]
    return {
      RateLimit: valores.map(({ estado }) => estado).join(', '),
      'RateLimit-Policy': valores.map(({ politica }) => politica).join(', '),
    }
  }
}

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
  }
}

const claveDeSesion = (sesion: Uint8Array) => `sesion ${Buffer.from(sesion).toString('base64')}`

const solo = (clave: string, ritmo: Ritmo, de: string, nombre: Nombre = 'solicitudes'): Quien => ({
  clave,
  simultaneas: SIMULTANEAS,
  gastos: [{ nombre, clave, ritmo, costo: 1, de }],
})

type DeComercio = Readonly<Record<'llave' | 'comercio', Readonly<Record<Nombre, Ritmo>>>>

/** Made once for each time that a merchant's figures were read. */
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

function explicar({ nombre, ritmo: { porSegundo, rafaga }, de }: Gasto): string {
  const ritmo = porSegundo >= 1 ? `${porSegundo} por segundo` : `${Math.round(porSegundo * 60)} por minuto`
  return `Se agotó el ritmo de ${NOMBRES[nombre]} ${de} (${ritmo}, ${rafaga} seguidas)`
}
