import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as esperar } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'

/** Address of the service, and the keys and the courier's code that its first start creates. */
export interface Demo {
  url: string
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}

/** Service with fresh data, started with `npm start`. */
export interface Fresco {
  dataDir: string
  /** Temporary folder, deleted at the end. */
  carpeta: string
  /** Output of the service on the console. */
  salida: string
  demo: Demo
}

async function npmStart(DATA_DIR: string) {
  const hijo = spawn('npm', ['--silent', 'start'], {
    cwd: new URL('../../', import.meta.url),
    env: { ...process.env, PORT: '0', DATA_DIR, LOG_LEVEL: 'warn' },
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

/** Runs `hacer` with a new service. Stops the service and deletes its data afterwards. */
export async function conServicioFresco<T>(hacer: (fresco: Fresco) => Promise<T>): Promise<T> {
  const carpeta = await mkdtemp(join(await realpath(tmpdir()), 'guias-ilustrar-'))
  await chmod(carpeta, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
  const dataDir = join(carpeta, 'datos')
  const { salida, detener } = await npmStart(dataDir)
  try {
    const demo: Demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
    return await hacer({ dataDir, carpeta, salida, demo })
  } finally {
    await detener()
    await rm(carpeta, { recursive: true, force: true })
  }
}
