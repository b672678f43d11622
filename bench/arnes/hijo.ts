import { createServer, type RequestListener } from 'node:http'

/** What every program of the bench does: it listens on PORT, ends when it is told to, and never outlives the bench. */
export function servir(atender: RequestListener, parar: () => Promise<unknown> = async () => {}): void {
  const servidor = createServer(atender).listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4_096)
  // The pauses between two measurements are no reason to close what senders keep open.
  servidor.keepAliveTimeout = 600_000
  const terminar = () => void parar().finally(() => process.exit(0))
  process.once('SIGTERM', terminar)
  // A bench that is killed takes us along.
  const padre = process.ppid
  setInterval(() => process.ppid !== padre && terminar(), 250).unref()
}
