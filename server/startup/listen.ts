import type { Server } from 'node:http'
import type { Config } from '../platform/config/config.ts'

/**
 * Connections that may wait in the kernel while this process is busy. Node's default is 511. In a larger burst, clients
 * must repeat their SYN, and the kernel resets some of the connections. The system has its own bound,
 * `net.core.somaxconn`.
 */
const LISTEN_BACKLOG = 4096

/**
 * Starts to listen.
 * @returns the address as a user of this machine would write it
 */
export function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog: LISTEN_BACKLOG }, () => {
      server.off('error', reject)
      resolve(`http://${visible(host)}:${(server.address() as { port: number }).port}`)
    })
  })
}

/** Ends every connection at once and stops listening. */
export async function stopListening(server: Server): Promise<void> {
  server.closeAllConnections()
  if (server.listening) await new Promise((resolve) => server.close(resolve))
}

/**
 * Base URL of links in a worker process, which serves no pages itself. Without `PUBLIC_URL`, it is the address of the
 * API process with the same configuration.
 */
export const publicUrlOf = ({ publicUrl, host, port }: Config): string => publicUrl ?? `http://${visible(host)}:${port}`

const visible = (host: string) =>
  ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
