/**
 * Prepares a fresh clone before any other script runs: installs packages and generates the files that are not
 * committed, and prints each step. Uses only Node 20's built-in modules. Takes some 30 ms if nothing is missing.
 *
 * `prepare.mjs` prepares the service. `prepare.mjs all` also installs the tools for tests, checks and benches (the
 * workspaces `test` and `bench`). `prepare.mjs generate` does both, and runs all generators again even if their output
 * is current.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const toPath = (...parts) => join(ROOT, ...parts)
const NODE_24 = toPath('node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
const MARK_FILE = toPath('node_modules', '.cache', 'guias', 'prepared.json')
/** File that npm writes last. If it exists, the installation is complete. */
const INSTALLED_LOCK_FILE = toPath('node_modules', '.package-lock.json')
/** File of a package that only the workspace `test` needs. If it exists, that workspace is installed. */
const TEST_PACKAGE_FILE = toPath('node_modules', 'vitest', 'package.json')
const GENERATE_ALL = process.argv[2] === 'generate'
const WITH_TESTS = GENERATE_ALL || process.argv[2] === 'all'
/** Generated files. If one is missing, everything is generated again. */
const GENERATED_FILES = [
  'server/generated/contract/contrato.json',
  'server/generated/contract/prisma/client.ts',
  'server/generated/contract/pages/location/navegador.js',
  'server/generated/contract/pages/courier/navegador.js',
  'server/generated/contract/validators.mjs',
  'server/generated/main.mjs',
  'server/generated/worker.mjs',
  'server/generated/thread.mjs',
  'sdk/dist/index.js',
  'sdk/mcp/dist/main.js',
  'sdk/LICENSE',
  'sdk/CHANGELOG.md',
  'sdk/mcp/LICENSE',
]

const printLine = (text) => process.stderr.write(`${text}\n`)

/**
 * Files that a generator writes beside sources (`scripts/generate/sdk.ts`), because npm packs no files from outside the
 * package.
 */
const COPIED_FILES = ['LICENSE', 'CHANGELOG.md', 'mcp/LICENSE'].map((file) => toPath('sdk', file))

/**
 * Returns a digest that changes when a file below the given paths changes. It covers names, sizes and times, which is
 * ten times faster than reading contents.
 */
function digestOf(paths) {
  const hash = createHash('sha256')
  const addFile = (path) => {
    const { mtimeMs, size } = statSync(path)
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  const addFolder = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) {
        if (!['generated', 'dist', 'node_modules'].includes(entry.name)) addFolder(join(path, entry.name))
      } else if (entry.isFile() && !COPIED_FILES.includes(join(path, entry.name))) addFile(join(path, entry.name))
    }
  }
  for (const path of paths.map((name) => toPath(name))) statSync(path).isDirectory() ? addFolder(path) : addFile(path)
  return hash.digest('hex')
}

const writeMark = (mark) => {
  mkdirSync(join(MARK_FILE, '..'), { recursive: true })
  writeFileSync(MARK_FILE, JSON.stringify(mark))
}

const readMark = () => {
  try {
    return JSON.parse(readFileSync(MARK_FILE, 'utf8'))
  } catch {
    return {}
  }
}

/**
 * Returns the digests of the lock file and of the sources. The lock file counts by content, because npm rewrites it,
 * and no other source, when it installs.
 */
const computeTarget = () => ({
  installed: createHash('sha256')
    .update(readFileSync(toPath('package-lock.json')))
    .digest('hex'),
  contract: digestOf([
    'openapi',
    'prisma/schema.prisma',
    'redocly.yaml',
    'scripts/generate.ts',
    'scripts/generate',
    'scripts/documentation',
    'server/platform/csv.ts',
    'server/platform/telephones',
    'server/platform/time/relativeDays.ts',
    'server/pages/docs/bar.ts',
    'server/pages/docs/address.ts',
    'sdk',
  ]),
  server: digestOf(['server']),
})

/** Child process that is running. Signals to this process are passed on to it. */
let child

/**
 * Runs a program without showing its output.
 * @throws with the program's whole output, if it fails
 */
function runProgram(program, args, env = {}) {
  return new Promise((resolve, reject) => {
    const output = []
    child = spawn(program, args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      shell: program.endsWith('.cmd'),
    })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
    const fail = (cause = '') =>
      reject(new Error(`${Buffer.concat(output)}\nFalló «${[program, ...args].join(' ')}»${cause}.`))
    child.on('error', ({ message }) => fail(`: ${message}`))
    child.on('close', (code) => (code === 0 ? resolve() : fail()))
  })
}

const formatElapsed = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`

/**
 * Runs a step and prints its elapsed time: every second on a terminal, else every ten seconds. Exits with 1 if the step
 * fails.
 */
async function runStep(title, perform) {
  const start = Date.now()
  const [carriageReturn, newline, interval] = process.stderr.isTTY ? ['\r', '', 1_000] : ['', '\n', 10_000]
  const printProgress = () => process.stderr.write(`${carriageReturn}${title}… ${formatElapsed(start)} ${newline}`)
  printProgress()
  const timer = setInterval(printProgress, interval)
  try {
    await perform()
  } catch (error) {
    printLine(`${carriageReturn}${title}: falló a los ${formatElapsed(start)}\n${error.message}`)
    process.exit(1)
  }
  clearInterval(timer)
  printLine(`${carriageReturn}${title}: hecho en ${formatElapsed(start)}`)
}

/**
 * Installs the packages of the lock file. Includes development dependencies even with NODE_ENV=production, because the
 * generators are among them. Over a complete installation, npm installs only missing packages and other versions.
 * @param overExisting true if a complete installation exists
 */
function install(overExisting, withTests) {
  const workspaceArgs = withTests ? [] : ['--workspace=sdk', '--include-workspace-root']
  const command = overExisting ? ['install', '--no-save'] : ['ci']
  const args = [...command, '--include=dev', ...workspaceArgs, '--no-audit', '--no-fund']
  const npm = process.env.npm_execpath
  if (npm?.endsWith('.js')) return runProgram(process.env.npm_node_execpath ?? process.execPath, [npm, ...args])
  return runProgram(process.platform === 'win32' ? 'npm.cmd' : 'npm', args)
}

/**
 * Runs `perform` under a lock file, because two concurrent first starts would overwrite each other's installation. Waits
 * while another process holds the lock.
 */
async function runLocked(perform) {
  const lockFile = join(tmpdir(), `guias-preparar-${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}`)
  let announced = false
  for (;;) {
    try {
      closeSync(openSync(lockFile, 'wx'))
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const pid = Number(readFileSync(lockFile, 'utf8')) || 0
      const isStale = Date.now() - statSync(lockFile).mtimeMs > 5_000
      if (pid > 0 ? !isAlive(pid) : isStale) rmSync(lockFile, { force: true })
      else if (!announced) {
        announced = true
        printLine('Otro proceso lo está preparando: se espera a que termine…')
      } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
  writeFileSync(lockFile, String(process.pid))
  const release = () => rmSync(lockFile, { force: true })
  process.on('exit', release)
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      child?.kill(signal)
      process.exit(130)
    })
  await perform()
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const needsInstall = (mark, target) =>
  mark.installed !== target.installed || !existsSync(NODE_24) || (WITH_TESTS && !existsSync(TEST_PACKAGE_FILE))

const lacksGeneratedFiles = () => GENERATED_FILES.some((file) => !existsSync(toPath(file)))

async function installMissing(mark) {
  const withTests = WITH_TESTS || existsSync(TEST_PACKAGE_FILE)
  const overExisting = existsSync(INSTALLED_LOCK_FILE) && !mark.installing
  // If this step is interrupted, the mark makes the next run reinstall from scratch.
  if (overExisting) writeMark({ installing: true })
  const title = `Instalando lo que hace falta para ${withTests ? 'arrancar y probar' : 'arrancar'}`
  await runStep(title, () => install(overExisting, withTests))
  const { installed } = computeTarget()
  // Another lock file may contain other versions of the generators, so their output counts as stale.
  const remaining = mark.installed === installed ? mark : { installed }
  writeMark(remaining)
  return remaining
}

async function prepare() {
  const start = Date.now()
  let mark = readMark()
  if (needsInstall(mark, computeTarget())) mark = await installMissing(mark)
  const target = computeTarget()
  const generateAll = GENERATE_ALL || lacksGeneratedFiles() || mark.contract !== target.contract
  if (generateAll || mark.server !== target.server) {
    const args = [toPath('scripts', 'generate.ts'), ...(generateAll ? [] : ['server'])]
    const subject = generateAll ? 'tipos, cliente, documentación y servidor' : 'el servidor'
    await runStep(`Generando ${subject}`, () => runProgram(NODE_24, args, { NODE_ENV: 'development' }))
  }
  writeMark(target)
  const script = process.env.npm_lifecycle_event
  printLine(`Preparado en ${formatElapsed(start)}${script === 'prestart' ? '. Arrancando…' : ''}`)
}

const isCurrent = () => {
  const mark = readMark()
  const target = computeTarget()
  return (
    !needsInstall(mark, target) &&
    !lacksGeneratedFiles() &&
    ['contract', 'server'].every((key) => mark[key] === target[key])
  )
}

if (GENERATE_ALL || !isCurrent()) await runLocked(prepare)
