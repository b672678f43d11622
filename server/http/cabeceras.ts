import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet from 'helmet'

/** The headers that a middleware which knows nothing of requests gives to every answer. */
function cabecerasDe(middleware: (req: IncomingMessage, res: ServerResponse, next: () => void) => void) {
  const cabeceras: Record<string, string> = {}
  const res = {
    setHeader: (nombre: string, valor: string) => {
      cabeceras[nombre] = String(valor)
    },
    removeHeader: () => {},
  }
  middleware({} as IncomingMessage, res as unknown as ServerResponse, () => {})
  return cabeceras
}

/** The headers of every answer: what browsers must not do with it (helmet's own), and in which language it is. */
export const CABECERAS: Readonly<Record<string, string>> = Object.freeze({
  ...cabecerasDe(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    }),
  ),
  'Content-Language': 'es',
})
