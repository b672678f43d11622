import type { Readable } from 'node:stream'
import type { DepsDeOperacion } from '../deps.ts'
import type { Flujo } from '../http/flujo.ts'
import type { Identidades } from '../http/identidad.ts'
import type { OperationId } from './contrato.ts'
import type { Operaciones } from './generado/operaciones.ts'

type Datos<O extends OperationId> = Operaciones[O]['data']
type Campo<D, C extends string> = D extends { [K in C]?: infer V } ? (V extends undefined ? undefined : V) : undefined

type Identidad<O extends OperationId> = Operaciones[O]['seguridad'] extends keyof Identidades
  ? Identidades[Operaciones[O]['seguridad']]
  : null

/** What a handler is told about one request: its parts, which the contract has validated, and who sent it. */
export interface Entrada<O extends OperationId> {
  path: Campo<Datos<O>, 'path'>
  query: Campo<Datos<O>, 'query'>
  /** Declared header parameters, by their lower-case names; absent where there are none. */
  headers?: Campo<Datos<O>, 'headers'>
  /** Of an operation that reads it itself, the stream, which ends with a `Problema` where the limit is passed. */
  body: Operaciones[O]['enFlujo'] extends true
    ? Readable
    : Datos<O> extends { body: infer B }
      ? B
      : Campo<Datos<O>, 'body'> | undefined
  identidad: Identidad<O>
  /** What a browser sends along by itself; empty where there is nothing. */
  cookie: string
  /** The request's id, as in `X-Request-Id`. */
  idSolicitud: string
  /** The network that the request came from: limits count by it. */
  red: string
  /**
   * Whether the request is a HEAD; an operation that sends somebody elsewhere must know, for Node only drops the body.
   */
  soloCabeceras: boolean
  /** Reports whether a proxy handed the request on. */
  reenviada: () => boolean
  /** Makes a signal that aborts when whoever asked goes away before the answer is out. */
  alAbandonar: () => AbortSignal
}

type Cuerpos<O extends OperationId> = Operaciones[O]['exitos'] & Operaciones[O]['errores']
type Cabeceras<O extends OperationId, S> = S extends keyof Operaciones[O]['cabeceras']
  ? Operaciones[O]['cabeceras'][S]
  : never

/** What the generator calls a Blob is a stream here; what it leaves out (a 304) has no body. */
type Cuerpo<O extends OperationId, S> = S extends keyof Cuerpos<O>
  ? Cuerpos<O>[S] extends Blob
    ? Flujo
    : Cuerpos<O>[S]
  : undefined

/**
 * An answer that the contract declares: its status, its body and exactly its headers. Anything else doesn't compile.
 */
export type Respuesta<O extends OperationId> = {
  [S in keyof Operaciones[O]['cabeceras']]: { status: S; body: Cuerpo<O, S> } & ([Cabeceras<O, S>] extends [never]
    ? { headers?: undefined }
    : { headers: Readonly<Record<Cabeceras<O, S> & string, string | string[]>> })
}[keyof Operaciones[O]['cabeceras']]

/** An operation: from one request, with the service's parts, to a declared answer or a thrown `Problema`. */
export type Handler<O extends OperationId> = (entrada: Entrada<O>, deps: DepsDeOperacion) => Promise<Respuesta<O>>

/** Total over the contract: an operation without its handler is a compile error. */
export type Handlers = { readonly [O in OperationId]: Handler<O> }
