import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'
import { CHILD_ENVIRONMENT } from '../../childEnvironment.ts'
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
export const inTerminal = (args: string[], columns = 80): [string, ...string[]] => [
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

let refCount = 0
export const createRef = () => `CLI-${process.pid}-${++refCount}`

const servers: Server[] = []
/** A server of the test's own, until its file ends. */
export async function serveRequests(handleRequest: RequestListener): Promise<string> {
  const server = createServer(handleRequest)
  servers.push(server)
  await new Promise<void>((listo) => server.listen(0, '127.0.0.1', listo))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The built command line, run by this Node in a folder of its own as a merchant of its own. Called at the top of a file. */
export function useCli() {
  const environment = shareEnvironment()
  const children: ChildProcess[] = []
  const cli = { environment, folder: '', comercio: {} as Comercio, launch, guias, write }
  beforeAll(async () => {
    cli.folder = await mkdtemp(join(tmpdir(), 'guias-cli-'))
    cli.comercio = await environment.createComercio()
  })
  afterAll(async () => {
    for (const childProcess of children) childProcess.kill('SIGKILL')
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
    await rm(cli.folder, { recursive: true, force: true, maxRetries: 10 })
  })

  function launch(
    args: string[],
    { env = {}, input, program: programWords = [process.execPath, CLI] }: CommandOptions = {},
  ) {
    const [command, ...programArgs] = programWords
    const child = spawn(command, [...programArgs, ...args], {
      cwd: cli.folder,
      env: {
        PATH: process.env.PATH,
        ...CHILD_ENVIRONMENT,
        HOME: cli.folder,
        GUIAS_LLAVE: cli.comercio.llave,
        GUIAS_URL: environment.url,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    children.push(child)
    const launchedProcess = { child, output: '', errores: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      launchedProcess.output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      launchedProcess.errores += text
    })
    // Who has ended reads no more.
    child.stdin.on('error', () => {})
    if (input !== null) child.stdin.end(input)
    const fin = new Promise<number | null>((listo) => child.once('close', listo))
    return Object.assign(launchedProcess, { fin })
  }

  async function guias(args: string[], options?: CommandOptions) {
    const launchedProcess = launch(args, options)
    const codigo = await launchedProcess.fin
    return { codigo, output: launchedProcess.output, errores: launchedProcess.errores }
  }

  async function write(name: string, contenido: string | Uint8Array) {
    await writeFile(join(cli.folder, name), contenido)
    return name
  }

  return cli
}
