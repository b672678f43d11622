import type { Identities, Identity } from '../../api/http/identity.ts'
import { wideNetwork } from '../../api/http/network.ts'
import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { bitacora } from '../../generated/contract/prisma/client.ts'
import type { LineaDeBitacora, Modo } from '../../generated/contract/types/index.ts'
import { ALCANCES_DE_OPERACION } from '../../generated/contract/vocabulary.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { unavailable } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'

/** Row of the audit record (table `bitacora`), called a line. */
export type BitacoraRow = RowOf<
  bitacora,
  {
    modo: Modo | null
    quien_tipo: LineaDeBitacora['quien']['tipo']
    sobre_tipo: NonNullable<LineaDeBitacora['sobre']>['tipo'] | null
    antes: AuditValues | null
    despues: AuditValues | null
  }
>

/** Column values that a line records. Personal data and secrets never appear; the line then names only their fields. */
type AuditValues = Readonly<Record<string, unknown>>

/** Content of an audit line except its author and time. */
export interface AuditEntry {
  /** Name of the operation, or of the console command. */
  accion: string
  sobre?: readonly [tipo: NonNullable<BitacoraRow['sobre_tipo']>, identificador: string]
  /**
   * Merchant and mode whose audit record contains the line. Default: the calling merchant. A line of any other caller
   * is visible only to operators.
   */
  de?: { comercio_id: string; modo: Modo | null }
  /**
   * Names of the changed or queried fields. Default: the keys of `antes` and `despues`. Given explicitly only for
   * fields whose values must not be recorded.
   */
  campos?: readonly string[]
  antes?: AuditValues
  despues?: AuditValues
}

type Authenticated =
  | Identity
  | Pick<Identities['sesionDeRepartidor'], 'repartidor'>
  | Pick<Identities['sesionDePersona'], 'persona'>

/** Author of a request, with the fields that a handler receives. */
export interface Actor {
  identity: Authenticated | null
  requestId: string
  red: string
}

/** Person who is the author of a request. */
export type PersonaActor = Actor & { identity: Identities['sesionDePersona'] }

/** Value of `operador` for the console, whose user has direct access to the database. */
export const CONSOLE = 'consola'

/** The console as the author of a change: an operator with all scopes. */
export const CONSOLE_ACTOR = {
  identity: {
    operadorId: '',
    operador: CONSOLE,
    llave: '',
    alcances: ALCANCES_DE_OPERACION,
    ranges: [],
    demostracion: false,
  },
  requestId: CONSOLE,
  red: '',
}

type Autor = Pick<BitacoraRow, 'quien_tipo' | 'quien' | 'llave' | 'comercio_id' | 'modo'>

function authorOf(identity: Authenticated | null): Autor {
  const nadie = { quien: null, llave: null, comercio_id: null, modo: null }
  if (!identity) return { ...nadie, quien_tipo: 'desconocido' }
  if ('persona' in identity && identity.persona !== undefined) {
    const merchantFields = 'comercio' in identity ? { comercio_id: identity.comercioId, modo: identity.modo } : {}
    return { ...nadie, ...merchantFields, quien_tipo: 'persona', quien: identity.persona }
  }
  if ('comercio' in identity) {
    const { comercioId: comercio_id, modo, llave } = identity
    return { quien_tipo: 'llave', quien: `llave_${llave}`, llave: null, comercio_id, modo }
  }
  if ('repartidor' in identity) return { ...nadie, quien_tipo: 'repartidor', quien: identity.repartidor }
  if (!('operador' in identity)) return { ...nadie, quien_tipo: 'persona', quien: identity.persona }
  if (identity.operador === CONSOLE) return { ...nadie, quien_tipo: 'consola' }
  return { ...nadie, quien_tipo: 'operador', quien: identity.operador, llave: `llave_${identity.llave}` }
}

type WrittenLine = Omit<BitacoraRow, 'xid'>

/** SQL that inserts lines from a JSON array. */
const INSERT = `insert into bitacora (id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos,
     antes, despues, id_solicitud, red, creado_en)
   select id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes, despues,
     id_solicitud, red, creado_en
   from jsonb_populate_recordset(null::bitacora, :lineas::jsonb)`

/** Inserts the audit line of a change, in the database in which the change is made. */
const RECORD = statement<{ lineas: string }>('bitacora.record', 'anywhere', INSERT)

/** Inserts waiting lines. A retry skips the lines that a previous attempt has already inserted. */
const WRITE = statement<{ lineas: string }>('bitacora.write', 'central', `${INSERT} on conflict (id) do nothing`)

/**
 * Time in milliseconds that the line of a read access waits for a batch insert. A killed process loses at most the
 * lines of this time.
 */
const DELAY_MS = 500
/** `MAX_WAITING`: maximum number of waiting lines per process. `MAX_LINES_PER_INSERT`: maximum number of lines per insert. */
const MAX_WAITING = 10_000
const MAX_LINES_PER_INSERT = 1_000
/**
 * `EPISODE_MS`: time in milliseconds in which refused sign-ins of one phone or network produce a single line.
 * `MAX_EPISODES`: maximum number of phones and networks that a process remembers.
 */
const EPISODE_MS = MINUTE_MS
const MAX_EPISODES = 1_000

interface BitacoraDeps {
  db: Pick<Db, 'query'>
  log: Log
  newId: () => { id: string; creado_en: Date }
}

/** Writer of the audit record in one process. */
export class Bitacora {
  readonly #deps: BitacoraDeps
  readonly #pending: WrittenLine[] = []
  readonly #episodes = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(deps: BitacoraDeps) {
    this.#deps = deps
  }

  /**
   * Writes the line of a change in the transaction of the change. Skips a line whose `campos` is empty, because nothing
   * changed.
   */
  async record(query: Query, actor: Actor, line: AuditEntry): Promise<void> {
    if (line.campos?.length !== 0) await this.recordAll(query, actor, [line])
  }

  /** Writes the lines of several changes in their transaction, with one statement. */
  async recordAll(query: Query, actor: Actor, lines: readonly AuditEntry[]): Promise<void> {
    if (lines.length === 0) return
    await query(RECORD, { lineas: JSON.stringify(lines.map((line) => this.#toLine(actor, line))) })
  }

  /**
   * Queues the line of a read access, which is written within half a second. If the queue is full, first waits for a
   * write.
   * @throws Problema 503 if the queue is still full after the write
   */
  async recordRead(actor: Actor, line: AuditEntry): Promise<void> {
    if (this.#pending.length >= MAX_WAITING) await this.write()
    if (this.#pending.length >= MAX_WAITING)
      throw unavailable('La bitácora no admite más líneas en este momento. Repita la solicitud en unos segundos.')
    this.#pending.push(this.#toLine(actor, line))
    this.#timer ??= setTimeout(() => void this.write(), DELAY_MS).unref()
  }

  /** Queues the line of a refused request. Repeated requests with the same `key` within one minute add no line. */
  async refused(key: string, actor: Actor, line: AuditEntry): Promise<void> {
    const now = this.#deps.newId().creado_en.getTime()
    if ((this.#episodes.get(key) ?? 0) > now - EPISODE_MS) return
    this.#episodes.delete(key)
    if (this.#episodes.size >= MAX_EPISODES) this.#episodes.delete(this.#episodes.keys().next().value!)
    this.#episodes.set(key, now)
    await this.recordRead(actor, line)
  }

  /** Writes the waiting lines. Lines that cannot be written stay in the queue for a retry. */
  write(): Promise<void> {
    this.#running = this.#running.then(() => this.#flush())
    return this.#running
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { db, log } = this.#deps
    try {
      while (this.#pending.length > 0) {
        const lote = this.#pending.slice(0, MAX_LINES_PER_INSERT)
        await db.query(WRITE, { lineas: JSON.stringify(lote) })
        this.#pending.splice(0, lote.length)
      }
    } catch (err) {
      log.warn({ err, lineas: this.#pending.length }, 'audit lines not written; retrying')
      this.#timer ??= setTimeout(() => void this.write(), DELAY_MS).unref()
    }
  }

  #toLine({ identity, requestId, red }: Actor, line: AuditEntry): WrittenLine {
    const { accion, sobre, de = {}, campos, antes = null, despues = null } = line
    const autor = authorOf(identity)
    return {
      ...this.#deps.newId(),
      linea: `bit_${randomBase32(12)}`,
      ...autor,
      ...de,
      accion,
      sobre_tipo: sobre?.[0] ?? null,
      sobre: sobre?.[1] ?? null,
      campos: [...(campos ?? Object.keys({ ...antes, ...despues }))],
      antes,
      despues,
      id_solicitud: autor.quien_tipo === 'consola' ? null : requestId,
      red: wideNetwork(red),
    }
  }
}
