import { AsyncLocalStorage } from 'node:async_hooks'

/** Values that describe a span. No value may be personal or secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanOptions {
  /** Kind of span. `server`: an incoming request. `client`: a call of another server. Default: `internal`. */
  kind?: 'server' | 'client' | 'internal'
  /** W3C `traceparent` of the parent. Default: the current span. */
  parent?: string | null | undefined
  attributes?: SpanAttributes
}

/** Current span. */
export interface Span {
  /** Context of the span as a W3C `traceparent`. */
  readonly traceparent: string
  readonly traceId: string
  rename(name: string): void
  set(attributes: SpanAttributes): void
  /**
   * Ends the span.
   * @param failed true if the span describes a failure
   */
  end(failed?: boolean): void
}

/** Source of spans (server/platform/openTelemetry.ts). */
export interface Tracer {
  start(name: string, options: SpanOptions): Span
  close(): Promise<void>
}

// The context of a request must also reach statements and events that know nothing of requests, so it is stored in the
// async context.
const active = new AsyncLocalStorage<Span>()
let tracer: Tracer | undefined

/** Sets the source of all spans of the process; undefined: no spans. */
export function setTracer(used: Tracer | undefined): void {
  tracer = used
}

/** Returns true if this process records spans. */
export const isTracing = (): boolean => tracer !== undefined

/** Returns the current span; undefined without tracing. */
export const currentSpan = (): Span | undefined => (tracer ? active.getStore() : undefined)

/** Returns the `traceparent` of the current span, in the form that events store; null without tracing. */
export const currentTrace = (): string | null => currentSpan()?.traceparent ?? null

/** Starts a span that the caller ends; undefined without tracing. */
export const startSpan = (name: string, options: SpanOptions = {}): Span | undefined =>
  tracer?.start(name, { parent: active.getStore()?.traceparent, ...options })

/** Runs a function as part of this span: spans that it starts become children of this span. */
export const withinSpan = <T>(span: Span, run: () => T): T => active.run(span, run)

/** Runs a function within a new span, which ends with the function's promise. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  run: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = startSpan(name, options)
  if (!span) return run(undefined)
  try {
    const done = await active.run(span, () => run(span))
    span.end()
    return done
  } catch (error) {
    span.end(true)
    throw error
  }
}
