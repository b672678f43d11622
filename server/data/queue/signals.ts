import pg from 'pg'
import type { Modo } from '../../generated/contract/types/index.ts'
import type { Log } from '../../platform/log.ts'

// Signals that one process sends to the others after a commit, so that they need not poll constantly. A signal may be
// lost: then processes find the due rows later, by polling.

/** Key of a row with pending work, sent in a signal. */
export interface SignalKey {
  comercio_id: string
  modo: Modo
  webhook: string
}

const CHANNEL = 'guias_trabajo'
/** Endpoints in one signal. PostgreSQL accepts less than 8,000 bytes. */
const KEYS_PER_SIGNAL = 80
/** Pause before a listener that lost its connection opens another one, in milliseconds. */
const RECONNECT_PAUSE_MS = 1_000

/** Signal without keys: there may be pending rows of any kind. */
const ANY_WORK = ''

/**
 * Tells other processes that rows of pending work were committed. While a signal is being sent, further signals are
 * collected and sent together. Each signal has a transaction of its own, because NOTIFY inside the writing transactions
 * would serialise all commits.
 */
export class SignalSender {
  readonly #pool: pg.Pool
  readonly #log: Log
  readonly #unsentTexts = new Set<string>()
  #isSending = false

  /** @param pool pool of sessions whose commits do not wait for the disk */
  constructor(pool: pg.Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  /**
   * Sends a signal.
   * @param keys webhook endpoints that may have due deliveries; undefined: there may be any kind of work
   */
  readonly send = (keys?: readonly SignalKey[]): void => {
    if (!keys) this.#unsentTexts.add(ANY_WORK)
    for (const { comercio_id, modo, webhook } of keys ?? []) this.#unsentTexts.add(`${comercio_id},${modo},${webhook}`)
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#unsentTexts.size > 0) {
      const texts = this.#unsentTexts.delete(ANY_WORK) ? [ANY_WORK] : [...this.#unsentTexts].slice(0, KEYS_PER_SIGNAL)
      for (const text of texts) this.#unsentTexts.delete(text)
      await this.#pool
        .query({ name: 'senales.decir', text: 'select pg_notify($1, $2)', values: [CHANNEL, texts.join(' ')] })
        .catch((err: unknown) => this.#log.warn({ err }, 'NOTIFY failed'))
    }
    this.#isSending = false
  }
}

/** Receives the signals of other processes. It has a connection of its own, which is opened again when it is lost. */
export class SignalListener {
  readonly #url: string
  readonly #log: Log
  readonly #onSignal: (keys?: readonly SignalKey[]) => void
  #client: pg.Client | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /**
   * @param onSignal called with the webhook endpoints that may have due deliveries, or without argument if there may be
   *   any kind of work
   */
  constructor(url: string, log: Log, onSignal: (keys?: readonly SignalKey[]) => void) {
    this.#url = url
    this.#log = log
    this.#onSignal = onSignal
    void this.#connect()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#client?.end().catch(() => {})
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `guias señales pid=${process.pid}`,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    this.#client = client
    client.on('error', () => {})
    client.on('end', () => this.#reconnect())
    client.on('notification', ({ payload = '' }) => this.#onSignal(readSignal(payload)))
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      // Signals sent before `listen` are lost, so there may be any kind of work.
      this.#onSignal()
    } catch (err) {
      // A connection that `close` ends is not a fault.
      if (!this.#isClosed) this.#log.warn({ err }, 'LISTEN connection failed')
      await client.end().catch(() => {})
      this.#reconnect()
    }
  }

  #reconnect(): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#connect(), RECONNECT_PAUSE_MS)
  }
}

function readSignal(payload: string): SignalKey[] | undefined {
  if (payload === ANY_WORK) return undefined
  return payload.split(' ').map((text) => {
    const [comercio_id = '', modo, webhook = ''] = text.split(',')
    return { comercio_id, modo: modo as SignalKey['modo'], webhook }
  })
}
