import { afterAll, beforeAll } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { findFreePort } from '../ports.ts'
import { abrirPrometheus, type Prometheus } from './prometheusServer.ts'

/** A service, and a Prometheus that reads its metrics on `puerto`. */
export function usePrometheus() {
  const vigilado = {} as { metricsPort: number; prometheus: Prometheus }
  const entorno = useEnvironment(undefined, async () => {
    vigilado.metricsPort = await findFreePort()
    return { METRICS_PORT: `${vigilado.metricsPort}`, REQUESTS_PER_NETWORK: '20' }
  })
  beforeAll(async () => {
    vigilado.prometheus = await abrirPrometheus(vigilado.metricsPort, await findFreePort())
  })
  afterAll(() => vigilado.prometheus?.close())
  return { entorno, vigilado }
}
