/**
 * Receiver of webhooks. Answers every POST with 204 after reading its body; below `/colgado`, never. Counts distinct webhook-ids and records the first arrival of each, on the clock that all processes
 * share ({@link relojMonotono}). GET returns these figures.
 */
import { relojMonotono } from './arnes/encargo.ts'
import { servirHijo } from './arnes/hijo.ts'

let llegadas = new Map<string, number>()
let repetidas = 0
let colgadas = 0
let esperas: { cuantas: number; avisar: () => void }[] = []

const anotar = (id: string) => {
  if (llegadas.has(id)) {
    repetidas++
    return
  }
  llegadas.set(id, relojMonotono())
  for (const espera of esperas) if (llegadas.size >= espera.cuantas) espera.avisar()
}

servirHijo((req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://receptor')
  if (req.method === 'POST') {
    req.resume()
    if (pathname.startsWith('/colgado')) return void colgadas++
    req.once('end', () => {
      anotar(String(req.headers['webhook-id']))
      res.writeHead(204).end()
    })
    return
  }
  const decir = (valor: unknown) => {
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(valor))
  }
  const resumen = () => {
    const momentos = [...llegadas.values()]
    return {
      distintas: llegadas.size,
      repetidas,
      colgadas,
      primera: momentos[0],
      ultima: momentos.at(-1),
    }
  }
  if (pathname === '/llegadas') return decir([...llegadas])
  if (pathname === '/reiniciar') {
    llegadas = new Map()
    repetidas = 0
    colgadas = 0
  }
  // The answer waits until `cuantas` distinct ids have arrived, or `ms` milliseconds.
  const cuantas = Number(searchParams.get('cuantas') ?? 0)
  if (llegadas.size >= cuantas) return decir(resumen())
  const espera = {
    cuantas,
    avisar: () => {
      clearTimeout(plazo)
      esperas = esperas.filter((otra) => otra !== espera)
      decir(resumen())
    },
  }
  const plazo = setTimeout(espera.avisar, Number(searchParams.get('ms') ?? 60_000))
  esperas.push(espera)
})
