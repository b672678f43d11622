/**
 * Makes a fresh clone runnable before any other script: installs what is to come needs, generates what is not committed, and
 * says so. Needs nothing but Node 20's built-ins, and does nothing (in some 30 ms) when there is nothing to do.
 *
 * `preparar.mjs` is for what runs the service; `preparar.mjs todo` installs the tools of tests, checks and benches, too (the
 * workspaces `test` and `bench`); `preparar.mjs generar` does both and generates everything anew, whatever seems to stand.
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
/** npm writes it last: what it installed is whole. */
const DE_NPM = en('node_modules', '.package-lock.json')
/** Of the workspace `test` and of nothing else: where it is, that workspace is installed. */
const DE_PRUEBAS = en('node_modules', 'vitest', 'package.json')
const GENERAR_TODO = process.argv[2] === 'generar'
const CON_PRUEBAS = GENERAR_TODO || process.argv[2] === 'todo'
/** If one of these is gone, somebody cleaned up. */
const SALIDAS = [
  'server/contrato/generado/contrato.json',
  'server/contrato/generado/prisma/client.ts',
  'server/contrato/generado/paginas/ubicacion/navegador.js',
  'server/contrato/generado/paginas/repartidor/navegador.js',
  'server/contrato/generado/validadores.mjs',
  'server/generado/main.mjs',
  'server/generado/worker.mjs',
  'server/generado/hilo.mjs',
  'sdk/dist/index.js',
  'sdk/LICENSE',
  'sdk/CHANGELOG.md',
]

const decir = (texto) => process.stderr.write(`${texto}\n`)

/** What the generator writes among its sources, because npm packs nothing from elsewhere (`scripts/generar/sdk.ts`). */
const COPIAS = ['LICENSE', 'CHANGELOG.md'].map((copia) => en('sdk', copia))

/** Changes when a file below those paths does: names, sizes and times are enough, and ten times faster than contents. */
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

/** What stands and what should. The lock counts by content: npm rewrites nothing else when it installs. */
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
    'server/paginas/docs/plantilla.hbs',
    'server/paginas/docs/direccion.ts',
    'sdk',
  ]),
  servidor: huella(['server']),
})

/** The program that runs for us: a signal for us is for it, too. */
let hijo

/** Runs a program to its end, silently. @throws with all that it said, when it fails */
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

/** Does one of the steps and says how long it has been at it: in a terminal every second, elsewhere every ten. */
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
 * Installs what the lock names, also for a user whose NODE_ENV is production: the generators are development dependencies.
 * Over an install that is whole npm only puts what is missing or another version, and leaves the rest alone.
 */
function instalar(sobreOtra, conPruebas) {
  const partes = conPruebas ? [] : ['--workspace=sdk', '--include-workspace-root']
  const orden = sobreOtra ? ['install', '--no-save'] : ['ci']
  const args = [...orden, '--include=dev', ...partes, '--no-audit', '--no-fund']
  const npm = process.env.npm_execpath
  if (npm?.endsWith('.js')) return correr(process.env.npm_node_execpath ?? process.execPath, [npm, ...args])
  return correr(process.platform === 'win32' ? 'npm.cmd' : 'npm', args)
}

/** Two first starts at once would install over each other: the second waits for the first. */
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
  // What is interrupted half-way is installed anew from nothing.
  if (sobreOtra) escribirMarca({ instalando: true })
  const titulo = `Instalando lo que hace falta para ${conPruebas ? 'arrancar y probar' : 'arrancar'}`
  await paso(titulo, () => instalar(sobreOtra, conPruebas))
  const { instalado } = deseado()
  // Another lock may bring other generators.
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
