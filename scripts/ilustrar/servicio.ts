import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as esperar } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Page } from 'playwright-core'
import sharp from 'sharp'

const raiz = new URL('../../', import.meta.url)

/** Whom the service's first start makes. */
export interface Demo {
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}

/** A service on fresh data, as `npm start` starts it. */
export interface Fresco {
  url: string
  puerto: number
  dataDir: string
  /** A folder that is gone afterwards. */
  carpeta: string
  /** What its console said. */
  salida: string
  demo: Demo
}

const puertoLibre = () =>
  new Promise<number>((resolve) => {
    const sonda = createServer().listen(0, '127.0.0.1', () => {
      const { port } = sonda.address() as { port: number }
      sonda.close(() => resolve(port))
    })
  })

async function npmStart(puerto: number, dataDir: string, ajustes: NodeJS.ProcessEnv) {
  const env = { ...process.env, ...ajustes, PORT: String(puerto), DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const hijo = spawn('npm', ['--silent', 'start'], {
    cwd: raiz,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let salida = ''
  hijo.stdout.setEncoding('utf8').on('data', (texto) => {
    salida += stripVTControlCharacters(texto)
  })
  for (let i = 0; !salida.includes('curl ') && i < 600 && hijo.exitCode === null; i++) await esperar(100)
  if (!salida.includes('curl ')) throw new Error(`the service did not start:\n${salida}`)
  const fin = new Promise((resolve) => hijo.once('exit', resolve))
  const detener = () => {
    process.kill(-hijo.pid!, 'SIGTERM')
    return fin
  }
  return { salida, detener }
}

/**
 * Does something with a service that is gone afterwards.
 * @param ajustes its environment variables
 */
export async function conServicioFresco<T>(
  hacer: (fresco: Fresco) => Promise<T>,
  ajustes: NodeJS.ProcessEnv = {},
): Promise<T> {
  const carpeta = await mkdtemp(join(await realpath(tmpdir()), 'guias-ilustrar-'))
  await chmod(carpeta, 0o755) // or root's PostgreSQL would keep its data elsewhere
  const dataDir = join(carpeta, 'datos')
  const puerto = await puertoLibre()
  const { salida, detener } = await npmStart(puerto, dataDir, ajustes)
  try {
    const demo: Demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
    return await hacer({ url: `http://127.0.0.1:${puerto}`, puerto, dataDir, carpeta, salida, demo })
  } finally {
    await detener()
    await rm(carpeta, { recursive: true, force: true })
  }
}

/** Operators move guides as they please, and say whose they are. */
export async function comoOperador<T>({ url, demo }: Fresco, ruta: string, cuerpo?: object): Promise<T> {
  const respuesta = await fetch(`${url}/operaciones/v1${ruta}`, {
    method: cuerpo ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${demo.llave_operaciones}`, 'Content-Type': 'application/json' },
    ...(cuerpo ? { body: JSON.stringify(cuerpo) } : {}),
  })
  if (!respuesta.ok) throw new Error(`${ruta}: ${await respuesta.text()}`)
  return (await respuesta.json()) as T
}

/** What a provider of maps would send. */
export const conMosaicos = async (pagina: Page) => {
  const create = { width: 256, height: 256, channels: 3 as const, background: '#dfe8d8' }
  const body = await sharp({ create }).png().toBuffer()
  await pagina.route(/tile\.openstreetmap\.org/, (ruta) => ruta.fulfill({ contentType: 'image/png', body }))
}

/** The recipients' links that lie in the mailbox. */
export async function enlacesDelBuzon(url: string): Promise<string[]> {
  const buzon = await (await fetch(`${url}/buzon`)).text()
  return [...buzon.matchAll(/href="([^"]*\bu\/[^"]+)"/g)].map(([, enlace]) => new URL(enlace!, `${url}/buzon`).href)
}

/** The link of the message that comes after those. */
export async function esperarMensaje(url: string, vistos: readonly string[]): Promise<string> {
  for (let i = 0; i < 400; i++) {
    const nuevo = (await enlacesDelBuzon(url)).find((uno) => !vistos.includes(uno))
    if (nuevo) return nuevo
    await esperar(50)
  }
  throw new Error('no message came')
}
