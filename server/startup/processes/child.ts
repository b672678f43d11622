import type { Health } from '../../domain/deps.ts'
import type { Metrics } from '../metrics.ts'
import type { FromChild, ToChild } from './messages.ts'

// Messages between an API process and the primary process that supervises it, seen from the API process.

const tell = (message: FromChild): Promise<void> =>
  new Promise((onSent) => {
    if (process.connected) process.send!(message, undefined, undefined, () => onSent())
    else onSent()
  })

/** Sends a line for the console. */
export const writeToParent = (linea: string): void => void tell({ kind: 'linea', linea })

/** Reports that the process serves. */
export const announceReady = (): Promise<void> => tell({ kind: 'listo' })

/** Sends the process's metrics, at its end. */
export const onEnd = async (metrics: Metrics): Promise<void> => tell({ kind: 'fin', metrics: await metrics.values() })

/**
 * Stops the process when the primary process says so, and when the channel to the primary process closes. Ignores
 * SIGINT and SIGHUP: a terminal sends them to all processes, and the primary process handles them.
 */
export function onStop(stop: () => unknown): void {
  process.on('message', ({ kind }: ToChild) => void (kind === 'parar' && stop()))
  process.on('disconnect', stop)
  for (const ignoredSignal of ['SIGINT', 'SIGHUP'] as const) process.on(ignoredSignal, () => {})
}

/** Answers the primary process's questions about health and metrics. */
export function answerParent({ metrics, health }: { metrics: Metrics; health: () => Promise<Health> }): void {
  metrics.observeProcess(health)
  process.on('message', async (message: ToChild) => {
    if (message.kind !== 'pregunta') return
    const valor = message.sobre === 'metrics' ? await metrics.values() : await health()
    await tell({ kind: 'respuesta', numero: message.numero, valor })
  })
}
