import type { Salud } from '../../domain/deps.ts'
import type { Metrics } from '../metrics.ts'
import type { FromChild, ToChild } from './messages.ts'

// Messages between an API process and the primary process that supervises it, seen from the API process.

const decir = (mensaje: FromChild): Promise<void> =>
  new Promise((dicho) => {
    if (process.connected) process.send!(mensaje, undefined, undefined, () => dicho())
    else dicho()
  })

/** Sends a line for the console. */
export const writeToParent = (linea: string): void => void decir({ que: 'linea', linea })

/** Reports that the process serves. */
export const announceReady = (): Promise<void> => decir({ que: 'listo' })

/** Sends the process's metrics, at its end. */
export const onEnd = async (metricas: Metrics): Promise<void> =>
  decir({ que: 'fin', metricas: await metricas.valores() })

/**
 * Stops the process when the primary process says so, and when the channel to the primary process closes. Ignores
 * SIGINT and SIGHUP: a terminal sends them to all processes, and the primary process handles them.
 */
export function onStop(parar: () => unknown): void {
  process.on('message', ({ que }: ToChild) => void (que === 'parar' && parar()))
  process.on('disconnect', parar)
  for (const senal of ['SIGINT', 'SIGHUP'] as const) process.on(senal, () => {})
}

/** Answers the primary process's questions about health and metrics. */
export function answerParent({ metricas, salud }: { metricas: Metrics; salud: () => Promise<Salud> }): void {
  metricas.observarProceso(salud)
  process.on('message', async (mensaje: ToChild) => {
    if (mensaje.que !== 'pregunta') return
    const valor = mensaje.sobre === 'metricas' ? await metricas.valores() : await salud()
    await decir({ que: 'respuesta', numero: mensaje.numero, valor })
  })
}
