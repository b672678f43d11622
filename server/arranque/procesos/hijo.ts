import type { Salud } from '../../deps.ts'
import type { Metricas } from '../metricas.ts'
import type { AlHijo, DelHijo } from './mensajes.ts'

// One of several API processes, as it speaks with the one that looks after them.

const decir = (mensaje: DelHijo): Promise<void> =>
  new Promise((dicho) => {
    if (process.connected) process.send!(mensaje, undefined, undefined, () => dicho())
    else dicho()
  })

/** Says a line for the console. */
export const escribir = (linea: string): void => void decir({ que: 'linea', linea })

/** Says that it serves. */
export const listo = (): Promise<void> => decir({ que: 'listo' })

/** Says what it counted, at its end. */
export const alFin = async (metricas: Metricas): Promise<void> =>
  decir({ que: 'fin', metricas: await metricas.valores() })

/** It stops when it is told so, and when nobody is left who could; what a terminal tells everyone is for the other. */
export function alParar(parar: () => unknown): void {
  process.on('message', ({ que }: AlHijo) => void (que === 'parar' && parar()))
  process.on('disconnect', parar)
  for (const senal of ['SIGINT', 'SIGHUP'] as const) process.on(senal, () => {})
}

/** It tells how it is and what it counted, whenever it is asked. */
export function responder({ metricas, salud }: { metricas: Metricas; salud: () => Promise<Salud> }): void {
  metricas.observarProceso()
  process.on('message', async (mensaje: AlHijo) => {
    if (mensaje.que !== 'pregunta') return
    const valor = mensaje.sobre === 'metricas' ? await metricas.valores() : await salud()
    await decir({ que: 'respuesta', numero: mensaje.numero, valor })
  })
}
