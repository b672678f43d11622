import type { OperationId } from '../api/contract/contract.ts'
import type { HandlersWith, HandlerWith } from '../api/contract/handler.ts'
import type { OperacionDeps } from './deps.ts'

/** Function that serves an operation: returns an answer that the contract declares, or throws a `Problema`. */
export type Handler<O extends OperationId> = HandlerWith<OperacionDeps, O>

/** Handlers of all operations of the contract. */
export type Handlers = HandlersWith<OperacionDeps>
