import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { waitUntil } from './factories.ts'
import { findFreePort } from './ports.ts'

/** PgBouncer's program, Debian's or another; undefined: there is none. */
export const PGBOUNCER = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((programPath) => existsSync(programPath))

/**
 * PgBouncer in transaction mode before a server: any database of it, by the same name.
 * @param sesiones connections to each database: very few, so that transactions get others' sessions
 */
export async function startPooler(postgres: string, sesiones = 3) {
  const { hostname, port, username, password } = new URL(postgres)
  const folder = await mkdtemp(join(tmpdir(), 'guias-pooler-'))
  const poolerPort = await findFreePort()
  const ini = join(folder, 'pgbouncer.ini')
  const key = password && ` password=${decodeURIComponent(password)}`
  await writeFile(
    ini,
    `[databases]
* = host=${hostname} port=${port} user=${decodeURIComponent(username)}${key}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${poolerPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sesiones}
max_client_conn = 1000
`,
  )
  for (const path of [folder, ini]) await chmod(path, 0o755)
  // It refuses to run as root.
  const runAsArgs = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const childProcess = spawn(PGBOUNCER!, [...runAsArgs, ini], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errorOutput = ''
  childProcess.stderr.setEncoding('utf8').on('data', (text) => {
    errorOutput += text
  })
  const end = once(childProcess, 'exit')
  await waitUntil(async () => {
    if (childProcess.exitCode !== null) throw new Error(`pgbouncer ended: ${errorOutput}`)
    const probe = connect(poolerPort, '127.0.0.1')
    return await once(probe, 'connect').then(
      () => probe.destroy(),
      () => undefined,
    )
  })
  return {
    pid: childProcess.pid!,
    /** The same database through it. */
    url(directUrl: string): string {
      const url = new URL(directUrl)
      url.host = `127.0.0.1:${poolerPort}`
      return url.href
    },
    async stop() {
      childProcess.kill('SIGINT')
      await end
      await rm(folder, { recursive: true, force: true })
    },
  }
}
