import pg from 'pg'
import type { Log } from '../log.ts'
import type { ClaveDeWebhook } from '../webhooks/webhook.ts'

// What one process tells the others after a commit, so that they need not look all the time. A signal may be lost: what is
// due is found without it, only later.

const CANAL = 'guias_trabajo'
/** Endpoints in one signal: PostgreSQL takes less than 8,000 bytes. */
const POR_SENAL = 80
/** How long a listener that lost its connection waits before it makes another one, in milliseconds. */
const REPOSO = 1_000

/** There may be pending rows of any kind. */
const CUALQUIERA = ''

/**
 * Tells other processes that rows of pending work were committed. What comes while a signal is on its way goes together
 * with the next one, in a transaction of its own: inside the writing ones it would hold up everybody's commits.
 */
export class Emisor {
  readonly #pool: pg.Pool
  readonly #log: Log
  readonly #porDecir = new Set<string>()
  #diciendo = false

  /** @param pool of sessions whose commits don't wait for the disk */
  constructor(pool: pg.Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  /** @param claves the endpoints that may have deliveries due; undefined: there may be any kind of work */
  readonly senalar = (claves?: readonly ClaveDeWebhook[]): void => {
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
        .catch((err: unknown) => this.#log.warn({ err }, 'signal'))
    }
    this.#diciendo = false
  }
}

/** Hears what other processes tell, on a connection of its own that is made again when it is lost. */
export class Oyente {
  readonly #url: string
  readonly #log: Log
  readonly #alOir: (claves?: readonly ClaveDeWebhook[]) => void
  #cliente: pg.Client | undefined
  #temporizador: NodeJS.Timeout | undefined
  #cerrado = false

  /** @param alOir is told which endpoints may have deliveries due; without them, that there may be any kind of work */
  constructor(url: string, log: Log, alOir: (claves?: readonly ClaveDeWebhook[]) => void) {
    this.#url = url
    this.#log = log
    this.#alOir = alOir
    void this.#conectar()
  }

  async cerrar(): Promise<void> {
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
      // What was told before is only to be seen now.
      this.#alOir()
    } catch (err) {
      // Cut short by its own end, it has nothing to complain of.
      if (!this.#cerrado) this.#log.warn({ err }, 'signals')
      await cliente.end().catch(() => {})
      this.#repetir()
    }
  }

  #repetir(): void {
    clearTimeout(this.#temporizador)
    if (!this.#cerrado) this.#temporizador = setTimeout(() => void this.#conectar(), REPOSO)
  }
}

function leerSenal(payload: string): ClaveDeWebhook[] | undefined {
  if (payload === CUALQUIERA) return undefined
  return payload.split(' ').map((texto) => {
    const [comercio_id = '', modo, webhook = ''] = texto.split(',')
    return { comercio_id, modo: modo as ClaveDeWebhook['modo'], webhook }
  })
}
