/** A bare server that answers every request with the smallest answer. PORT; its argument: the answers' status. */
import { servir } from './arnes/hijo.ts'

const status = Number(process.argv[2] ?? 201)

servir((req, res) => {
  req.resume().on('end', () => res.writeHead(req.url === '/readyz' ? 200 : status, { 'Content-Length': 2 }).end('{}'))
})
