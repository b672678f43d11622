import type { Conexiones } from './conexiones.ts'
import { type Consultar, consultarCon, type Db, sentencia } from './db.ts'
import { traducirError } from './errores.ts'
import type { Log } from './log.ts'

/** What is read of either the database or a replica of it. */
export interface Lectura {
  /** May give what was true up to five seconds ago. */
  readonly consultar: Consultar
}

/** How far behind a replica may be and still be read, in milliseconds. */
const ATRASO = 5_000
/** How long it is believed to be as it was when it was looked at, in milliseconds. */
const VIGENCIA = 1_000
/** How long a replica that failed is left alone, in milliseconds. */
const DESCANSO = 5_000

/** Where the database is in what it writes. */
const ESCRITO = sentencia<object, { lsn: string }>('replica.escrito', 'select pg_current_wal_lsn()::text as lsn')
/** How far a replica has come; a server that is none has all. */
const REHECHO = sentencia<object, { lsn: string }>(
  'replica.rehecho',
  'select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as lsn',
)

/** A position `16/B374D848` as a number. */
function posicion(lsn: string): bigint {
  const [alta, baja] = lsn.split('/')
  return BigInt(`0x${alta}${baja!.padStart(8, '0')}`)
}

/**
 * A streaming replica, read while it is near enough. It is looked at when it is asked for, in the background and once a second
 * at most: what the database had written so long ago and the replica has done again says how far behind it is, whatever the
 * clocks say and however little is written.
 */
export class Replica implements Lectura {
  readonly #primaria: Db
  readonly #consultar: Consultar
  readonly #log: Log
  #escritos: { en: number; lsn: bigint }[] = []
  #mirada_en = Number.NEGATIVE_INFINITY
  #mirando = false
  /** Until when what was seen holds; before it is seen it doesn't. */
  #sirve_hasta = Number.NEGATIVE_INFINITY
  #descansa_hasta = Number.NEGATIVE_INFINITY

  constructor(primaria: Db, conexiones: Conexiones, log: Log) {
    this.#primaria = primaria
    this.#consultar = consultarCon(conexiones)
    this.#log = log
  }

  readonly consultar: Consultar = async (sentencia, ...valores) => {
    if (!this.#sirve()) return this.#primaria.consultar(sentencia, ...valores)
    try {
      return await this.#consultar(sentencia, ...valores)
    } catch (err) {
      if (traducirError(err).codigo !== 'no_disponible') throw err
      this.#descansar(err)
      return this.#primaria.consultar(sentencia, ...valores)
    }
  }

  #sirve(): boolean {
    const ahora = performance.now()
    if (ahora < this.#descansa_hasta) return false
    if (ahora - this.#mirada_en > VIGENCIA && !this.#mirando) void this.#mirar()
    return ahora < this.#sirve_hasta
  }

  async #mirar(): Promise<void> {
    this.#mirando = true
    this.#mirada_en = performance.now()
    try {
      const en = performance.now()
      const [escrito] = await this.#primaria.consultar(ESCRITO)
      this.#escritos.push({ en, lsn: posicion(escrito!.lsn) })
      const [rehecho] = await this.#consultar(REHECHO)
      this.#juzgar(posicion(rehecho!.lsn))
    } catch (err) {
      this.#descansar(err)
    } finally {
      this.#mirando = false
    }
  }

  #juzgar(rehecho: bigint): void {
    const ultimo = this.#escritos.findLast(({ lsn }) => lsn <= rehecho)
    const ahora = performance.now()
    this.#escritos = this.#escritos.filter((uno) => uno === ultimo || uno.en > ahora - 2 * ATRASO)
    // It was that near when it was looked at, and may be as far as the bound until it is looked at again.
    this.#sirve_hasta = ultimo ? ultimo.en + ATRASO : Number.NEGATIVE_INFINITY
  }

  #descansar(err: unknown): void {
    this.#log.warn({ err }, 'replica not read')
    this.#sirve_hasta = Number.NEGATIVE_INFINITY
    this.#descansa_hasta = performance.now() + DESCANSO
  }
}
