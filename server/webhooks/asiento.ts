import { byPart, esRepartida } from '../data/spread.ts'
import { traducirError } from '../errores.ts'
import { asentarExitos } from './asentarExitos.ts'
import { asentarIntentos, type DepsDeAsiento, type Resultado } from './asentarIntentos.ts'

/** Results that are settled at once, and how long the first of them waits for the others, in milliseconds. */
export const GRUPO = 100
export const REUNION = 15
/** Groups that are being settled at a time: one is on its way to the disk while the other is made. */
export const A_LA_VEZ = 2
/** Results that aren't settled yet, beyond which nothing new should begin. */
export const MUCHAS = 600

/** One kind of result: those that are settled by the same statement. */
interface Clase {
  por: Resultado[]
  asentar: (grupo: readonly Resultado[]) => Promise<void>
}

/**
 * Settles what was sent, in groups. What went well at the first try at an endpoint that is well is one statement over
 * arrays; everything else is a transaction that also says how the endpoint is doing. What fails is tried until it is
 * settled: what is given up is sent again by somebody.
 */
export class Asiento {
  readonly #deps: DepsDeAsiento
  readonly #alAsentar: (grupo: readonly Resultado[], conSalud: boolean) => void
  readonly #exitos: Clase = { por: [], asentar: (grupo) => this.#asentarExitos(grupo) }
  readonly #demas: Clase = { por: [], asentar: (grupo) => asentarIntentos(this.#deps, grupo) }
  #reunion: NodeJS.Timeout | undefined
  #grupos = 0
  #asentando = 0
  /** Of those that are being settled, how many wait for a machine that is away, beside others that are there. */
  #apartados = 0
  #abandonado = false

  /** @param alAsentar is told of every settled group, and whether the state of its endpoints may have changed */
  constructor(deps: DepsDeAsiento, alAsentar: (grupo: readonly Resultado[], conSalud: boolean) => void) {
    this.#deps = deps
    this.#alAsentar = alAsentar
  }

  /** Results that aren't settled yet. */
  get pendientes(): number {
    return this.#exitos.por.length + this.#demas.por.length + this.#asentando
  }

  get haySitio(): boolean {
    return this.pendientes - this.#apartados < MUCHAS
  }

  /** @param sano whether the endpoint is known to be well: then a first attempt that went well changes nothing of it */
  anotar(resultado: Resultado, sano: boolean): void {
    const { entrega, respuesta } = resultado
    const clase = sano && respuesta.error === null && entrega.intentos === 0 ? this.#exitos : this.#demas
    if (clase.por.push(resultado) >= GRUPO) this.cerrarGrupos()
    else this.#reunion ??= setTimeout(() => this.cerrarGrupos(), REUNION)
  }

  /** Settles what waits for company, as far as groups may be under way. */
  cerrarGrupos(): void {
    clearTimeout(this.#reunion)
    this.#reunion = undefined
    for (const clase of [this.#demas, this.#exitos])
      while (clase.por.length > 0 && this.#grupos < A_LA_VEZ) {
        const grupo = clase.por.splice(0, GRUPO)
        this.#asentando += grupo.length
        this.#grupos++
        void this.#asentar(clase, grupo)
      }
  }

  /** Gives up what isn't settled yet. */
  abandonar(): void {
    this.#abandonado = true
    clearTimeout(this.#reunion)
  }

  /** Whoever can't be settled now keeps no turn from others, and is tried again by himself. */
  async #asentar(clase: Clase, grupo: readonly Resultado[]): Promise<void> {
    const partes = await byPart(this.#deps.dbSinEspera, grupo, ({ entrega }) => entrega.comercio_id)
    await Promise.all(
      partes.map(async ([, parte]) => {
        const inicio = performance.now()
        if (await this.#probar(clase, parte)) this.#terminar(clase, parte, inicio)
        else void this.#insistir(clase, parte, inicio)
      }),
    )
    this.#grupos--
    this.cerrarGrupos()
  }

  async #insistir(clase: Clase, parte: readonly Resultado[], inicio: number): Promise<void> {
    const apartados = esRepartida(this.#deps.dbSinEspera) ? parte.length : 0
    this.#apartados += apartados
    let espera = 100
    do {
      await new Promise((resolve) => setTimeout(resolve, espera))
      espera = Math.min(2 * espera, 5_000)
    } while (!this.#abandonado && !(await this.#probar(clase, parte)))
    this.#apartados -= apartados
    this.#terminar(clase, parte, inicio)
  }

  async #probar(clase: Clase, parte: readonly Resultado[]): Promise<boolean> {
    try {
      await clase.asentar(parte)
      return true
    } catch (err) {
      const nivel = traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error'
      this.#deps.log[nivel]({ err, entregas: parte.length }, 'settle')
      return false
    }
  }

  #terminar(clase: Clase, parte: readonly Resultado[], inicio: number): void {
    const buenas = parte.filter(({ respuesta }) => respuesta.error === null).length
    const ms = Math.round(performance.now() - inicio)
    this.#deps.log.info({ cola: 'webhook_entregas', intentos: parte.length, buenas, ms }, 'job')
    this.#asentando -= parte.length
    this.#alAsentar(parte, clase === this.#demas)
  }

  async #asentarExitos(grupo: readonly Resultado[]): Promise<void> {
    const { dbSinEspera, reloj } = this.#deps
    const sobran = await asentarExitos(dbSinEspera, grupo, reloj())
    if (sobran.length > 0) await asentarIntentos(this.#deps, sobran)
  }
}
