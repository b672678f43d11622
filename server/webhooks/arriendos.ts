import type { PgBoss } from 'pg-boss'
import type { ClaveDeWebhook } from './webhook.ts'

/** The queue of leases: a job of it is an endpoint that some process holds, or that waits for one. */
export const COLA_DE_ARRIENDOS = 'arriendos'
/** How long a lease lasts without a sign of life, in seconds; what comes after it belongs to another process. */
export const VIGENCIA_S = 25
/** How often a sign of life is given, in milliseconds. */
const LATIDO = 4_000
/**
 * How old the last sign of life may be for an exchange to begin, in milliseconds. An exchange takes 15 s at most, so it ends
 * before the lease does: an old holder and a new one never overlap.
 */
const CONFIANZA = 10_000
/** How long it is taken for granted that another process holds an endpoint, in milliseconds. */
const RECUERDO = 2_000
/** Leases of a process at most, and how many are taken at once. */
const MAXIMO = 4_000
const TOMA = 200

/** An endpoint that this process holds. */
export class Arriendo {
  readonly clave: ClaveDeWebhook
  /** The claim on its job: a later claim is another process's. */
  readonly trabajo: { id: string; retryCount: number }
  /** When the last confirmed sign of life was sent, in milliseconds of the process's clock. */
  latido: number

  constructor(clave: ClaveDeWebhook, trabajo: { id: string; retryCount: number }, latido: number) {
    this.clave = clave
    this.trabajo = trabajo
    this.latido = latido
  }

  /** Whether an exchange that begins now ends within the lease. */
  vale(ahora: number): boolean {
    return ahora - this.latido < CONFIANZA
  }
}

interface Oyente {
  /** Endpoints that this process holds from now on. */
  alTomar: (arriendos: readonly Arriendo[]) => void
  /** One that another process may hold by now. */
  alPerder: (arriendo: Arriendo) => void
  /** Endpoints that were asked for here and another process holds. */
  alNoTomar: (claves: readonly ClaveDeWebhook[]) => void
}

/**
 * Which endpoints this process holds. Each is a job of an exclusive queue (one an endpoint, waiting or held), kept alive by
 * its heartbeat; whoever holds it sends all that goes there, so that two processes never send the same.
 */
export class Arriendos {
  readonly #boss: PgBoss
  readonly #oyente: Oyente
  readonly #suyos = new Map<string, Arriendo>()
  readonly #pedidos = new Map<string, { clave: ClaveDeWebhook; deOtro: boolean }>()
  /** Endpoints that another process held when they were last asked for, and until when that is taken for granted. */
  readonly #ajenos = new Map<string, number>()
  #tomando: Promise<void> | undefined
  #otra = false
  #soltando: Promise<void> = Promise.resolve()
  #cerrado = false
  #ultimoLatido = 0

  constructor(boss: PgBoss, oyente: Oyente) {
    this.#boss = boss
    this.#oyente = oyente
  }

  /** The endpoints held, in the order in which they were taken. */
  todos(): Arriendo[] {
    return [...this.#suyos.values()]
  }

  /**
   * Asks for an endpoint at the next {@link tomar}.
   * @param deOtro whether another process says that there is work for it: then whoever holds it was told, too
   */
  pedir(clave: ClaveDeWebhook, deOtro: boolean): void {
    const { webhook } = clave
    if (this.#suyos.has(webhook)) return
    if (deOtro && (this.#ajenos.get(webhook) ?? 0) > performance.now()) return
    this.#pedidos.set(webhook, { clave, deOtro: deOtro && (this.#pedidos.get(webhook)?.deOtro ?? true) })
  }

  /** Takes what was asked for, and whatever else nobody holds; asked for again meanwhile, it does so again. */
  tomar(): Promise<void> {
    if (this.#tomando) this.#otra = true
    this.#tomando ??= this.#tomarTodo().finally(() => {
      this.#tomando = undefined
    })
    return this.#tomando
  }

  async #tomarTodo(): Promise<void> {
    do {
      this.#otra = false
      const pedidos = [...this.#pedidos.values()].filter(({ clave }) => !this.#suyos.has(clave.webhook))
      this.#pedidos.clear()
      // Of an endpoint that is being given up there still is a job, which would keep another from being made.
      await this.#soltando
      await this.#encolar(pedidos.map(({ clave }) => clave))
      while (!this.#cerrado && this.#suyos.size < MAXIMO && (await this.#reclamar()) === TOMA);
      this.#recordarAjenos(pedidos.filter(({ clave }) => !this.#suyos.has(clave.webhook)))
    } while (this.#otra && !this.#cerrado)
  }

  #recordarAjenos(ajenos: readonly { clave: ClaveDeWebhook; deOtro: boolean }[]): void {
    const ahora = performance.now()
    for (const [webhook, hasta] of this.#ajenos) if (hasta < ahora) this.#ajenos.delete(webhook)
    for (const { clave } of ajenos) this.#ajenos.set(clave.webhook, ahora + RECUERDO)
    const propios = ajenos.filter(({ deOtro }) => !deOtro).map(({ clave }) => clave)
    if (propios.length > 0) this.#oyente.alNoTomar(propios)
  }

  /** Makes the jobs; where an endpoint has one, held or waiting, there is no other. */
  async #encolar(claves: readonly ClaveDeWebhook[]): Promise<void> {
    if (claves.length === 0 || this.#cerrado) return
    const trabajos = claves.map(({ comercio_id, modo, webhook }) => ({
      data: { comercio_id, modo, webhook },
      singletonKey: webhook,
    }))
    await this.#boss.insert(COLA_DE_ARRIENDOS, trabajos, { returnId: false })
  }

  async #reclamar(): Promise<number> {
    const latido = performance.now()
    const trabajos = await this.#boss.fetch<ClaveDeWebhook>(COLA_DE_ARRIENDOS, { batchSize: TOMA })
    const nuevos = trabajos.map(({ id, retryCount, data }) => new Arriendo(data, { id, retryCount }, latido))
    for (const arriendo of nuevos) this.#suyos.set(arriendo.clave.webhook, arriendo)
    if (nuevos.length > 0) this.#oyente.alTomar(nuevos)
    return trabajos.length
  }

  /** Gives the sign of life, when it is time: what it doesn't confirm is lost. */
  async latir(ahora: number): Promise<void> {
    if (this.#suyos.size === 0 || ahora - this.#ultimoLatido < LATIDO) return
    this.#ultimoLatido = ahora
    const todos = this.todos()
    // pg-boss says which, though its types don't.
    const { settled } = (await this.#boss.touch(
      COLA_DE_ARRIENDOS,
      todos.map(({ trabajo }) => trabajo),
    )) as { settled?: string[] }
    if (!settled) throw new Error('the queue does not say which leases live')
    const vivos = new Set(settled)
    for (const arriendo of todos) {
      if (vivos.has(arriendo.trabajo.id)) arriendo.latido = ahora
      else if (this.#suyos.get(arriendo.clave.webhook) === arriendo) {
        this.#suyos.delete(arriendo.clave.webhook)
        this.#oyente.alPerder(arriendo)
      }
    }
  }

  /** Gives endpoints up. */
  async soltar(arriendos: readonly Arriendo[]): Promise<void> {
    if (arriendos.length === 0) return
    for (const { clave } of arriendos) this.#suyos.delete(clave.webhook)
    const trabajos = arriendos.map(({ trabajo }) => trabajo)
    const soltando = this.#soltando.then(() => this.#boss.deleteJob(COLA_DE_ARRIENDOS, trabajos))
    this.#soltando = soltando.then(
      () => {},
      () => {},
    )
    await soltando
  }

  /** Takes nothing any more. */
  async cerrar(): Promise<void> {
    this.#cerrado = true
    await this.#tomando?.catch(() => {})
  }
}
