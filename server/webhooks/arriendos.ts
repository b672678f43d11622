import { randomUUID } from 'node:crypto'
import { setTimeout as dormir } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import type { Db } from '../db.ts'
import { anotarTomas, COLA_DE_ARRIENDOS, hallarHuerfanas, latir, type Toma } from './bombas.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** Milliseconds between two signs of life. */
const LATIDO = 4_000
/**
 * Age of the last sign of life, in milliseconds, up to which an exchange may begin. An exchange takes 15 s at most, so it ends
 * before the lease does: an old holder and a new one never overlap.
 */
const CONFIANZA = 10_000
/** Milliseconds for which it is taken for granted that another process holds an endpoint. */
const RECUERDO = 2_000
/** Leases of a process at most. */
const MAXIMO = 40_000
/**
 * Leases that a process takes as fast as it can. Beyond them it takes {@link TOMA} in {@link ENTRE_TOMAS} milliseconds, so that
 * processes that hold fewer are quicker.
 */
const SIN_PAUSA = 4_000
const ENTRE_TOMAS = 100
/** Leases that are taken at once. */
const TOMA = 200
/** Leases of one statement that notes them, renews pg-boss's heartbeat or gives them back. */
const POR_SENTENCIA = 2_000
/** Part of pg-boss's heartbeat after which it is renewed. */
const PARTE_DEL_PLAZO = 1 / 3

/** An endpoint that this process holds. */
export class Arriendo {
  readonly clave: ClaveDeWebhook
  /** The claim on its job: a later claim is another process's. */
  readonly trabajo: Toma
  /** When the last confirmed sign of life was sent, in milliseconds of the process's clock. */
  latido: number
  /** True once it lives by the signs of life of its process; before that it lives by the claim alone. */
  anotado = false
  /** Milliseconds after which pg-boss gives its job up, since it was last renewed there. */
  readonly plazo: number
  renovado: number

  constructor(clave: ClaveDeWebhook, trabajo: Toma, latido: number, plazo = Number.POSITIVE_INFINITY) {
    this.clave = clave
    this.trabajo = trabajo
    this.latido = latido
    this.plazo = plazo
    this.renovado = latido
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
 * The endpoints that this process holds. Each is a job of an exclusive queue (one an endpoint, waiting or held); the process
 * that holds it sends all that goes there, so that two processes never send the same. A lease is noted as this process's within
 * seconds and then lives as long as the process gives its own sign of life: one row, however many leases there are. pg-boss's
 * heartbeat is long and renewed rarely; it is for a version that knows of nothing else.
 */
export class Arriendos {
  readonly #boss: PgBoss
  readonly #db: Pick<Db, 'consultar'>
  readonly #oyente: Oyente
  /** This process among those that send, from the first lease that it notes until it holds none of those any more. */
  #bomba = ''
  readonly #suyos = new Map<string, Arriendo>()
  readonly #pedidos = new Map<string, { clave: ClaveDeWebhook; deOtro: boolean }>()
  /** Endpoints that another process held when they were last asked for, and until when that is taken for granted. */
  readonly #ajenos = new Map<string, number>()
  #tomando: Promise<void> | undefined
  #otra = false
  #soltando: Promise<void> = Promise.resolve()
  /** Claims that were given up and whose jobs may still be there. */
  readonly #porBorrar = new Set<Toma>()
  #cerrado = false
  #ultimoLatido = Number.NEGATIVE_INFINITY
  #latiendo = false

  /** @param db sessions whose commits needn't wait for the disk */
  constructor(boss: PgBoss, db: Pick<Db, 'consultar'>, oyente: Oyente) {
    this.#boss = boss
    this.#db = db
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
      while (!this.#cerrado && this.#suyos.size < MAXIMO && (await this.#reclamar()) === TOMA)
        if (this.#suyos.size >= SIN_PAUSA) await dormir(ENTRE_TOMAS)
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
    const nuevos = trabajos.map(
      ({ id, retryCount, data, heartbeatSeconds }) =>
        new Arriendo(data, { id, retryCount }, latido, heartbeatSeconds ? heartbeatSeconds * 1_000 : undefined),
    )
    for (const arriendo of nuevos) this.#suyos.set(arriendo.clave.webhook, arriendo)
    if (nuevos.length > 0) this.#oyente.alTomar(nuevos)
    return trabajos.length
  }

  /** Gives the sign of life, when it is time: what it doesn't confirm is lost. */
  async latir(ahora: number): Promise<void> {
    if (this.#latiendo || this.#suyos.size === 0 || ahora - this.#ultimoLatido < LATIDO) return
    this.#latiendo = true
    this.#ultimoLatido = ahora
    try {
      await this.#confirmar(ahora)
    } finally {
      this.#latiendo = false
    }
  }

  async #confirmar(ahora: number): Promise<void> {
    const anotados = this.todos().filter(({ anotado }) => anotado)
    const nueva = anotados.length === 0
    if (nueva) this.#bomba = randomUUID()
    const perdidos = await latir(this.#db, this.#bomba, nueva)
    // Given up by another process: what is still alive by itself is noted at the next sign of life.
    if (!perdidos) return this.#perder(anotados)
    const idos = new Set(perdidos)
    for (const arriendo of anotados) if (!idos.has(arriendo.trabajo.id)) arriendo.latido = ahora
    this.#perder(anotados.filter(({ trabajo }) => idos.has(trabajo.id)))
    await this.#anotar(ahora)
    await this.#renovar(ahora)
    if (this.#porBorrar.size > 0) await this.#borrar([])
  }

  /** Notes the leases that live by themselves so far. */
  async #anotar(ahora: number): Promise<void> {
    const nuevos = this.todos().filter(({ anotado }) => !anotado)
    for (let desde = 0; desde < nuevos.length; desde += POR_SENTENCIA) {
      const unos = nuevos.slice(desde, desde + POR_SENTENCIA)
      const tomas = unos.map(({ trabajo }) => trabajo)
      const hechas = new Set(await anotarTomas(this.#db, this.#bomba, tomas))
      // One whose time was nearly over may have been given up while it was noted.
      const aTiempo = unos.filter((uno) => hechas.has(uno.trabajo.id) && uno.vale(performance.now()))
      for (const arriendo of aTiempo) {
        arriendo.anotado = true
        arriendo.latido = ahora
      }
      const demas = unos.filter(({ anotado }) => !anotado)
      this.#perder(demas)
      await this.#borrar(demas)
    }
  }

  /** Renews pg-boss's heartbeats, of those first whose time is over first. */
  async #renovar(ahora: number): Promise<void> {
    const unos = this.todos()
      .filter(({ renovado, plazo }) => ahora - renovado > PARTE_DEL_PLAZO * plazo)
      .sort((a, b) => a.renovado + a.plazo - (b.renovado + b.plazo))
      .slice(0, POR_SENTENCIA)
    if (unos.length === 0) return
    // pg-boss says which, though its types don't.
    const { settled } = (await this.#boss.touch(
      COLA_DE_ARRIENDOS,
      unos.map(({ trabajo }) => trabajo),
    )) as { settled?: string[] }
    if (!settled) throw new Error('the queue does not say which leases live')
    const vivos = new Set(settled)
    for (const arriendo of unos) if (vivos.has(arriendo.trabajo.id)) arriendo.renovado = ahora
    this.#perder(unos.filter(({ trabajo }) => !vivos.has(trabajo.id)))
  }

  #perder(arriendos: readonly Arriendo[]): void {
    for (const arriendo of arriendos) {
      if (this.#suyos.get(arriendo.clave.webhook) !== arriendo) continue
      this.#suyos.delete(arriendo.clave.webhook)
      this.#oyente.alPerder(arriendo)
    }
  }

  /** Gives back to the queue what dead processes held, as far as no other process looks after that. @returns how many */
  async rescatar(): Promise<number> {
    const huerfanas = await hallarHuerfanas(this.#db)
    for (let desde = 0; desde < huerfanas.length; desde += POR_SENTENCIA)
      await this.#boss.fail(COLA_DE_ARRIENDOS, huerfanas.slice(desde, desde + POR_SENTENCIA), {
        message: 'process lost',
      })
    return huerfanas.length
  }

  /** Gives endpoints up. */
  async soltar(arriendos: readonly Arriendo[]): Promise<void> {
    if (arriendos.length === 0) return
    for (const { clave } of arriendos) this.#suyos.delete(clave.webhook)
    await this.#borrar(arriendos)
  }

  /** Deletes jobs, and those that couldn't be deleted before: noted as this process's, they would be nobody else's. */
  async #borrar(arriendos: readonly Arriendo[]): Promise<void> {
    for (const { trabajo } of arriendos) this.#porBorrar.add(trabajo)
    const soltando = this.#soltando.then(async () => {
      while (this.#porBorrar.size > 0) {
        const unas = [...this.#porBorrar].slice(0, POR_SENTENCIA)
        await this.#boss.deleteJob(COLA_DE_ARRIENDOS, unas)
        for (const una of unas) this.#porBorrar.delete(una)
      }
    })
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
