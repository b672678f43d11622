/** Entry point of the static checks: style and layers, types, dead code, house rules, words, migrations and the contract. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const raiz = fileURLToPath(new URL('../', import.meta.url))
const binarios = join(raiz, 'node_modules/.bin')

/** Returns the command that checks the types of a project, incrementally. */
function tipos(proyecto: string): string[] {
  const memoria = `node_modules/.cache/guias/${proyecto.replace(/\W/g, '-')}.tsbuildinfo`
  return ['tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', memoria, '-p', proyecto]
}

/** Path of the contract as the server publishes it. */
const PUBLICADO = ['comercios', 'operaciones', 'publico'].map((d) => `server/generado/contrato/${d}.json`)

const SPECTRAL = 'the contract (Spectral, OWASP)'
/** Files on which the result of a step depends. A step that passed is not repeated while these files stay unchanged. */
const ENTRADAS: Record<string, readonly string[]> = {
  [SPECTRAL]: [...PUBLICADO, '.spectral.yaml', 'package-lock.json'],
}

/**
 * Returns the path of the file that records that a step passed with its present command and inputs; undefined for a
 * step that always runs.
 */
function recuerdoDe(paso: string, orden: readonly string[]): string | undefined {
  const entradas = ENTRADAS[paso]
  if (!entradas) return undefined
  const huella = createHash('sha256').update(JSON.stringify(orden))
  for (const archivo of entradas) huella.update(readFileSync(join(raiz, archivo)))
  return join(raiz, 'node_modules/.cache/guias/pasos', huella.digest('hex'))
}

/** Name of a step whose output is always printed, because it also reports that no earlier release exists. */
const VERSIONES = 'versions, and changes since the last release'
const PASOS: Record<string, string[]> = {
  'style and layers': ['biome', 'ci', '--error-on-warnings'],
  'types of the server, scripts and tests': tipos('.'),
  'types of the browser code': tipos('server/pages'),
  'types of the SDK': tipos('sdk'),
  'types of its command line': tipos('sdk/cli'),
  'types of its test double': tipos('sdk/pruebas'),
  'types of the package for assistants': tipos('sdk/mcp'),
  'dead code': ['knip'],
  'house rules, and running time of regular expressions': ['node', 'scripts/reglas.ts'],
  'migrations, compatible with the previous version': [
    'squawk',
    '--config',
    'prisma/squawk.toml',
    'prisma/migrations/*/migration.sql',
  ],
  'the contract': [
    ...['redocly', 'lint', '--max-problems=50', 'comercios', 'operaciones', 'publico'],
    // Published contract with its samples, and the workflow that uses it.
    ...['server/generado/contrato/comercios.json', 'openapi/comercios/recorrido.arazzo.yaml'],
  ],
  'plain words': ['node', 'scripts/prose.ts'],
  'table of configuration variables': ['node', 'scripts/configuracion.ts', '--comprobar'],
  [VERSIONES]: ['node', 'scripts/compatibilidad.ts'],
  [SPECTRAL]: ['spectral', 'lint', '--fail-severity=hint', ...PUBLICADO],
}

function correr([programa = '', ...args]: string[]): Promise<{ bien: boolean; salida: string }> {
  return new Promise((resolve) => {
    const PATH = binarios + delimiter + (process.env.PATH ?? '')
    const hijo = spawn(join(binarios, programa), args, { cwd: raiz, env: { ...process.env, PATH } })
    let salida = ''
    for (const flujo of [hijo.stdout, hijo.stderr]) {
      flujo.on('data', (trozo) => {
        salida += trozo
      })
    }
    hijo.on('close', (codigo) => resolve({ bien: codigo === 0, salida }))
    hijo.on('error', (error) => resolve({ bien: false, salida: String(error) }))
  })
}

// Two steps run concurrently, because the smallest supported machine has two cores.
const pendientes = Object.entries(PASOS)
const turno = async () => {
  for (let paso = pendientes.shift(); paso; paso = pendientes.shift()) {
    const [nombre, orden] = paso
    const recuerdo = recuerdoDe(nombre, orden)
    if (recuerdo && existsSync(recuerdo)) {
      console.log(`✔ ${nombre} (unchanged)`)
      continue
    }
    const inicio = performance.now()
    const { bien, salida } = await correr(orden)
    console.log(`${bien ? '✔' : '✘'} ${nombre} (${((performance.now() - inicio) / 1000).toFixed(1)} s)`)
    if (!bien) process.exitCode = 1
    else if (recuerdo) {
      mkdirSync(dirname(recuerdo), { recursive: true })
      writeFileSync(recuerdo, '')
    }
    if (!bien || orden === PASOS[VERSIONES]) console.log(salida)
  }
}
await Promise.all([turno(), turno()])
