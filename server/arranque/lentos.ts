import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How often readers are looked at, in milliseconds. */
const RONDA = 5_000
/** What a reader must take on average between two looks, in bytes a second: a tenth of the slowest mobile network. */
const RITMO = 500

/** What of a socket still waits for its reader: in Node, and in libuv, which Node's own time-outs look at, too. */
const esperan = (socket: Socket): number =>
  socket.writableLength === 0
    ? 0
    : ((socket as Socket & { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? socket.writableLength)

/**
 * Lets go of whoever doesn't read its answer, or hardly does: it would hold a connection and memory for ever. Only answers
 * that wait for their reader are looked at; one that is still being made isn't late.
 * @param ronda in milliseconds
 * @returns how to stop it
 */
export function soltarLentos(enCurso: ReadonlySet<ServerResponse>, ronda = RONDA): () => void {
  const vistos = new WeakMap<ServerResponse, number>()
  const temporizador = setInterval(() => {
    for (const res of enCurso) {
      const { socket } = res
      const pendientes = socket ? esperan(socket) : 0
      if (!socket || pendientes === 0) {
        vistos.delete(res)
        continue
      }
      // What was written meanwhile was not there to be read, so it counts as read when it has gone.
      const leidos = socket.bytesWritten - pendientes
      const antes = vistos.get(res)
      if (antes !== undefined && leidos - antes < (RITMO * ronda) / 1_000) socket.destroy()
      else vistos.set(res, leidos)
    }
  }, ronda).unref()
  return () => clearInterval(temporizador)
}
