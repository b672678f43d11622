import { base32AlAzar } from '../codigos/codigos.ts'
import type { bitacora } from '../contrato/generado/prisma/client.ts'
import type { LineaDeBitacora, Modo } from '../contrato/generado/tipos/index.ts'
import { type Consultar, type Db, type Fila, sentencia } from '../db.ts'
import { noDisponible } from '../errores.ts'
import type { Identidad, Identidades } from '../http/identidad.ts'
import { redAncha } from '../http/red.ts'
import type { Log } from '../log.ts'

/** A line of the audit record. */
export type FilaBitacora = Fila<
  bitacora,
  {
    modo: Modo | null
    quien_tipo: LineaDeBitacora['quien']['tipo']
    sobre_tipo: NonNullable<LineaDeBitacora['sobre']>['tipo'] | null
    antes: Valores | null
    despues: Valores | null
  }
>

/** Values of a line: neither personal data nor secrets, which are told by the names of their fields alone. */
type Valores = Readonly<Record<string, unknown>>

/** What a line says besides who and when. */
export interface Linea {
  /** The operation, or the console's order. */
  accion: string
  sobre?: readonly [tipo: NonNullable<FilaBitacora['sobre_tipo']>, identificador: string]
  /** Whose line it is; left out, it is the caller's own if that is a merchant, and else only operators see it. */
  de?: { comercio_id: string; modo: Modo | null }
  /** Names of what was changed or asked by, if no value of it may be told. */
  campos?: readonly string[]
  antes?: Valores
  despues?: Valores
}

type Autenticado = Identidad | Pick<Identidades['sesionDeRepartidor'], 'repartidor'>

/** Who asks, as an operation is told of a request. */
export interface Quien {
  identidad: Autenticado | null
  idSolicitud: string
  red: string
}

/** The console's `operador`, who is somebody with the database at hand. */
export const CONSOLA = 'consola'

type Autor = Pick<FilaBitacora, 'quien_tipo' | 'quien' | 'llave' | 'comercio_id' | 'modo'>

function autorDe(identidad: Autenticado | null): Autor {
  const nadie = { quien: null, llave: null, comercio_id: null, modo: null }
  if (!identidad) return { ...nadie, quien_tipo: 'desconocido' }
  if ('comercio' in identidad) {
    const { comercioId: comercio_id, modo, llave } = identidad
    return { quien_tipo: 'llave', quien: `llave_${llave}`, llave: null, comercio_id, modo }
  }
  if ('repartidor' in identidad) return { ...nadie, quien_tipo: 'repartidor', quien: identidad.repartidor }
  if (identidad.operador === CONSOLA) return { ...nadie, quien_tipo: 'consola' }
  return { ...nadie, quien_tipo: 'operador', quien: identidad.operador, llave: `llave_${identidad.llave}` }
}

type LineaEscrita = Omit<FilaBitacora, 'xid'>

/** SQL that writes lines. */
const INSERTAR = `insert into bitacora (id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos,
     antes, despues, id_solicitud, red, creado_en)
   select id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes, despues,
     id_solicitud, red, creado_en
   from jsonb_populate_recordset(null::bitacora, :lineas::jsonb)`

/** Writes the line of a change, wherever the change is made. */
const ANOTAR = sentencia<{ lineas: string }>('bitacora.anotar', INSERTAR, { alcance: 'donde_sea' })

/** A retry of lines that were written after all adds none. */
const ESCRIBIR = sentencia<{ lineas: string }>('bitacora.escribir', `${INSERTAR} on conflict (id) do nothing`)

/** How long a look waits to be written with others, in milliseconds: what a killed process loses of them at most. */
const ESPERA = 500
/** Looks that wait in one process, and how many of them one statement writes. */
const EN_ESPERA = 10_000
const LOTE = 1_000
/** How long refused sign-ins of one phone or network are one line, in milliseconds, and of how many it is known. */
const EPISODIO = 60_000
const EPISODIOS = 1_000

interface Partes {
  db: Pick<Db, 'consultar'>
  log: Log
  nuevoId: () => { id: string; creado_en: Date }
}

/** The audit record, as a process writes it. */
export class Bitacora {
  readonly #partes: Partes
  readonly #pendientes: LineaEscrita[] = []
  readonly #episodios = new Map<string, number>()
  #aviso: NodeJS.Timeout | undefined
  #enMarcha: Promise<void> = Promise.resolve()

  constructor(partes: Partes) {
    this.#partes = partes
  }

  /** Writes the line of a change, in the transaction that makes the change; what changes nothing has none. */
  async anotar(consultar: Consultar, quien: Quien, linea: Linea): Promise<void> {
    if (linea.campos?.length === 0) return
    await consultar(ANOTAR, { lineas: JSON.stringify([this.#lineaDe(quien, linea)]) })
  }

  /**
   * Takes the line of a look, which is written within half a second. Where so many wait that no more can be kept, the look
   * waits, too, and is refused if they can't be written.
   */
  async consultada(quien: Quien, linea: Linea): Promise<void> {
    if (this.#pendientes.length >= EN_ESPERA) await this.escribir()
    if (this.#pendientes.length >= EN_ESPERA)
      throw noDisponible('La bitácora no admite más líneas en este momento. Repita la solicitud en unos segundos.')
    this.#pendientes.push(this.#lineaDe(quien, linea))
    this.#aviso ??= setTimeout(() => void this.escribir(), ESPERA).unref()
  }

  /** Takes the line of something refused: of many at once from the same one, the first. */
  async rechazada(clave: string, quien: Quien, linea: Linea): Promise<void> {
    const ahora = this.#partes.nuevoId().creado_en.getTime()
    if ((this.#episodios.get(clave) ?? 0) > ahora - EPISODIO) return
    this.#episodios.delete(clave)
    if (this.#episodios.size >= EPISODIOS) this.#episodios.delete(this.#episodios.keys().next().value!)
    this.#episodios.set(clave, ahora)
    await this.consultada(quien, linea)
  }

  /** Writes what waits; what can't be written goes on waiting. */
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
      log.warn({ err, lineas: this.#pendientes.length }, 'audit lines wait')
      this.#aviso ??= setTimeout(() => void this.escribir(), ESPERA).unref()
    }
  }

  #lineaDe({ identidad, idSolicitud, red }: Quien, linea: Linea): LineaEscrita {
    const { accion, sobre, de = {}, campos, antes = null, despues = null } = linea
    const autor = autorDe(identidad)
    return {
      ...this.#partes.nuevoId(),
      linea: `bit_${base32AlAzar(12)}`,
      ...autor,
      ...de,
      accion,
      sobre_tipo: sobre?.[0] ?? null,
      sobre: sobre?.[1] ?? null,
      campos: [...(campos ?? Object.keys({ ...antes, ...despues }))],
      antes,
      despues,
      id_solicitud: autor.quien_tipo === 'consola' ? null : idSolicitud,
      red: redAncha(red),
    }
  }
}

/**
 * The columns of a row that changed: all their names, and the values of those that may be told. Of a row that is new,
 * `antes` is empty.
 */
export function cambios(
  antes: Valores,
  despues: Valores,
  decibles: readonly string[],
): Pick<Linea, 'campos' | 'antes' | 'despues'> {
  const campos = Object.keys(despues).filter((campo) => JSON.stringify(antes[campo]) !== JSON.stringify(despues[campo]))
  const dichos = (fila: Valores) =>
    Object.fromEntries(campos.filter((campo) => decibles.includes(campo)).map((campo) => [campo, fila[campo] ?? null]))
  return { campos, ...(Object.keys(antes).length > 0 && { antes: dichos(antes) }), despues: dichos(despues) }
}
