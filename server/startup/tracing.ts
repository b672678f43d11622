import type { Config } from '../platform/config/config.ts'
import { setTracer } from '../platform/tracing.ts'
import type { Teardown } from './teardown.ts'

/** Starts OpenTelemetry if a variable `OTEL_*` is set. Otherwise loads none of its modules. */
export async function openTracing({ traces }: Config, teardown: Teardown): Promise<void> {
  if (traces === undefined) return
  const { startOpenTelemetry } = await import('../platform/openTelemetry.ts')
  const tracer = startOpenTelemetry()
  setTracer(tracer)
  teardown.add(() => {
    setTracer(undefined)
    return tracer.close()
  })
}
