import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { basename, delimiter, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, inject } from 'vitest'
import { waitUntil } from './factories.ts'

/** What a user types, run as a terminal would: a process group of its own, the output kept. */
export interface TestProcess {
  pid: number
  output: string
  errores: string
  /** Exit code and signal; undefined while it runs. */
  fin: { codigo: number | null; signal: NodeJS.Signals | null } | undefined
  child: ChildProcess
  /** Ctrl-C, or any other signal that a terminal sends to everyone at once. */
  signalAll(signal: NodeJS.Signals): void
  /** Waits for the end. */
  waitForEnd(): Promise<{ codigo: number | null; signal: NodeJS.Signals | null }>
}

const ROOT_FOLDER = join(import.meta.dirname, '..')
const HIDDEN_VARIABLES =
  /^(npm_|VITEST|GUIAS_|NODE_(ENV|OPTIONS)$|(PORT|HOST|DATABASE_URL|PUBLIC_URL|TRUST_PROXY|LOG_LEVEL|MASTER_KEYS|MESSAGING)$)/

/** The user's own shell: nothing of vitest, nothing of the `npm test` that may stand around us. */
const USER_ENVIRONMENT = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !HIDDEN_VARIABLES.test(name))),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
}

/**
 * A folder for DATA_DIRs and processes that know of it. When the test file is over, whatever still runs there is killed
 * and the folder removed, however the tests ended.
 */
export function useProcesses() {
  // mkdtemp's 0700 would keep root's PostgreSQL user out, and the data would lie elsewhere.
  const base = mkdtempSync(join(realpathSync(inject('runFolder')), 'proc-'))
  chmodSync(base, 0o755)
  let folderCount = 0

  function runCommand(command: readonly string[], env: Record<string, string> = {}, cwd = ROOT_FOLDER): TestProcess {
    const [program = '', ...args] = command
    const childProcess = spawn(program, args, {
      cwd,
      detached: true,
      env: { ...USER_ENVIRONMENT, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const testProcess: TestProcess = {
      pid: childProcess.pid ?? 0,
      output: '',
      errores: '',
      fin: undefined,
      child: childProcess,
      signalAll: (signal) => process.kill(-childProcess.pid!, signal),
      waitForEnd: () => waitUntil(async () => testProcess.fin),
    }
    childProcess.stdout.setEncoding('utf8').on('data', (text) => {
      testProcess.output += stripVTControlCharacters(text)
    })
    childProcess.stderr.setEncoding('utf8').on('data', (text) => {
      testProcess.errores += stripVTControlCharacters(text)
    })
    childProcess.on('error', ({ message }) => {
      testProcess.errores += message
      testProcess.fin = { codigo: null, signal: null }
    })
    childProcess.on('close', (codigo, signal) => {
      testProcess.fin ??= { codigo, signal }
    })
    return testProcess
  }

  afterAll(async () => {
    const listRemaining = () => [...findProcesses(base).keys()]
    for (let intento = 0; listRemaining().length > 0 && intento < 100; intento++) {
      for (const pid of listRemaining()) killProcess(pid)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    rmSync(base, { recursive: true, force: true, maxRetries: 10 })
  })

  return {
    base,
    /** A DATA_DIR that doesn't exist yet. */
    nextFolder: () => join(base, `datos-${++folderCount}`),
    runCommand,
    /** `npm start`, on any free port unless told. */
    npmStart: (env: Record<string, string>) => runCommand(['npm', 'start'], { PORT: '0', LOG_LEVEL: 'warn', ...env }),
    /** The service alone: what `npm start` runs, without the time that npm takes. */
    startService: (env: Record<string, string>) =>
      runCommand([process.execPath, 'server/generated/main.mjs'], { PORT: '0', LOG_LEVEL: 'warn', ...env }),
    /** A line of the console to its end: what `npm run --silent admin -- …` runs, without the time that npm takes. */
    async admin(args: readonly string[], env: Record<string, string>) {
      const compileCache = { NODE_COMPILE_CACHE: join(inject('runFolder'), 'compilado') }
      const testProcess = runCommand([process.execPath, 'scripts/admin.ts', ...args], { ...compileCache, ...env })
      await testProcess.waitForEnd()
      return testProcess
    },
  }
}

function killProcess(pid: number) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // gone meanwhile
}

interface RunningProcess {
  pid: number
  parentPid: number
  /** Arguments of the command line. */
  args: string[]
  /** Command line and environment. */
  texto: string
}

function listProcesses(): RunningProcess[] {
  if (!existsSync('/proc/self/stat')) {
    const { stdout } = spawnSync('ps', ['-axEww', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' })
    return stdout.split('\n').flatMap((line) => {
      const [, pid, parentPid, estado, text = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
      return !estado || estado.startsWith('Z')
        ? []
        : [{ pid: Number(pid), parentPid: Number(parentPid), args: text.split(' '), texto: text }]
    })
  }
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const [, estado = 'Z', parentPid] = /^.*\) (\S) (\d+)/s.exec(read(pid, 'stat')) ?? []
      if (estado === 'Z') return []
      const command = read(pid, 'cmdline')
      return [
        {
          pid: Number(pid),
          parentPid: Number(parentPid),
          args: command.split('\0'),
          texto: `${command}\0${read(pid, 'environ')}`,
        },
      ]
    })
}

/** pid → command line of whatever runs with that folder in its command line or environment, and of its descendants. */
export function findProcesses(folder: string): Map<number, string> {
  const allProcesses = listProcesses().filter(({ pid }) => pid !== process.pid)
  const foundProcesses = new Map<number, string>()
  const addWithDescendants = ({ pid, args }: RunningProcess) => {
    if (foundProcesses.has(pid)) return
    foundProcesses.set(pid, args.join(' ').trim())
    for (const child of allProcesses) if (child.parentPid === pid) addWithDescendants(child)
  }
  // With the slash or quote that ends it, datos-1 is not datos-10.
  for (const runningProcess of allProcesses)
    if (new RegExp(`${folder}(?![\\w-])`).test(runningProcess.texto)) addWithDescendants(runningProcess)
  return foundProcesses
}

/** The service's own Node process, below npm and its shell. */
export function findNodeProcess(dataDir: string): number {
  const nodeProcesses = [...findProcesses(dataDir)].filter(
    ([, command]) => basename(command.split(' ')[0]!) === 'node' && command.includes('server/generated/main.mjs'),
  )
  if (nodeProcesses.length !== 1)
    throw new Error(`expected one service on ${dataDir}, found ${JSON.stringify(nodeProcesses)}`)
  return nodeProcesses[0]![0]
}

interface Respuesta {
  status: number
  headers: Record<string, string | string[] | undefined>
  texto: string
  // A test reads what it expects to be there.
  // biome-ignore lint/suspicious/noExplicitAny: the raw answer of a raw request
  body: any
}

/** One request over a connection of its own. */
export function requestSeparately(
  url: string,
  options: { method?: string; llave?: string; body?: unknown; headers?: Record<string, string> } = {},
) {
  const { method = 'GET', llave, body, headers: cabeceras } = options
  return new Promise<Respuesta>((resolve, reject) => {
    const headers = {
      ...(llave ? { Authorization: `Bearer ${llave}` } : {}),
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...cabeceras,
    }
    const solicitud = request(url, { method, agent: false, headers, timeout: 120_000 }, (res) => {
      let text = ''
      res.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      res.on('error', reject)
      res.on('end', () => {
        const isJson = /json/.test(res.headers['content-type'] ?? '') && text !== ''
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          texto: text,
          body: isJson ? JSON.parse(text) : undefined,
        })
      })
    })
    solicitud.on('timeout', () => solicitud.destroy(new Error('no answer in two minutes')))
    solicitud.on('error', reject)
    solicitud.end(body ? JSON.stringify(body) : undefined)
  })
}

/** The same, or undefined while nobody listens. */
export const probeUrl = (url: string) => requestSeparately(url).catch(() => undefined)

/** Waits until the console says that the service is ready; returns its address. */
export const listo = (testProcess: TestProcess) =>
  waitUntil(async () => {
    if (testProcess.fin)
      throw new Error(`it ended instead of serving: ${JSON.stringify(testProcess.fin)}\n${testProcess.errores}`)
    return /^ {2}API +(https?:\S+)\/api\/v1$/m.exec(testProcess.output)?.[1]
  })
