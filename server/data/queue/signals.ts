import pg from 'pg'
import type { Modo } from '../../generado/contrato/tipos/index.ts'
import type { Log } from '../../platform/log.ts'

// Signals that one process sends to the others after a commit, so that they need not poll constantly. A signal may be
// lost: then processes find the due rows later, by polling.

/** Key of a row with pending work, sent in a signal. */
export interface SignalKey {
  comercio_id: string
  modo: Modo
  webhook: string
}

const CANAL = 'guias_trabajo'
/** Endpoints in one signal. PostgreSQL accepts less than 8,000 bytes. */
const POR_SENAL = 80
/** Pause before a listener that lost its connection opens another one, in milliseconds. */
const REPOSO = 1_000

/** Signal without keys: there may be pending rows of any kind. */
const CUALQUIERA = ''

/**
 * Tells other processes that rows of pending work were committed. While a signal is being sent, further signals are
 * collected and sent together. Each signal has a transaction of its own, because NOTIFY inside the writing transactions
 * would serialise all commits.
 */
export class SignalSender {
  readonly #pool: pg.Pool
  readonly #log: Log
  readonly #porDecir = new Set<string>()
  #diciendo = false

  /** @param pool pool of sessions whose commits do not wait for the disk */
  constructor(pool: pg.Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  /**
   * Sends a signal.
   * @param claves webhook endpoints that may have due deliveries; undefined: there may be any kind of work
   */
  readonly send = (claves?: readonly SignalKey[]): void => {
    if (!claves) this.#porDecir.add(CUALQUIERA)
    for (const { comercio_id, modo, webhook } of claves ?? []) this.#porDecir.add(`${comercio_id},${modo},${webhook}`)
    if (!this.#diciendo) void this.#decirTodo()
  }

  async #decirTodo(): Promise<void> {
    this.#diciendo = true
    while (this.#porDecir.size > 0) {
      const textos = this.#porDecir.delete(CUALQUIERA) ? [CUALQUIERA] : [...this.#porDecir].slice(0, POR_SENAL)
      for (const texto of textos) this.#porDecir.delete(texto)
      await this.#pool
        .query({ name: 'senales.decir', text: 'select pg_notify($1, $2)', values: [CANAL, textos.join(' ')] })
        .catch((err: unknown) => this.#log.warn({ err }, 'NOTIFY failed'))
    }
    this.#diciendo = false
  }
}

/** Receives the signals of other processes. It has a connection of its own, which is opened again when it is lost. */
export class SignalListener {
  readonly #url: string
  readonly #log: Log
  readonly #alOir: (claves?: readonly SignalKey[]) => void
  #cliente: pg.Client | undefined
  #temporizador: NodeJS.Timeout | undefined
  #cerrado = false

  /**
   * @param alOir called with the webhook endpoints that may have due deliveries, or without argument if there may be
   *   any kind of work
   */
  constructor(url: string, log: Log, alOir: (claves?: readonly SignalKey[]) => void) {
    this.#url = url
    this.#log = log
    this.#alOir = alOir
    void this.#conectar()
  }

  async close(): Promise<void> {
    this.#cerrado = true
    clearTimeout(this.#temporizador)
    await this.#cliente?.end().catch(() => {})
  }

  async #conectar(): Promise<void> {
    const cliente = new pg.Client({
      connectionString: this.#url,
      application_name: `guias señales pid=${process.pid}`,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    this.#cliente = cliente
    cliente.on('error', () => {})
    cliente.on('end', () => this.#repetir())
    cliente.on('notification', ({ payload = '' }) => this.#alOir(leerSenal(payload)))
    try {
      await cliente.connect()
      await cliente.query(`listen ${CANAL}`)
      // Signals sent before `listen` are lost, so there may be any kind of work.
      this.#alOir()
    } catch (err) {
      // A connection that `close` ends is not a fault.
      if (!this.#cerrado) this.#log.warn({ err }, 'LISTEN connection failed')
      await cliente.end().catch(() => {})
      this.#repetir()
    }
  }

  #repetir(): void {
    clearTimeout(this.#temporizador)
    if (!this.#cerrado) this.#temporizador = setTimeout(() => void this.#conectar(), REPOSO)
  }
}

function leerSenal(payload: string): SignalKey[] | undefined {
  if (payload === CUALQUIERA) return undefined
  return payload.split(' ').map((texto) => {
    const [comercio_id = '', modo, webhook = ''] = texto.split(',')
    return { comercio_id, modo: modo as SignalKey['modo'], webhook }
  })
}
