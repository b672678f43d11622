import { afterAll, beforeAll } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { findFreePort } from '../ports.ts'
import { abrirPrometheus, type Prometheus } from './prometheusServer.ts'

/** A service, and a Prometheus that reads its metrics on `metricsPort`. */
export function usePrometheus() {
  const monitoring = {} as { metricsPort: number; prometheus: Prometheus }
  const environment = useEnvironment(undefined, async () => {
    monitoring.metricsPort = await findFreePort()
    return { METRICS_PORT: `${monitoring.metricsPort}`, REQUESTS_PER_NETWORK: '20' }
  })
  beforeAll(async () => {
    monitoring.prometheus = await abrirPrometheus(monitoring.metricsPort, await findFreePort())
  })
  afterAll(() => monitoring.prometheus?.close())
  return { environment, monitoring }
}
