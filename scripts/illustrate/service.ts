import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'

/** Address of the service, and the keys and the courier's code that its first start creates. */
export interface Demo {
  url: string
  llave: string
  llave_operaciones: string
  codigo_repartidor: string
}

/** Service with fresh data, started with `npm start`. */
export interface FreshService {
  dataDir: string
  /** Temporary folder, deleted at the end. */
  folder: string
  /** Output of the service on the console. */
  output: string
  demo: Demo
}

async function npmStart(DATA_DIR: string) {
  const child = spawn('npm', ['--silent', 'start'], {
    cwd: new URL('../../', import.meta.url),
    env: { ...process.env, PORT: '0', DATA_DIR, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += stripVTControlCharacters(text)
  })
  for (let i = 0; !output.includes('curl ') && i < 600 && child.exitCode === null; i++) await sleep(100)
  if (!output.includes('curl ')) throw new Error(`the service did not start:\n${output}`)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const stop = () => {
    process.kill(-child.pid!, 'SIGTERM')
    return exited
  }
  return { output, stop }
}

/** Runs `perform` with a new service. Stops the service and deletes its data afterwards. */
export async function withFreshService<T>(perform: (service: FreshService) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'guias-ilustrar-'))
  await chmod(folder, 0o755) // as root, PostgreSQL runs as another user, who must reach the folder
  const dataDir = join(folder, 'datos')
  const { output, stop } = await npmStart(dataDir)
  try {
    const demo: Demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
    return await perform({ dataDir, folder, output, demo })
  } finally {
    await stop()
    await rm(folder, { recursive: true, force: true })
  }
}
