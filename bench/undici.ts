/**
 * Reference program: undici without a database. POST `/<file>` sends the requests that the file lists, 64 at a time,
 * and answers when all are sent. Reads PORT.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'undici'
import { type Encargo, enviarEncargo } from './arnes/encargo.ts'
import { servirHijo } from './arnes/hijo.ts'

const EN_VUELO = 64
const agente = new Agent({ connections: EN_VUELO, keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 })

servirHijo(async (req, res) => {
  if (req.method !== 'POST') return void res.end()
  const encargos = (JSON.parse(readFileSync(decodeURIComponent(req.url ?? ''), 'utf8')) as Encargo[]).values()
  const conducir = async () => {
    for (const encargo of encargos) await enviarEncargo(agente, encargo)
  }
  try {
    await Promise.all(Array.from({ length: EN_VUELO }, conducir))
    res.end()
  } catch (error) {
    res.writeHead(500).end(String(error))
  }
})
