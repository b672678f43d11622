/**
 * Entry point of the static checks: style and layers, types, dead code, house rules, words, migrations and the contract.
 * `npm run check -- slow` also runs those that take a minute, which `npm run test:all` does.
 */
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const binaries = join(root, 'node_modules/.bin')

/**
 * Returns the command that checks the types of a project, incrementally. TypeScript 7 needs a third of the processor
 * time of TypeScript 6, which generators and the house rules use for its API.
 */
function types(project: string): string[] {
  const cacheFile = `node_modules/.cache/guias/${project.replace(/\W/g, '-')}.tsbuildinfo`
  return [
    'node',
    'node_modules/typescript-7/bin/tsc',
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    cacheFile,
    '-p',
    project,
  ]
}

/** Path of the contract as the server publishes it. */
const PUBLISHED_FILES = ['comercios', 'operaciones', 'publico'].map((d) => `server/generated/contract/${d}.json`)

/** Name of a step whose output is always printed, because it also reports that no earlier release exists. */
const VERSIONS_STEP = 'versions, and changes since the last release'
const STEPS: Record<string, string[]> = {
  'style and layers': ['biome', 'ci', '--error-on-warnings'],
  'types of the server, scripts and tests': types('.'),
  'types of the browser code': types('server/pages'),
  'types of the SDK': types('sdk'),
  'types of its command line': types('sdk/cli'),
  'types of its test double': types('sdk/pruebas'),
  'types of its other entries': types('sdk/entries'),
  'types of the package for assistants': types('sdk/mcp'),
  'dead code': ['knip'],
  'house rules': ['node', 'scripts/checks/rules.ts'],
  'migrations, compatible with the previous version': [
    'squawk',
    '--config',
    'prisma/squawk.toml',
    'prisma/migrations/*/migration.sql',
  ],
  'the contract': [
    'redocly',
    'lint',
    '--max-problems=50',
    'comercios',
    'operaciones',
    'publico',
    // Published contract with its samples, and the workflow that uses it.
    'server/generated/contract/comercios.json',
    'openapi/comercios/recorrido.arazzo.yaml',
  ],
  'names in code': ['cspell', 'lint', '--no-progress', '--no-summary'],
  'plain words': ['node', 'scripts/checks/prose.ts'],
  'table of configuration variables': ['node', 'scripts/checks/configuration.ts', '--comprobar'],
  [VERSIONS_STEP]: ['node', 'scripts/checks/compatibility.ts'],
}
/** Steps that take a minute. */
const LONG_STEPS: Record<string, string[]> = {
  'running time of regular expressions': ['node', 'scripts/checks/expressions.ts'],
  'the contract (Spectral, OWASP)': ['spectral', 'lint', '--fail-severity=hint', ...PUBLISHED_FILES],
}

function runProgram([program = '', ...args]: string[]): Promise<{ isGreen: boolean; output: string }> {
  return new Promise((resolve) => {
    const PATH = binaries + delimiter + (process.env.PATH ?? '')
    const child = spawn(join(binaries, program), args, { cwd: root, env: { ...process.env, PATH } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    child.on('close', (code) => resolve({ isGreen: code === 0, output }))
    child.on('error', (error) => resolve({ isGreen: false, output: String(error) }))
  })
}

// Two steps run concurrently, because the smallest supported machine has two cores.
const pending = Object.entries(process.argv[2] === 'slow' ? { ...LONG_STEPS, ...STEPS } : STEPS)
const turn = async () => {
  for (let step = pending.shift(); step; step = pending.shift()) {
    const [name, command] = step
    const startedAt = performance.now()
    const { isGreen, output } = await runProgram(command)
    console.log(`${isGreen ? '✔' : '✘'} ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
    if (!isGreen) process.exitCode = 1
    if (!isGreen || command === STEPS[VERSIONS_STEP]) console.log(output)
  }
}
await Promise.all([turn(), turn()])
