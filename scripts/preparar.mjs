/**
 * Makes a fresh clone runnable before any other script: installs what the lock names, generates what is not committed.
 * Needs nothing but Node 20's built-ins, and does nothing (in some 30 ms) when there is nothing to do.
 */
import { spawnSync } from 'node:child_process'
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
/** `npm run generar`: everything is generated anew, whatever seems to stand. */
const GENERAR_TODO = process.argv[2] === 'generar'
/** If one of these is gone, somebody cleaned up. */
const SALIDAS = [
  'server/contrato/generado/contrato.json',
  'server/contrato/generado/prisma/client.ts',
  'server/contrato/generado/paginas/ubicacion/navegador.js',
  'server/contrato/generado/paginas/repartidor/navegador.js',
  'server/generado/main.mjs',
  'server/generado/worker.mjs',
  'server/generado/hilo.mjs',
  'sdk/dist/index.js',
]

const decir = (texto) => process.stderr.write(`${texto}\n`)

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
      } else if (entrada.isFile()) mirar(join(ruta, entrada.name))
    }
  }
  for (const ruta of rutas.map((r) => en(r))) statSync(ruta).isDirectory() ? recorrer(ruta) : mirar(ruta)
  return hash.digest('hex')
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
    'sdk',
  ]),
  servidor: huella(['server']),
})

function correr(programa, args, env = {}) {
  const { status, error } = spawnSync(programa, args, {
    cwd: raiz,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })
  if (error || status !== 0) {
    decir(`Falló «${[programa, ...args].join(' ')}»${error ? `: ${error.message}` : ''}.`)
    process.exit(1)
  }
}

/** `npm ci`, also for a user whose NODE_ENV is production: Node 24 and the generators are development dependencies. */
function instalar() {
  decir('Instalando dependencias; la primera vez tarda un minuto o dos…')
  const npm = process.env.npm_execpath
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund']
  if (npm?.endsWith('.js')) correr(process.env.npm_node_execpath ?? process.execPath, [npm, ...args])
  else correr(process.platform === 'win32' ? 'npm.cmd' : 'npm', args)
}

/** Two first starts at once would install over each other: the second waits for the first. */
function conCerrojo(hacer) {
  const cerrojo = join(tmpdir(), `guias-preparar-${createHash('sha256').update(raiz).digest('hex').slice(0, 12)}`)
  for (;;) {
    try {
      closeSync(openSync(cerrojo, 'wx'))
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const pid = Number(readFileSync(cerrojo, 'utf8')) || 0
      const viejo = Date.now() - statSync(cerrojo).mtimeMs > 5_000
      if (pid > 0 ? !vive(pid) : viejo) rmSync(cerrojo, { force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
  writeFileSync(cerrojo, String(process.pid))
  const soltar = () => rmSync(cerrojo, { force: true })
  process.on('exit', soltar)
  for (const senal of ['SIGINT', 'SIGTERM']) process.on(senal, () => process.exit(130))
  hacer()
}

function vive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function preparar() {
  let marca = leerMarca()
  let meta = deseado()
  if (marca.instalado !== meta.instalado || !existsSync(NODE_24)) {
    instalar()
    marca = { instalado: meta.instalado }
  }
  meta = deseado()
  const falta = SALIDAS.some((salida) => !existsSync(en(salida)))
  const todo = GENERAR_TODO || falta || marca.contrato !== meta.contrato
  if (todo || marca.servidor !== meta.servidor) {
    decir(todo ? 'Generando tipos, cliente, documentación y servidor…' : 'Generando el servidor…')
    correr(NODE_24, [en('scripts', 'generar.ts'), ...(todo ? [] : ['servidor'])], { NODE_ENV: 'development' })
  }
  mkdirSync(join(MARCA, '..'), { recursive: true })
  writeFileSync(MARCA, JSON.stringify(meta))
}

const alDia = () => {
  const marca = leerMarca()
  const meta = deseado()
  return (
    Object.keys(meta).every((clave) => marca[clave] === meta[clave]) &&
    [NODE_24, ...SALIDAS.map((s) => en(s))].every((ruta) => existsSync(ruta))
  )
}

if (GENERAR_TODO || !alDia()) conCerrojo(preparar)
