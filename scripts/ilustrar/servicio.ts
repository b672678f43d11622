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

/** Keys of the demo merchant and operator, and the courier's code, which the first start of the service creates. */
export interface Demo {
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}

/** Service with fresh data, started with `npm start`. */
export interface Fresco {
  url: string
  puerto: number
  dataDir: string
  /** Temporary folder, deleted at the end. */
  carpeta: string
  /** Output of the service on the console. */
  salida: string
  demo: Demo
}

/** Returns a port on which no process listens. */
export const puertoLibre = () =>
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
 * Runs `hacer` with a new service. Stops the service and deletes its data afterwards.
 * @param ajustes environment variables of the service
 */
export async function conServicioFresco<T>(
  hacer: (fresco: Fresco) => Promise<T>,
  ajustes: NodeJS.ProcessEnv = {},
): Promise<T> {
  const carpeta = await mkdtemp(join(await realpath(tmpdir()), 'guias-ilustrar-'))
  await chmod(carpeta, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
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

/**
 * Calls an operation with the operator's key. Default method: POST with a body, GET without. After a 429, waits as long
 * as the service says and tries again.
 * @throws if the status is not 2xx
 */
export async function comoOperador<T>(
  fresco: Fresco,
  ruta: string,
  cuerpo?: object,
  method = cuerpo ? 'POST' : 'GET',
): Promise<T> {
  const { url, demo } = fresco
  const respuesta = await fetch(`${url}/operaciones/v1${ruta}`, {
    method,
    headers: { Authorization: `Bearer ${demo.llave_operaciones}`, 'Content-Type': 'application/json' },
    ...(cuerpo ? { body: JSON.stringify(cuerpo) } : {}),
  })
  if (respuesta.status === 429) {
    await esperar(Number(respuesta.headers.get('retry-after')) * 1_000)
    return comoOperador(fresco, ruta, cuerpo, method)
  }
  if (!respuesta.ok) throw new Error(`${ruta}: ${await respuesta.text()}`)
  return (await respuesta.json()) as T
}

/** Answers the page's requests for map tiles with a plain image. */
export const conMosaicos = async (pagina: Page) => {
  const create = { width: 256, height: 256, channels: 3 as const, background: '#dfe8d8' }
  const body = await sharp({ create }).png().toBuffer()
  await pagina.route(/tile\.openstreetmap\.org/, (ruta) => ruta.fulfill({ contentType: 'image/png', body }))
}

/** Returns the recipients' links from the messages in the mailbox, to a place or to a decision. */
export async function enlacesDelBuzon(url: string): Promise<string[]> {
  const buzon = await (await fetch(`${url}/buzon`)).text()
  return [...buzon.matchAll(/href="([^"]*\b[ud]\/[^"]+)"/g)].map(([, enlace]) => new URL(enlace!, `${url}/buzon`).href)
}

/**
 * Waits for a new message and returns its link.
 * @param vistos links of earlier messages
 * @throws if no message arrives in about 20 s
 */
export async function esperarMensaje(url: string, vistos: readonly string[]): Promise<string> {
  for (let i = 0; i < 400; i++) {
    const nuevo = (await enlacesDelBuzon(url)).find((uno) => !vistos.includes(uno))
    if (nuevo) return nuevo
    await esperar(50)
  }
  throw new Error('no message came')
}
