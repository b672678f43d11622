import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'
import { CLOCK_ENVIRONMENT } from '../../clockEnvironment.ts'
import { type Comercio, shareEnvironment } from '../../environment.ts'

export const CLI = fileURLToPath(new URL('../../../sdk/dist/cli.js', import.meta.url))
export const RECOGIDA_ARGS = ['--recogida-nombre', 'Bodega', '--recogida-lat', '14.58', '--recogida-lng', '-90.54']
export const DESTINO = ['--telefono', '+50231481676', '--departamento', 'Guatemala', '--municipio', 'Mixco']

/** In that process, what is waited before another try passes at once; polling and deadlines are as ever. */
export const NO_PAUSE_COMMAND: [string, ...string[]] = [
  process.execPath,
  '--import',
  `data:text/javascript,${encodeURIComponent(`const { setTimeout } = globalThis
  globalThis.setTimeout = (hacer, ms, ...mas) => setTimeout(hacer, ms > 200 && ms < 10_000 ? 0 : ms, ...mas)`)}`,
  CLI,
]

/** A terminal of so many columns, in which the order runs. */
export const enTerminal = (args: string[], columns = 80): [string, ...string[]] => [
  '/usr/bin/script',
  '-qec',
  `stty cols ${columns}; '${process.execPath}' '${CLI}' ${args.join(' ')}`,
  '/dev/null',
]
export const hasTerminal = existsSync('/usr/bin/script')
if (!hasTerminal) console.warn('\n*** There is no script(1): what the CLI does on a terminal is NOT tested here. ***\n')

export interface CommandOptions {
  env?: Record<string, string>
  /** What is piped into it; undefined ends at once, null stays open. */
  input?: string | null
  program?: [string, ...string[]]
}

let serie = 0
export const createRef = () => `CLI-${process.pid}-${++serie}`

const servidores: Server[] = []
/** A server of the test's own, until its file ends. */
export async function serveRequests(handleRequest: RequestListener): Promise<string> {
  const server = createServer(handleRequest)
  servidores.push(server)
  await new Promise<void>((listo) => server.listen(0, '127.0.0.1', listo))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The built command line, run by this Node in a folder of its own as a merchant of its own. Called at the top of a file. */
export function useCli() {
  const entorno = shareEnvironment()
  const hijos: ChildProcess[] = []
  const cli = { entorno, folder: '', comercio: {} as Comercio, lanzar, guias, write: escribir }
  beforeAll(async () => {
    cli.folder = await mkdtemp(join(tmpdir(), 'guias-cli-'))
    cli.comercio = await entorno.nuevoComercio()
  })
  afterAll(async () => {
    for (const hijo of hijos) hijo.kill('SIGKILL')
    for (const server of servidores.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
    await rm(cli.folder, { recursive: true, force: true, maxRetries: 10 })
  })

  function lanzar(
    args: string[],
    { env = {}, input, program: programWords = [process.execPath, CLI] }: CommandOptions = {},
  ) {
    const [command, ...previos] = programWords
    const hijo = spawn(command, [...previos, ...args], {
      cwd: cli.folder,
      env: {
        PATH: process.env.PATH,
        ...CLOCK_ENVIRONMENT,
        HOME: cli.folder,
        GUIAS_LLAVE: cli.comercio.llave,
        GUIAS_URL: entorno.url,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    hijos.push(hijo)
    const proceso = { child: hijo, output: '', errores: '' }
    hijo.stdout.setEncoding('utf8').on('data', (texto: string) => {
      proceso.output += texto
    })
    hijo.stderr.setEncoding('utf8').on('data', (texto: string) => {
      proceso.errores += texto
    })
    // Who has ended reads no more.
    hijo.stdin.on('error', () => {})
    if (input !== null) hijo.stdin.end(input)
    const fin = new Promise<number | null>((listo) => hijo.once('close', listo))
    return Object.assign(proceso, { fin })
  }

  async function guias(args: string[], opciones?: CommandOptions) {
    const proceso = lanzar(args, opciones)
    const codigo = await proceso.fin
    return { codigo, output: proceso.output, errores: proceso.errores }
  }

  async function escribir(nombre: string, contenido: string | Uint8Array) {
    await writeFile(join(cli.folder, nombre), contenido)
    return nombre
  }

  return cli
}
