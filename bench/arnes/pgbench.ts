import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lanzar } from './limpieza.ts'

/** Message in Spanish for a machine without pgbench. */
export const FALTA_PGBENCH = `Falta pgbench en el PATH; se omiten las referencias que lo usan. Para tenerlo:
  Debian o Ubuntu   sudo apt-get install postgresql-contrib
  Fedora            sudo dnf install postgresql-contrib
  macOS             brew install libpq && export PATH="$(brew --prefix libpq)/bin:$PATH"`

/** Number of pgbench runs so far. Each run starts its keys at another `:base`, so that rows never collide. */
let corridas = 0

/** Parameters of one pgbench run. */
export interface Corrida {
  url: string
  carpeta: string
  guion: string
  clientes: number
  segundos: number
  /** Texts that the script names `:name`. pgbench sends each as a parameter with every execution. */
  textos?: Readonly<Record<string, string>>
}

/**
 * Runs a script in prepared mode and returns its transactions per second.
 * @throws if pgbench or one of its transactions fails
 */
export async function correrPgbench({
  url,
  carpeta,
  guion,
  clientes,
  segundos,
  textos = {},
}: Corrida): Promise<number> {
  const archivo = join(carpeta, `guion-${++corridas}.sql`)
  writeFileSync(archivo, guion)
  const { hostname, port, username, password, pathname } = new URL(url)
  const variables = { base: `${corridas * 2 ** 28}`, n: '0', ...textos }
  const args = [
    '--no-vacuum',
    '-M',
    'prepared',
    '-c',
    `${clientes}`,
    '-j',
    '2',
    '-T',
    `${segundos}`,
    '-f',
    archivo,
    ...Object.entries(variables).flatMap(([nombre, texto]) => ['-D', `${nombre}=${texto}`]),
  ]
  const { hijo, terminar } = lanzar('pgbench', args, {
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
  let salida = ''
  for (const corriente of [hijo.stdout, hijo.stderr]) {
    corriente?.setEncoding('utf8').on('data', (trozo: string) => {
      salida += trozo
    })
  }
  const codigo = await new Promise((resolve) => hijo.once('close', resolve))
  await terminar()
  rmSync(archivo)
  // pgbench prints no rate if it processed no transaction.
  const tps = /^number of transactions actually processed: 0$/m.test(salida)
    ? '0'
    : /^tps = ([\d.]+)/m.exec(salida)?.[1]
  const fallidas = /^number of failed transactions: (\d+)/m.exec(salida)?.[1] ?? '0'
  if (codigo !== 0 || tps === undefined || fallidas !== '0') throw new Error(`pgbench falló:\n${salida}`)
  return Number(tps)
}
