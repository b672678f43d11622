import type { Server } from 'node:http'
import type { Config } from '../config/config.ts'

/**
 * Connections that may wait in the kernel while this process is busy. Past that number (511 unless told) a burst of clients
 * is made to repeat its SYN, and some of them are reset. The system has a bound of its own, net.core.somaxconn.
 */
const EN_ESPERA = 4096

/** Listens; the address, as somebody on this machine would write it. */
export function escuchar(servidor: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    servidor.once('error', reject)
    servidor.listen({ port, host, backlog: EN_ESPERA }, () => {
      servidor.off('error', reject)
      resolve(`http://${visible(host)}:${(servidor.address() as { port: number }).port}`)
    })
  })
}

/** Every connection ends at once. */
export async function dejarDeEscuchar(servidor: Server): Promise<void> {
  servidor.closeAllConnections()
  if (servidor.listening) await new Promise((resolve) => servidor.close(resolve))
}

/** The base of links for a process that serves none: what the API beside it is called, by the same configuration. */
export const urlDe = ({ publicUrl, host, port }: Config): string => publicUrl ?? `http://${visible(host)}:${port}`

const visible = (host: string) =>
  ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
