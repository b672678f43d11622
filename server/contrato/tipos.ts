import type { Readable } from 'node:stream'
import type { Deps } from '../deps.ts'
import type { Flujo } from '../http/flujo.ts'
import type { Identidades } from '../http/identidad.ts'
import type { OperationId } from './contrato.ts'
import type { Operaciones } from './generado/operaciones.ts'

type Datos<O extends OperationId> = Operaciones[O]['data']
type Campo<D, C extends string> = D extends { [K in C]?: infer V } ? (V extends undefined ? undefined : V) : undefined

/** What the contract promises the handler about the request: it has been validated. */
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

/** An answer that the contract declares: its status, its body and exactly its headers. Anything else doesn't compile. */
export type Respuesta<O extends OperationId> = {
  [S in keyof Operaciones[O]['cabeceras']]: { status: S; body: Cuerpo<O, S> } & ([Cabeceras<O, S>] extends [never]
    ? { headers?: undefined }
    : { headers: Readonly<Record<Cabeceras<O, S> & string, string>> })
}[keyof Operaciones[O]['cabeceras']]

type Identidad<O extends OperationId> = Operaciones[O]['seguridad'] extends keyof Identidades
  ? Identidades[Operaciones[O]['seguridad']]
  : null

/** Everything a handler may use besides its input: the service's parts, who calls, and what is known of the request. */
export type Contexto<O extends OperationId> = Deps & {
  identidad: Identidad<O>
  idSolicitud: string
  /** The caller's network, for limits. */
  red: string
  /** HEAD gets what GET would, without its body; what it must know is who sends somebody elsewhere. */
  soloCabeceras: boolean
}

/** An operation. Returns a declared answer or throws a `Problema`. */
export type Handler<O extends OperationId> = (entrada: Entrada<O>, contexto: Contexto<O>) => Promise<Respuesta<O>>

/** Total over the contract: an operation without its handler is a compile error. */
export type Handlers = { readonly [O in OperationId]: Handler<O> }
