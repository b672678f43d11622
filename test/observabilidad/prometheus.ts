import { afterAll, beforeAll } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { puertoLibre } from '../puertos.ts'
import { abrirPrometheus, type Prometheus } from './prometheusServer.ts'

/** A service, and a Prometheus that reads its metrics on `puerto`. */
export function usarPrometheus() {
  const vigilado = {} as { puerto: number; prometheus: Prometheus }
  const entorno = usarEntorno(undefined, async () => {
    vigilado.puerto = await puertoLibre()
    return { METRICS_PORT: `${vigilado.puerto}`, REQUESTS_PER_NETWORK: '20' }
  })
  beforeAll(async () => {
    vigilado.prometheus = await abrirPrometheus(vigilado.puerto, await puertoLibre())
  })
  afterAll(() => vigilado.prometheus?.cerrar())
  return { entorno, vigilado }
}
