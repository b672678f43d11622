import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lanzar } from './limpieza.ts'

export const FALTA_PGBENCH = `Falta pgbench en el PATH; se omiten las referencias que lo usan. Para tenerlo:
  Debian o Ubuntu   sudo apt-get install postgresql-contrib
  Fedora            sudo dnf install postgresql-contrib
  macOS             brew install libpq && export PATH="$(brew --prefix libpq)/bin:$PATH"`

/** Each run writes rows of its own: scripts start their keys at `:base`. */
let corridas = 0

export interface Corrida {
  url: string
  carpeta: string
  guion: string
  clientes: number
  segundos: number
  /** Texts that the script names `:name`, each sent as a parameter with every execution. */
  textos?: Readonly<Record<string, string>>
}

/** Transactions per second of a script, prepared. A failed transaction fails the bench. */
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
    '-D',
    `base=${corridas * 2 ** 28}`,
    '-D',
    'n=0',
    ...Object.entries(textos).flatMap(([nombre, texto]) => ['-D', `${nombre}=${texto}`]),
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
  // Of a second in which the machine let none through it tells no rate.
  const tps = /^number of transactions actually processed: 0$/m.test(salida)
    ? '0'
    : /^tps = ([\d.]+)/m.exec(salida)?.[1]
  const fallidas = /^number of failed transactions: (\d+)/m.exec(salida)?.[1] ?? '0'
  if (codigo !== 0 || tps === undefined || fallidas !== '0') throw new Error(`pgbench falló:\n${salida}`)
  return Number(tps)
}
