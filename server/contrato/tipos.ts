import type { Deps } from '../deps.ts'
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
  body: Datos<O> extends { body: infer B } ? B : Campo<Datos<O>, 'body'> | undefined
}

type Cuerpos<O extends OperationId> = Operaciones[O]['exitos'] & Operaciones[O]['errores']
type Cabeceras<O extends OperationId, S> = S extends keyof Operaciones[O]['cabeceras']
  ? Operaciones[O]['cabeceras'][S]
  : never

/** An answer that the contract declares: its status, its body and exactly its headers. Anything else doesn't compile. */
export type Respuesta<O extends OperationId> = {
  [S in keyof Cuerpos<O>]: { status: S; body: Cuerpos<O>[S] } & ([Cabeceras<O, S>] extends [never]
    ? { headers?: undefined }
    : { headers: Readonly<Record<Cabeceras<O, S> & string, string>> })
}[keyof Cuerpos<O>]

type Identidad<O extends OperationId> = Operaciones[O]['seguridad'] extends keyof Identidades
  ? Identidades[Operaciones[O]['seguridad']]
  : null

/** Everything a handler may use besides its input: the service's parts, who calls, and the request's id. */
export type Contexto<O extends OperationId> = Deps & { identidad: Identidad<O>; idSolicitud: string }

/** An operation. Returns a declared answer or throws a `Problema`. */
export type Handler<O extends OperationId> = (entrada: Entrada<O>, contexto: Contexto<O>) => Promise<Respuesta<O>>

/** Total over the contract: an operation without its handler is a compile error. */
export type Handlers = { readonly [O in OperationId]: Handler<O> }
