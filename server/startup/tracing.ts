import type { Config } from '../platform/config/config.ts'
import { setTracer } from '../platform/tracing.ts'
import type { Teardown } from './teardown.ts'

/** Starts OpenTelemetry if a variable `OTEL_*` is set. Otherwise loads none of its modules. */
export async function openTracing({ trazas }: Config, deshacer: Teardown): Promise<void> {
  if (trazas === undefined) return
  const { startOpenTelemetry } = await import('../platform/openTelemetry.ts')
  const tracer = startOpenTelemetry()
  setTracer(tracer)
  deshacer.add(() => {
    setTracer(undefined)
    return tracer.close()
  })
}
