import { createServer, type RequestListener } from 'node:http'

/**
 * Starts the HTTP server of a bench program on PORT. Ends the process on SIGTERM, or when its parent process dies.
 * @param parar cleanup before the process exits
 */
export function servirHijo(atender: RequestListener, parar: () => Promise<unknown> = async () => {}): void {
  const servidor = createServer(atender).listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4_096)
  // The pauses between two measurements must not close the connections that senders keep open.
  servidor.keepAliveTimeout = 600_000
  morirConElPadre(parar)
}

/** Ends the process on SIGTERM, or when its parent process dies. */
export function morirConElPadre(parar: () => Promise<unknown> = async () => {}): void {
  const terminar = () => void parar().finally(() => process.exit(0))
  process.once('SIGTERM', terminar)
  // A killed bench cannot stop this process, so the process stops when its parent changes.
  const padre = process.ppid
  setInterval(() => process.ppid !== padre && terminar(), 250).unref()
}
