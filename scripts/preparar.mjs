/**
 * Prepares a fresh clone before any other script runs: installs packages and generates the files that are not
 * committed, and prints each step. Uses only Node 20's built-in modules. Takes some 30 ms if nothing is missing.
 *
 * `preparar.mjs` prepares the service. `preparar.mjs todo` also installs the tools for tests, checks and benches (the
 * workspaces `test` and `bench`). `preparar.mjs generar` does both, and runs all generators again even if their output
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

const raiz = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const en = (...partes) => join(raiz, ...partes)
const NODE_24 = en('node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
const MARCA = en('node_modules', '.cache', 'guias', 'preparado.json')
/** File that npm writes last. If it exists, the installation is complete. */
const DE_NPM = en('node_modules', '.package-lock.json')
/** File of a package that only the workspace `test` needs. If it exists, that workspace is installed. */
const DE_PRUEBAS = en('node_modules', 'vitest', 'package.json')
const GENERAR_TODO = process.argv[2] === 'generar'
const CON_PRUEBAS = GENERAR_TODO || process.argv[2] === 'todo'
/** Generated files. If one is missing, everything is generated again. */
const SALIDAS = [
  'server/generado/contrato/contrato.json',
  'server/generado/contrato/prisma/client.ts',
  'server/generado/contrato/paginas/ubicacion/navegador.js',
  'server/generado/contrato/paginas/repartidor/navegador.js',
  'server/generado/contrato/validadores.mjs',
  'server/generado/main.mjs',
  'server/generado/worker.mjs',
  'server/generado/hilo.mjs',
  'sdk/dist/index.js',
  'sdk/mcp/dist/principal.js',
  'sdk/LICENSE',
  'sdk/CHANGELOG.md',
  'sdk/mcp/LICENSE',
]

const decir = (texto) => process.stderr.write(`${texto}\n`)

/**
 * Files that a generator writes beside sources (`scripts/generar/sdk.ts`), because npm packs no files from outside the
 * package.
 */
const COPIAS = ['LICENSE', 'CHANGELOG.md', 'mcp/LICENSE'].map((copia) => en('sdk', copia))

/**
 * Returns a digest that changes when a file below the given paths changes. It covers names, sizes and times, which is
 * ten times faster than reading contents.
 */
function huella(rutas) {
  const hash = createHash('sha256')
  const mirar = (ruta) => {
    const { mtimeMs, size } = statSync(ruta)
    hash.update(`${ruta} ${size} ${mtimeMs}\n`)
  }
  const recorrer = (ruta) => {
    for (const entrada of readdirSync(ruta, { withFileTypes: true })) {
      if (entrada.isDirectory()) {
        if (!['generado', 'dist', 'node_modules'].includes(entrada.name)) recorrer(join(ruta, entrada.name))
      } else if (entrada.isFile() && !COPIAS.includes(join(ruta, entrada.name))) mirar(join(ruta, entrada.name))
    }
  }
  for (const ruta of rutas.map((r) => en(r))) statSync(ruta).isDirectory() ? recorrer(ruta) : mirar(ruta)
  return hash.digest('hex')
}

const escribirMarca = (marca) => {
  mkdirSync(join(MARCA, '..'), { recursive: true })
  writeFileSync(MARCA, JSON.stringify(marca))
}

const leerMarca = () => {
  try {
    return JSON.parse(readFileSync(MARCA, 'utf8'))
  } catch {
    return {}
  }
}

/**
 * Returns the digests of the lock file and of the sources. The lock file counts by content, because npm rewrites it,
 * and no other source, when it installs.
 */
const deseado = () => ({
  instalado: createHash('sha256')
    .update(readFileSync(en('package-lock.json')))
    .digest('hex'),
  contrato: huella([
    'openapi',
    'prisma/schema.prisma',
    'redocly.yaml',
    'scripts/generar.ts',
    'scripts/generar',
    'scripts/documentacion',
    'server/pages/docs/plantilla.hbs',
    'server/pages/docs/direccion.ts',
    'sdk',
  ]),
  servidor: huella(['server']),
})

/** Child process that is running. Signals to this process are passed on to it. */
let hijo

/**
 * Runs a program without showing its output.
 * @throws with the program's whole output, if it fails
 */
function correr(programa, args, env = {}) {
  return new Promise((resolve, reject) => {
    const dicho = []
    hijo = spawn(programa, args, {
      cwd: raiz,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      shell: programa.endsWith('.cmd'),
    })
    for (const flujo of [hijo.stdout, hijo.stderr]) flujo.on('data', (trozo) => dicho.push(trozo))
    const fallar = (causa = '') =>
      reject(new Error(`${Buffer.concat(dicho)}\nFalló «${[programa, ...args].join(' ')}»${causa}.`))
    hijo.on('error', ({ message }) => fallar(`: ${message}`))
    hijo.on('close', (codigo) => (codigo === 0 ? resolve() : fallar()))
  })
}

const segundos = (desde) => `${((Date.now() - desde) / 1000).toFixed(0)} s`

/**
 * Runs a step and prints its elapsed time: every second on a terminal, else every ten seconds. Exits with 1 if the step
 * fails.
 */
async function paso(titulo, hacer) {
  const inicio = Date.now()
  const [vuelta, salto, cada] = process.stderr.isTTY ? ['\r', '', 1_000] : ['', '\n', 10_000]
  const contar = () => process.stderr.write(`${vuelta}${titulo}… ${segundos(inicio)} ${salto}`)
  contar()
  const reloj = setInterval(contar, cada)
  try {
    await hacer()
  } catch (error) {
    decir(`${vuelta}${titulo}: falló a los ${segundos(inicio)}\n${error.message}`)
    process.exit(1)
  }
  clearInterval(reloj)
  decir(`${vuelta}${titulo}: hecho en ${segundos(inicio)}`)
}

/**
 * Installs the packages of the lock file. Includes development dependencies even with NODE_ENV=production, because the
 * generators are among them. Over a complete installation, npm installs only missing packages and other versions.
 * @param sobreOtra true if a complete installation exists
 */
function instalar(sobreOtra, conPruebas) {
  const partes = conPruebas ? [] : ['--workspace=sdk', '--include-workspace-root']
  const orden = sobreOtra ? ['install', '--no-save'] : ['ci']
  const args = [...orden, '--include=dev', ...partes, '--no-audit', '--no-fund']
  const npm = process.env.npm_execpath
  if (npm?.endsWith('.js')) return correr(process.env.npm_node_execpath ?? process.execPath, [npm, ...args])
  return correr(process.platform === 'win32' ? 'npm.cmd' : 'npm', args)
}

/**
 * Runs `hacer` under a lock file, because two concurrent first starts would overwrite each other's installation. Waits
 * while another process holds the lock.
 */
async function conCerrojo(hacer) {
  const cerrojo = join(tmpdir(), `guias-preparar-${createHash('sha256').update(raiz).digest('hex').slice(0, 12)}`)
  let avisado = false
  for (;;) {
    try {
      closeSync(openSync(cerrojo, 'wx'))
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const pid = Number(readFileSync(cerrojo, 'utf8')) || 0
      const viejo = Date.now() - statSync(cerrojo).mtimeMs > 5_000
      if (pid > 0 ? !vive(pid) : viejo) rmSync(cerrojo, { force: true })
      else if (!avisado) {
        avisado = true
        decir('Otro proceso lo está preparando: se espera a que termine…')
      } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
  writeFileSync(cerrojo, String(process.pid))
  const soltar = () => rmSync(cerrojo, { force: true })
  process.on('exit', soltar)
  for (const senal of ['SIGINT', 'SIGTERM'])
    process.on(senal, () => {
      hijo?.kill(senal)
      process.exit(130)
    })
  await hacer()
}

function vive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

const faltaInstalar = (marca, meta) =>
  marca.instalado !== meta.instalado || !existsSync(NODE_24) || (CON_PRUEBAS && !existsSync(DE_PRUEBAS))

const faltanSalidas = () => SALIDAS.some((salida) => !existsSync(en(salida)))

async function ponerLoQueFalta(marca) {
  const conPruebas = CON_PRUEBAS || existsSync(DE_PRUEBAS)
  const sobreOtra = existsSync(DE_NPM) && !marca.instalando
  // If this step is interrupted, the mark makes the next run reinstall from scratch.
  if (sobreOtra) escribirMarca({ instalando: true })
  const titulo = `Instalando lo que hace falta para ${conPruebas ? 'arrancar y probar' : 'arrancar'}`
  await paso(titulo, () => instalar(sobreOtra, conPruebas))
  const { instalado } = deseado()
  // Another lock file may contain other versions of the generators, so their output counts as stale.
  const queda = marca.instalado === instalado ? marca : { instalado }
  escribirMarca(queda)
  return queda
}

async function preparar() {
  const inicio = Date.now()
  let marca = leerMarca()
  if (faltaInstalar(marca, deseado())) marca = await ponerLoQueFalta(marca)
  const meta = deseado()
  const todo = GENERAR_TODO || faltanSalidas() || marca.contrato !== meta.contrato
  if (todo || marca.servidor !== meta.servidor) {
    const args = [en('scripts', 'generar.ts'), ...(todo ? [] : ['servidor'])]
    const que = todo ? 'tipos, cliente, documentación y servidor' : 'el servidor'
    await paso(`Generando ${que}`, () => correr(NODE_24, args, { NODE_ENV: 'development' }))
  }
  escribirMarca(meta)
  const orden = process.env.npm_lifecycle_event
  decir(`Preparado en ${segundos(inicio)}${orden === 'prestart' ? '. Arrancando…' : ''}`)
}

const alDia = () => {
  const marca = leerMarca()
  const meta = deseado()
  return !faltaInstalar(marca, meta) && !faltanSalidas() && ['contrato', 'servidor'].every((c) => marca[c] === meta[c])
}

if (GENERAR_TODO || !alDia()) await conCerrojo(preparar)
