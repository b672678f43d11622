import { type Db, statement } from '../../data/db.ts'
import type { Log } from '../../platform/log.ts'
import { type FilaLlave, vencePronto } from './llave.ts'

/**
 * Minimum time between two stored uses of a key (`CADA`), and time for which uses are collected before they are written
 * (`ESPERA`), both in milliseconds.
 */
const CADA = 60_000
const ESPERA = 1_000

const ANOTAR = statement<{ ids: readonly string[]; instantes: readonly Date[] }>(
  'llaves.anotarUsos',
  `update llave l set usado_en = u.usado_en
   from unnest(:ids::text[], :instantes::timestamptz[]) as u(id, usado_en)
   where l.id = u.id and (l.usado_en is null or u.usado_en - l.usado_en >= interval '${CADA / 1_000} seconds')`,
)

/**
 * Stores when keys were last used, and logs keys that are used although they expire soon. `anotar` is called when a
 * key's row was read, at most every 0.4 s. Requests do not wait for the write, and the check itself needs no query.
 */
export class Usos {
  readonly #db: Pick<Db, 'consultar'>
  readonly #log: Log
  readonly #pendientes = new Map<string, Date>()
  readonly #avisadas = new Set<string>()
  #aviso: NodeJS.Timeout | undefined

  constructor(db: Pick<Db, 'consultar'>, log: Log) {
    this.#db = db
    this.#log = log
  }

  /**
   * Notes a use of a key for the next write. Logs a warning, once for each key and process, if the key expires within
   * seven days.
   */
  anotar(
    { id, dueno, vence_en, usado_en }: Pick<FilaLlave, 'id' | 'dueno' | 'vence_en' | 'usado_en'>,
    ahora: Date,
  ): void {
    if (vencePronto(vence_en, ahora) && !this.#avisadas.has(id)) {
      this.#avisadas.add(id)
      this.#log.warn({ llave: `llave_${id}`, dueno, vence_en }, 'key ends soon')
    }
    if (usado_en && Math.abs(ahora.getTime() - usado_en.getTime()) < CADA) return
    this.#pendientes.set(id, ahora)
    this.#aviso ??= setTimeout(() => void this.escribir(), ESPERA).unref()
  }

  /**
   * Writes the collected uses. Uses that cannot be written are lost, but the next use of the key stores nearly the same
   * time.
   */
  async escribir(): Promise<void> {
    clearTimeout(this.#aviso)
    this.#aviso = undefined
    if (this.#pendientes.size === 0) return
    const usos = [...this.#pendientes].sort(([a], [b]) => (a < b ? -1 : 1))
    this.#pendientes.clear()
    const valores = { ids: usos.map(([id]) => id), instantes: usos.map(([, instante]) => instante) }
    await this.#db.consultar(ANOTAR, valores).catch((err: unknown) => this.#log.warn({ err }, 'key uses lost'))
  }
}
