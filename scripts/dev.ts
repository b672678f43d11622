/**
 * Entry point of `npm run dev`: runs the service from its sources, and restarts it when a file in `server/`, `openapi/`
 * or `prisma/` changes. Changes of the contract or of the database's schema generate everything again first, and
 * changes of browser modules and style sheets generate the pages. This process holds the embedded PostgreSQL, so that
 * the database runs on while the service restarts. Ctrl-C stops the service and then the database.
 *
 * Takes the variables of `npm start`, except API_PROCESSES: the service is one process.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { acquirePostgres, EmbeddedPostgresError } from '../server/data/embedded/embedded.ts'
import { ConfigError, readConfig } from '../server/platform/config/config.ts'
import { watchFolders } from './dev/changes.ts'

const ROOT_FOLDER = fileURLToPath(new URL('../', import.meta.url))
/** Time in which the service must stop before it is killed, in milliseconds. */
const STOP_LIMIT = 1_000
const CONTRACT = /^(?:openapi\/|prisma\/schema\.prisma$)/
const PAGES = /^server\/pages\/(?:.*\/browser\/|.*\.css$)/

const say = (line: string) => process.stdout.write(`[dev] ${line}\n`)
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(2)} s`

/** Generators that changed files need, as arguments of Node. */
function generatorsOf(paths: readonly string[]): string[] | undefined {
  if (paths.some((path) => CONTRACT.test(path))) return ['scripts/prepare.mjs', 'generate']
  return paths.some((path) => PAGES.test(path)) ? ['scripts/generate.ts', 'pages'] : undefined
}

/** Process that is running: a generator or the service. */
let child: ChildProcess | undefined
let stopping = false
/** Processes that this process stopped itself. */
const stopped = new WeakSet<ChildProcess>()
/** Changed files that the running service does not have. */
const pending = new Set<string>()
/** Changed files after which a generator failed: its output is incomplete, so the next change runs it again. */
const ungenerated = new Set<string>()
/** True while a restart is under way. */
let working = false

function run(args: readonly string[]): ChildProcess {
  const { API_PROCESSES: _, ...env } = process.env
  const started = spawn(process.execPath, ['--disable-warning=DEP0169', ...args], {
    cwd: ROOT_FOLDER,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child = started
  started.once('exit', () => {
    if (child === started) child = undefined
  })
  return started
}

/** Stops the running process and waits for its end. */
async function stop(): Promise<void> {
  const running = child
  if (!running) return
  stopped.add(running)
  const ended = new Promise((resolve) => running.once('exit', resolve))
  running.kill('SIGTERM')
  const timer = setTimeout(() => running.kill('SIGKILL'), STOP_LIMIT)
  await ended
  clearTimeout(timer)
}

/** Runs generators to their end; false if one failed or was stopped. */
const generate = (args: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => run(args).once('exit', (code) => resolve(code === 0)))

function start(since: number, reason: string): void {
  const service = run(['scripts/dev/service.ts'])
  let ready = false
  service.once('message', () => {
    ready = true
    say(`${reason}: ready after ${seconds(since)}`)
  })
  service.once('exit', (code, signal) => {
    if (!stopped.has(service))
      say(`the service ended (${signal ?? code})${ready ? '' : ' before it was ready'}; a change starts it again`)
  })
}

/** Restarts the service until no change is pending. Changes during a restart cause one more. */
async function restart(): Promise<void> {
  if (working) return
  working = true
  while (pending.size > 0 && !stopping) {
    const since = performance.now()
    const paths = [...pending]
    pending.clear()
    const what = `${paths[0]}${paths.length > 1 ? ` and ${paths.length - 1} more` : ''}`
    await stop()
    const generators = generatorsOf([...paths, ...ungenerated])
    if (generators && !stopping && !(await generate(generators))) {
      for (const path of paths) ungenerated.add(path)
      if (!stopping) say(`could not generate after a change of ${what}; the next change tries again`)
      continue
    }
    ungenerated.clear()
    if (!stopping) start(since, `${what} changed`)
  }
  working = false
}

async function openDatabase(): Promise<() => Promise<void>> {
  const { database, dataDir } = readConfig(process.env, process.cwd())
  if (database.tipo === 'externa') return async () => {}
  // The service itself holds DATA_DIR exclusively, so this process uses the server in shared mode.
  const { release } = await acquirePostgres({ dataDir, exclusive: false })
  return release
}

async function main(): Promise<void> {
  const since = performance.now()
  const closing = openDatabase()
  const end = async () => {
    if (stopping) return
    stopping = true
    await stop()
    await closing.then(
      (close) => close(),
      () => {},
    )
    process.exit()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
  // The shell that npm starts dies of SIGTERM without passing it on. A new parent process id shows that this has
  // happened.
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && end(), 250)
  try {
    await closing
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof EmbeddedPostgresError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  watchFolders(ROOT_FOLDER, ['server', 'openapi', 'prisma'], (paths) => {
    for (const path of paths) pending.add(path)
    void restart()
  })
  start(since, 'service started')
}

await main()
