import { afterAll, beforeAll } from 'vitest'
import { useEnvironment } from '../entorno.ts'
import { puertoLibre } from '../puertos.ts'
import { abrirPrometheus, type Prometheus } from './prometheusServer.ts'

/** A service, and a Prometheus that reads its metrics on `puerto`. */
export function usePrometheus() {
  const vigilado = {} as { puerto: number; prometheus: Prometheus }
  const entorno = useEnvironment(undefined, async () => {
    vigilado.puerto = await puertoLibre()
    return { METRICS_PORT: `${vigilado.puerto}`, REQUESTS_PER_NETWORK: '20' }
  })
  beforeAll(async () => {
    vigilado.prometheus = await abrirPrometheus(vigilado.puerto, await puertoLibre())
  })
  afterAll(() => vigilado.prometheus?.close())
  return { entorno, vigilado }
}
