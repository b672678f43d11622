import {
  context,
  isSpanContextValid,
  metrics,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { Span, SpanOptions, Tracer } from './tracing.ts'

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }
/** Header `traceparent` of W3C Trace Context, version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Starts OpenTelemetry's SDK, which the standard `OTEL_*` variables configure. No library is instrumented by itself, so
 * spans have only what this service writes into them.
 */
export function startOpenTelemetry(): Tracer {
  const sdk = new NodeSDK({
    instrumentations: [],
    // Process arguments and the machine's name are not collected.
    autoDetectResources: false,
    serviceName: process.env.OTEL_SERVICE_NAME ?? 'guias',
  })
  sdk.start()
  const tracer = trace.getTracer('guias')
  return {
    start(name, { kind = 'internal', parent, attributes = {} }) {
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent))
      return spanOf(span)
    },
    async close() {
      await sdk.shutdown()
      // The global providers are removed, because a service that starts again in the same process would otherwise keep
      // the one that was shut down.
      for (const api of [trace, context, propagation, metrics]) api.disable()
    },
  }
}

function contextOf(parent: SpanOptions['parent']) {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(parent ?? '') ?? []
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT
  const remote: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(remote) ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT
}

function spanOf(span: ReturnType<ReturnType<typeof trace.getTracer>['startSpan']>): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
    traceId,
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    end(failed = false) {
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}
