import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch } from './cleanup.ts'

/** Message in Spanish for a machine without pgbench. */
export const PGBENCH_MISSING = `Falta pgbench en el PATH; se omiten las referencias que lo usan. Para tenerlo:
  Debian o Ubuntu   sudo apt-get install postgresql-contrib
  Fedora            sudo dnf install postgresql-contrib
  macOS             brew install libpq && export PATH="$(brew --prefix libpq)/bin:$PATH"`

/** Number of pgbench runs so far. Each run starts its keys at another `:base`, so that rows never collide. */
let runCount = 0

/** Parameters of one pgbench run. */
export interface PgbenchRun {
  url: string
  folder: string
  script: string
  clients: number
  segundos: number
  /** Texts that the script names `:name`. pgbench sends each as a parameter with every execution. */
  texts?: Readonly<Record<string, string>>
}

/**
 * Runs a script in prepared mode and returns its transactions per second.
 * @throws if pgbench or one of its transactions fails
 */
export async function runPgbench({ url, folder, script, clients, segundos, texts = {} }: PgbenchRun): Promise<number> {
  const file = join(folder, `guion-${++runCount}.sql`)
  writeFileSync(file, script)
  const { hostname, port, username, password, pathname } = new URL(url)
  const variables = { base: `${runCount * 2 ** 28}`, n: '0', ...texts }
  const args = [
    '--no-vacuum',
    '-M',
    'prepared',
    '-c',
    `${clients}`,
    '-j',
    '2',
    '-T',
    `${segundos}`,
    '-f',
    file,
    ...Object.entries(variables).flatMap(([name, text]) => ['-D', `${name}=${text}`]),
  ]
  const { child, finish } = launch('pgbench', args, {
    env: {
      ...process.env,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: pathname.slice(1),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  const code = await new Promise((resolve) => child.once('close', resolve))
  await finish()
  rmSync(file)
  // pgbench prints no rate if it processed no transaction.
  const tps = /^number of transactions actually processed: 0$/m.test(output)
    ? '0'
    : /^tps = ([\d.]+)/m.exec(output)?.[1]
  const fallidas = /^number of failed transactions: (\d+)/m.exec(output)?.[1] ?? '0'
  if (code !== 0 || tps === undefined || fallidas !== '0') throw new Error(`pgbench falló:\n${output}`)
  return Number(tps)
}
