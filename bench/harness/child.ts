import { createServer, type RequestListener } from 'node:http'

/**
 * Starts the HTTP server of a bench program on PORT. Ends the process on SIGTERM, or when its parent process dies.
 * @param stop cleanup before the process exits
 */
export function serveAsChild(handle: RequestListener, stop: () => Promise<unknown> = async () => {}): void {
  const server = createServer(handle).listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4_096)
  // The pauses between two measurements must not close the connections that senders keep open.
  server.keepAliveTimeout = 600_000
  dieWithParent(stop)
}

/** Ends the process on SIGTERM, or when its parent process dies. */
export function dieWithParent(stop: () => Promise<unknown> = async () => {}): void {
  const endProcess = () => void stop().finally(() => process.exit(0))
  process.once('SIGTERM', endProcess)
  // A killed bench cannot stop this process, so the process stops when its parent changes.
  const parentPid = process.ppid
  setInterval(() => process.ppid !== parentPid && endProcess(), 250).unref()
}
