/** A bare server: it reads what it is sent and answers, as small as an answer can be. PORT; its argument: the status of a POST's answer. */
import { servir } from './arnes/hijo.ts'

const status = Number(process.argv[2] ?? 201)

servir((req, res) => {
  req.resume().on('end', () => res.writeHead(req.method === 'GET' ? 200 : status, { 'Content-Length': 2 }).end('{}'))
})
