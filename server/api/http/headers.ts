import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet from 'helmet'

/** Returns the headers that a middleware adds to every answer, independent of the request. */
function headersSetBy(middleware: (req: IncomingMessage, res: ServerResponse, next: () => void) => void) {
  const headers: Record<string, string> = {}
  const res = {
    setHeader: (name: string, value: string) => {
      headers[name] = String(value)
    },
    removeHeader: () => {},
  }
  middleware({} as IncomingMessage, res as unknown as ServerResponse, () => {})
  return headers
}

/** Headers of every answer: helmet's restrictions for browsers, and the language. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  ...headersSetBy(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    }),
  ),
  'Content-Language': 'es',
})
