import type { Identities, Identity } from '../../api/http/identity.ts'
import { wideNetwork } from '../../api/http/network.ts'
import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { bitacora } from '../../generado/contrato/prisma/client.ts'
import type { LineaDeBitacora, Modo } from '../../generado/contrato/tipos/index.ts'
import { ALCANCES_DE_OPERACION } from '../../generado/contrato/vocabulario.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { unavailable } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'

/** Row of the audit record (table `bitacora`), called a line. */
export type FilaBitacora = RowOf<
  bitacora,
  {
    modo: Modo | null
    quien_tipo: LineaDeBitacora['quien']['tipo']
    sobre_tipo: NonNullable<LineaDeBitacora['sobre']>['tipo'] | null
    antes: Valores | null
    despues: Valores | null
  }
>

/** Column values that a line records. Personal data and secrets never appear; the line then names only their fields. */
type Valores = Readonly<Record<string, unknown>>

/** Content of an audit line except its author and time. */
export interface Anotacion {
  /** Name of the operation, or of the console command. */
  accion: string
  sobre?: readonly [tipo: NonNullable<FilaBitacora['sobre_tipo']>, identificador: string]
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
  antes?: Valores
  despues?: Valores
}

type Autenticado =
  | Identity
  | Pick<Identities['sesionDeRepartidor'], 'repartidor'>
  | Pick<Identities['sesionDePersona'], 'persona'>

/** Author of a request, with the fields that a handler receives. */
export interface Quien {
  identidad: Autenticado | null
  idSolicitud: string
  red: string
}

/** Value of `operador` for the console, whose user has direct access to the database. */
export const CONSOLA = 'consola'

/** The console as the author of a change: an operator with all scopes. */
export const DE_CONSOLA = {
  identidad: {
    operadorId: '',
    operador: CONSOLA,
    llave: '',
    alcances: ALCANCES_DE_OPERACION,
    rangos: [],
    demostracion: false,
  },
  idSolicitud: CONSOLA,
  red: '',
}

type Autor = Pick<FilaBitacora, 'quien_tipo' | 'quien' | 'llave' | 'comercio_id' | 'modo'>

function autorDe(identidad: Autenticado | null): Autor {
  const nadie = { quien: null, llave: null, comercio_id: null, modo: null }
  if (!identidad) return { ...nadie, quien_tipo: 'desconocido' }
  if ('persona' in identidad && identidad.persona !== undefined) {
    const suyo = 'comercio' in identidad ? { comercio_id: identidad.comercioId, modo: identidad.modo } : {}
    return { ...nadie, ...suyo, quien_tipo: 'persona', quien: identidad.persona }
  }
  if ('comercio' in identidad) {
    const { comercioId: comercio_id, modo, llave } = identidad
    return { quien_tipo: 'llave', quien: `llave_${llave}`, llave: null, comercio_id, modo }
  }
  if ('repartidor' in identidad) return { ...nadie, quien_tipo: 'repartidor', quien: identidad.repartidor }
  if (!('operador' in identidad)) return { ...nadie, quien_tipo: 'persona', quien: identidad.persona }
  if (identidad.operador === CONSOLA) return { ...nadie, quien_tipo: 'consola' }
  return { ...nadie, quien_tipo: 'operador', quien: identidad.operador, llave: `llave_${identidad.llave}` }
}

type LineaEscrita = Omit<FilaBitacora, 'xid'>

/** SQL that inserts lines from a JSON array. */
const INSERTAR = `insert into bitacora (id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos,
     antes, despues, id_solicitud, red, creado_en)
   select id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes, despues,
     id_solicitud, red, creado_en
   from jsonb_populate_recordset(null::bitacora, :lineas::jsonb)`

/** Inserts the audit line of a change, in the database in which the change is made. */
const ANOTAR = statement<{ lineas: string }>('bitacora.anotar', INSERTAR, { alcance: 'donde_sea' })

/** Inserts waiting lines. A retry skips the lines that a previous attempt has already inserted. */
const ESCRIBIR = statement<{ lineas: string }>('bitacora.escribir', `${INSERTAR} on conflict (id) do nothing`)

/**
 * Time in milliseconds that the line of a read access waits for a batch insert. A killed process loses at most the
 * lines of this time.
 */
const ESPERA = 500
/** `EN_ESPERA`: maximum number of waiting lines per process. `LOTE`: maximum number of lines per insert. */
const EN_ESPERA = 10_000
const LOTE = 1_000
/**
 * `EPISODIO`: time in milliseconds in which refused sign-ins of one phone or network produce a single line.
 * `EPISODIOS`: maximum number of phones and networks that a process remembers.
 */
const EPISODIO = 60_000
const EPISODIOS = 1_000

interface Partes {
  db: Pick<Db, 'consultar'>
  log: Log
  nuevoId: () => { id: string; creado_en: Date }
}

/** Writer of the audit record in one process. */
export class Bitacora {
  readonly #partes: Partes
  readonly #pendientes: LineaEscrita[] = []
  readonly #episodios = new Map<string, number>()
  #aviso: NodeJS.Timeout | undefined
  #enMarcha: Promise<void> = Promise.resolve()

  constructor(partes: Partes) {
    this.#partes = partes
  }

  /**
   * Writes the line of a change in the transaction of the change. Skips a line whose `campos` is empty, because nothing
   * changed.
   */
  async anotar(consultar: Query, quien: Quien, linea: Anotacion): Promise<void> {
    if (linea.campos?.length !== 0) await this.anotarVarias(consultar, quien, [linea])
  }

  /** Writes the lines of several changes in their transaction, with one statement. */
  async anotarVarias(consultar: Query, quien: Quien, lineas: readonly Anotacion[]): Promise<void> {
    if (lineas.length === 0) return
    await consultar(ANOTAR, { lineas: JSON.stringify(lineas.map((linea) => this.#lineaDe(quien, linea))) })
  }

  /**
   * Queues the line of a read access, which is written within half a second. If the queue is full, first waits for a
   * write.
   * @throws Problema 503 if the queue is still full after the write
   */
  async consultada(quien: Quien, linea: Anotacion): Promise<void> {
    if (this.#pendientes.length >= EN_ESPERA) await this.escribir()
    if (this.#pendientes.length >= EN_ESPERA)
      throw unavailable('La bitácora no admite más líneas en este momento. Repita la solicitud en unos segundos.')
    this.#pendientes.push(this.#lineaDe(quien, linea))
    this.#aviso ??= setTimeout(() => void this.escribir(), ESPERA).unref()
  }

  /** Queues the line of a refused request. Repeated requests with the same `clave` within one minute add no line. */
  async rechazada(clave: string, quien: Quien, linea: Anotacion): Promise<void> {
    const ahora = this.#partes.nuevoId().creado_en.getTime()
    if ((this.#episodios.get(clave) ?? 0) > ahora - EPISODIO) return
    this.#episodios.delete(clave)
    if (this.#episodios.size >= EPISODIOS) this.#episodios.delete(this.#episodios.keys().next().value!)
    this.#episodios.set(clave, ahora)
    await this.consultada(quien, linea)
  }

  /** Writes the waiting lines. Lines that cannot be written stay in the queue for a retry. */
  escribir(): Promise<void> {
    this.#enMarcha = this.#enMarcha.then(() => this.#vaciar())
    return this.#enMarcha
  }

  async #vaciar(): Promise<void> {
    clearTimeout(this.#aviso)
    this.#aviso = undefined
    const { db, log } = this.#partes
    try {
      while (this.#pendientes.length > 0) {
        const lote = this.#pendientes.slice(0, LOTE)
        await db.consultar(ESCRIBIR, { lineas: JSON.stringify(lote) })
        this.#pendientes.splice(0, lote.length)
      }
    } catch (err) {
      log.warn({ err, lineas: this.#pendientes.length }, 'audit lines not written; retrying')
      this.#aviso ??= setTimeout(() => void this.escribir(), ESPERA).unref()
    }
  }

  #lineaDe({ identidad, idSolicitud, red }: Quien, linea: Anotacion): LineaEscrita {
    const { accion, sobre, de = {}, campos, antes = null, despues = null } = linea
    const autor = autorDe(identidad)
    return {
      ...this.#partes.nuevoId(),
      linea: `bit_${randomBase32(12)}`,
      ...autor,
      ...de,
      accion,
      sobre_tipo: sobre?.[0] ?? null,
      sobre: sobre?.[1] ?? null,
      campos: [...(campos ?? Object.keys({ ...antes, ...despues }))],
      antes,
      despues,
      id_solicitud: autor.quien_tipo === 'consola' ? null : idSolicitud,
      red: wideNetwork(red),
    }
  }
}

/**
 * Compares two versions of a row.
 * @param antes the old version; empty for a new row, and then the result has no `antes`
 * @param decibles columns whose values may appear in the audit record
 * @returns the names of all changed columns, and the old and new values of those in `decibles`
 */
export function cambios(
  antes: Valores,
  despues: Valores,
  decibles: readonly string[],
): Pick<Anotacion, 'campos' | 'antes' | 'despues'> {
  const campos = Object.keys(despues).filter((campo) => JSON.stringify(antes[campo]) !== JSON.stringify(despues[campo]))
  const dichos = (fila: Valores) =>
    Object.fromEntries(campos.filter((campo) => decibles.includes(campo)).map((campo) => [campo, fila[campo] ?? null]))
  return { campos, ...(Object.keys(antes).length > 0 && { antes: dichos(antes) }), despues: dichos(despues) }
}
