import type { Readable } from 'node:stream'
import type { Operaciones } from '../../generated/contract/operations.ts'
import type { Identities } from '../http/identity.ts'
import type { ByteStream } from '../http/stream.ts'
import type { OperationId } from './contract.ts'

type OperationData<O extends OperationId> = Operaciones[O]['data']
type Field<D, C extends string> = D extends { [K in C]?: infer V } ? (V extends undefined ? undefined : V) : undefined

/** Headers by their names in lower case, as Node has them. */
type LowercaseKeys<H> = { [N in keyof H as N extends string ? Lowercase<N> : never]: H[N] }

type IdentityOf<O extends OperationId> = Operaciones[O]['seguridad'] extends keyof Identities
  ? Identities[Operaciones[O]['seguridad']]
  : null

/** Input of a handler: the parts of a request, which the contract has validated, and the caller. */
export interface HandlerInput<O extends OperationId> {
  path: Field<OperationData<O>, 'path'>
  query: Field<OperationData<O>, 'query'>
  /** Declared header parameters, by their lower-case names. */
  headers: LowercaseKeys<Field<OperationData<O>, 'headers'>>
  /** Validated body. A streamed operation gets a stream instead, which fails with a `Problema` above the limit. */
  body: Operaciones[O]['enFlujo'] extends true
    ? Readable
    : OperationData<O> extends { body: infer B }
      ? B
      : Field<OperationData<O>, 'body'> | undefined
  /** Places of the body's members that were null and count as absent, as JSON Pointers; undefined without any. */
  nulls?: readonly string[] | undefined
  identity: IdentityOf<O>
  /** `Cookie` header of the request; empty without cookies. */
  cookie: string
  /** `User-Agent` header of the request; empty without one. */
  userAgent: string
  /** Id of the request, as in `X-Request-Id`. */
  requestId: string
  /** Network of the client, by which the limits count requests. */
  red: string
  /**
   * True for a HEAD request. Node only drops the body, so an operation that redirects the client must know the method.
   */
  headersOnly: boolean
  /**
   * Returns the one of these media types that the client's `Accept` prefers, with their quality values; the first one if
   * it has no preference, false if it admits none.
   */
  accepts: (types: string[]) => string | false
  /** Reports whether a proxy forwarded the request. */
  isForwarded: () => boolean
  /** Returns a signal that aborts if the client disconnects before the answer is sent. */
  abandonSignal: () => AbortSignal
}

type Bodies<O extends OperationId> = Operaciones[O]['exitos'] & Operaciones[O]['errores']
type HeadersFor<O extends OperationId, S> = S extends keyof Operaciones[O]['cabeceras']
  ? Operaciones[O]['cabeceras'][S]
  : never

/**
 * Type of the body of an answer with status `S`. A `Blob` of the generator is a stream here. A status that the
 * generator leaves out (304) has no body.
 */
type BodyFor<O extends OperationId, S> = S extends keyof Bodies<O> ? StreamOr<Bodies<O>[S]> : undefined
type StreamOr<C> = C extends Blob ? ByteStream : C

/** Bytes in place of the JSON of an answer 200 that the contract also declares with other media types. */
type InsteadOfJson<O extends OperationId, S> = S extends 200
  ? Operaciones[O]['oBytes'] extends true
    ? ByteStream
    : never
  : never

/** Names of the headers that some answers of a status have; the generator marks them with `?`. */
type OptionalNames<C> = C extends `${infer Nombre}?` ? Nombre : never

/** Headers of an answer: all that its status declares, and any of the optional ones. */
type HeaderRecord<C extends string> = Readonly<
  Record<Exclude<C, `${string}?`>, string | string[]> & Partial<Record<OptionalNames<C>, string | string[]>>
>

/**
 * Answer that the contract declares: its status, its body and exactly its headers. Any other answer is a compile error.
 */
export type DeclaredResponse<O extends OperationId> = {
  [S in keyof Operaciones[O]['cabeceras']]: { status: S; body: BodyFor<O, S> | InsteadOfJson<O, S> } & ([
    HeadersFor<O, S>,
  ] extends [never]
    ? { headers?: undefined }
    : { headers: HeaderRecord<HeadersFor<O, S> & string> })
}[keyof Operaciones[O]['cabeceras']]

/**
 * Implementation of an operation: takes a request and the service's dependencies, and returns a declared answer or
 * throws a `Problema`.
 */
export type HandlerWith<D, O extends OperationId> = (input: HandlerInput<O>, deps: D) => Promise<DeclaredResponse<O>>

/** Handlers of all operations of the contract. An operation without a handler is a compile error. */
export type HandlersWith<D> = { readonly [O in OperationId]: HandlerWith<D, O> }
