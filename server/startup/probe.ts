import pg from 'pg'
import type { Connections } from '../data/connections.ts'
import type { Salud } from '../domain/deps.ts'
import { isServerFault } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'

/** Milliseconds for which a result is reused. The database is therefore checked at most once per second. */
const VIGENCIA = 1_000
/** Milliseconds that the database may take, including the time to connect. */
const PLAZO = 3_000
/** Milliseconds for which the connection stays open without a check. */
const OCIO = 30_000

/**
 * Transaction that needs what every write needs, and leaves nothing behind. It writes 56 KB to a temporary file, which
 * a full disk refuses. It locks a row, which a read-only server refuses, and its commit waits for the disk.
 * `skip locked` lets each process lock another row, so that no process waits for the others. PostgreSQL takes 0.7 ms
 * for the whole transaction.
 */
const PRUEBA = `begin;
  set local role none;
  set local statement_timeout = ${PLAZO};
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  select count(*) from generate_series(1, 4000);
  select 1 from _prisma_migrations limit 1 for update skip locked;
  commit`

type Resultado = Pick<Salud, 'base_de_datos' | 'escritura'>

const BIEN: Resultado = { base_de_datos: true, escritura: true }
const SIN_ESCRITURA: Resultado = { base_de_datos: true, escritura: false }
const SIN_BASE: Resultado = { base_de_datos: false, escritura: false }

interface Conexion {
  cliente: pg.Client
  /** Time at which the connection attempt began, in milliseconds of `performance.now()`. */
  desde: number
  lista: Promise<unknown>
}

/**
 * Checks on request whether the database accepts writes. The probe has a connection of its own, so that a full pool or
 * a slow statement does not delay it. Without requests the probe does nothing and holds no connection.
 */
export class Probe {
  readonly #url: string
  readonly #pools: readonly Connections[]
  readonly #log: Log
  #conexion: Conexion | undefined
  #ocio: NodeJS.Timeout | undefined
  #resultado: Resultado | undefined
  #mirado_en = Number.NEGATIVE_INFINITY
  #mirando: Promise<Resultado> | undefined
  #cerrada = false

  /**
   * @param url the address that requests use: a pooler's, if a pooler stands before the database
   * @param pools connection pools of requests, whose servers may refuse what the probe's server accepts
   */
  constructor(url: string, pools: readonly Connections[], log: Log) {
    this.#url = url
    this.#pools = pools
    this.#log = log
  }

  /**
   * Returns a result of the last second, or a new one. A refusal that a pool has seen since also causes a new check.
   */
  look(): Promise<Resultado> {
    if (this.#resultado && performance.now() - this.#mirado_en < VIGENCIA && !this.#huboRechazo(this.#mirado_en))
      return Promise.resolve(this.#resultado)
    this.#mirando ??= this.#mirar().finally(() => {
      this.#mirando = undefined
    })
    return this.#mirando
  }

  async close(): Promise<void> {
    this.#cerrada = true
    this.#soltar()
    await this.#mirando
  }

  #huboRechazo(desde: number): boolean {
    return this.#pools.some(({ rechazado_en }) => rechazado_en > desde)
  }

  async #mirar(): Promise<Resultado> {
    if (this.#cerrada) return SIN_BASE
    this.#mirado_en = performance.now()
    // A new connection uses the database's present settings, and reaches the server to which the address resolves now.
    if (this.#conexion && this.#huboRechazo(this.#conexion.desde)) this.#soltar()
    const reutilizada = this.#conexion !== undefined
    const { promise: tarde, reject } = Promise.withResolvers<never>()
    // After a busy spell of the process, an answer may be there unread. `setImmediate` lets Node read it before the
    // deadline counts.
    const reloj = setTimeout(() => setImmediate(reject, new Error('database did not answer in time')), PLAZO)
    try {
      let [resultado, err] = await this.#intentar(tarde)
      // An operator may have ended the connection of an earlier check, which says nothing about the server.
      if (resultado === SIN_BASE && reutilizada) [resultado, err] = await this.#intentar(tarde)
      return this.#anotar(resultado, err)
    } finally {
      clearTimeout(reloj)
    }
  }

  async #intentar(tarde: Promise<never>): Promise<[resultado: Resultado, err?: unknown]> {
    let conectada = false
    try {
      const donde = await Promise.race([this.#conectar(), tarde])
      conectada = true
      await Promise.race([donde.query(PRUEBA), tarde])
      return [BIEN]
    } catch (err) {
      this.#soltar()
      // SQLSTATE class 57P means that the server is going away, or that it ended this connection.
      const contesta = conectada && err instanceof pg.DatabaseError && !err.code?.startsWith('57P')
      return [contesta ? SIN_ESCRITURA : SIN_BASE, err]
    }
  }

  /**
   * Returns the probe's own connection. If the server lacks what a new connection needs, returns a pool of requests,
   * whose connections still work. For example, the server may have no free connection, or no disk space for the cache
   * file of a new one.
   */
  async #conectar(): Promise<{ query(texto: string): Promise<unknown> }> {
    const { cliente, lista } = this.#conexion ?? this.#abrir()
    clearTimeout(this.#ocio)
    this.#ocio = setTimeout(() => this.#soltar(), OCIO).unref()
    try {
      await lista
      return cliente
    } catch (err) {
      const [pool] = this.#pools
      if (!pool || !isServerFault((err as { code?: unknown }).code)) throw err
      this.#soltar()
      return pool
    }
  }

  #abrir(): Conexion {
    const cliente = new pg.Client({
      connectionString: this.#url,
      application_name: `guias salud pid=${process.pid}`,
      connectionTimeoutMillis: PLAZO,
      keepAlive: true,
    })
    cliente.on('error', () => {})
    cliente.on('end', () => {
      if (this.#conexion?.cliente === cliente) this.#conexion = undefined
    })
    this.#conexion = { cliente, desde: performance.now(), lista: cliente.connect() }
    return this.#conexion
  }

  #soltar(): void {
    clearTimeout(this.#ocio)
    void this.#conexion?.cliente.end().catch(() => {})
    this.#conexion = undefined
  }

  #anotar(resultado: Resultado, err?: unknown): Resultado {
    const antes = this.#resultado?.escritura ?? true
    if (antes && err && !this.#cerrada) this.#log.warn({ err }, 'database takes no writes')
    else if (!antes && !err) this.#log.info('database takes writes again')
    this.#resultado = resultado
    return resultado
  }
}
