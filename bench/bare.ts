/**
 * Bare HTTP server that answers every request with the body `{}`. Reads PORT; its argument is the status of the answers
 * (201 by default).
 */
import { serveAsChild } from './harness/child.ts'

const status = Number(process.argv[2] ?? 201)

serveAsChild((req, res) => {
  req.resume().on('end', () => res.writeHead(req.url === '/readyz' ? 200 : status, { 'Content-Length': 2 }).end('{}'))
})
