/**
 * Program that floods an address with requests for one tracking page and ignores the answers. Arguments: URL, local
 * address, requests per second, pipelined requests per write, seconds. Prints `listo` after a first request on every
 * connection, and at the end the number of requests sent.
 */
import { connect, type Socket } from 'node:net'

const CONEXIONES = 400
/** Milliseconds between two turns of the timer that paces the writes. */
const PASO = 5

const [url = '', localAddress = '127.0.0.1', porSegundo = '0', seguidas = '1', segundos = '1'] = process.argv.slice(2)
const { hostname, port, host } = new URL(url)
const pedido = `GET /r/AAAAAAAAAAAA HTTP/1.1\r\nHost: ${host}\r\n\r\n`
const escrito = pedido.repeat(Number(seguidas))

const sockets: (Socket | undefined)[] = Array.from({ length: CONEXIONES }, () => undefined)
let enviadas = 0

/** Writes requests on connection `i`. Reopens a closed connection, as an attacker would. */
function escribir(i: number): void {
  let socket = sockets[i]
  if (!socket || socket.destroyed) {
    socket = connect({ host: hostname, port: Number(port), localAddress, noDelay: true })
    socket.on('error', () => {})
    socket.on('data', () => {})
    sockets[i] = socket
  }
  // The server does not read this connection, so more writes would only fill memory.
  if (socket.writableLength > 100_000) return
  socket.write(escrito)
  enviadas += Number(seguidas)
}

for (let i = 0; i < CONEXIONES; i++) escribir(i)
process.stdout.write('listo\n')
const inicio = performance.now()
let siguiente = 0
let turnos = 0
const porEscritura = Number(seguidas)
setInterval(() => {
  const transcurridos = (performance.now() - inicio) / 1_000
  if (transcurridos >= Number(segundos)) {
    process.stdout.write(`${enviadas}\n`, () => process.exit(0))
    return
  }
  for (const debidos = (transcurridos * Number(porSegundo)) / porEscritura; turnos < debidos; turnos++) {
    escribir(siguiente)
    siguiente = (siguiente + 1) % CONEXIONES
  }
}, PASO)
