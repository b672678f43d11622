import { randomUUID } from 'node:crypto'
import type { Log } from '../../platform/log.ts'
import { wideNetwork } from './network.ts'

/** Time between two log lines about the same refusals, in milliseconds. */
const INTERVAL = 10_000
/** Maximum number of different refusals counted separately in one interval; all others share one line. */
const MAX_LINES = 1_000

/** Refused request, with the fields by which refusals are counted separately. */
interface Refused {
  /** Network of the request, as `networkOf` writes it. */
  red: string
  /** Reason of the refusal, as a constant text for the log. */
  motivo: string
  /** Caller, if the request had a valid credential. */
  quien?: Readonly<Record<string, string>>
}

interface Line {
  fields: object
  id: string
  count: number
}

/**
 * Logs refusals as counts, by network, reason and caller. The first refusal gets a line at once; further refusals get
 * one line every 10 s. A flood of 4,000 refusals a second would otherwise write 66 GB a day.
 */
export class RefusalLog {
  readonly #log: Log
  #lines = new Map<string, Line>()
  #timer: NodeJS.Timeout | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * Counts a refusal.
   * @returns id (UUID) of the log line that will include the refusal
   */
  note({ red, motivo, quien = {} }: Refused): string {
    const wide = wideNetwork(red)
    const key = `${motivo} ${wide} ${Object.values(quien).join(' ')}`
    const known = this.#lines.get(key)
    if (known) {
      known.count++
      return known.id
    }
    this.#timer ??= setInterval(() => this.#write(), INTERVAL).unref()
    if (this.#lines.size >= MAX_LINES) {
      const others = this.#lines.get('') ?? { fields: { motivo: 'others' }, id: randomUUID(), count: 0 }
      others.count++
      this.#lines.set('', others)
      return others.id
    }
    const line = { fields: { motivo, red: wide, ...quien }, id: randomUUID(), count: 0 }
    this.#lines.set(key, line)
    this.#tell(line, 1)
    return line.id
  }

  /** Writes the pending counts and stops the timer. */
  close(): void {
    this.#write()
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#lines.clear()
  }

  #write(): void {
    if (this.#lines.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    const lines = this.#lines
    this.#lines = new Map()
    for (const [key, line] of lines) {
      if (line.count === 0) continue
      this.#tell(line, line.count)
      this.#lines.set(key, { ...line, id: randomUUID(), count: 0 })
    }
  }

  #tell({ fields, id }: Line, solicitudes: number): void {
    this.#log.info({ ...fields, status: 429, solicitudes, id_solicitud: id }, 'requests refused')
  }
}
