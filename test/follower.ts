import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync } from 'node:fs'
import { appendFile, cp, readdir, readlink, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { waitUntil } from './factories.ts'

/** A server that repeats another one, made of a copy of its files. */
export class StandbyServer {
  readonly #datos: string
  readonly #port: number
  readonly #primary: URL
  /** The program that the other server is, and whose files they are. */
  #runAs: { postgres: string; uid: number; gid: number } | undefined
  #child: ChildProcess | undefined

  constructor(datos: string, port: number, primary: URL) {
    this.#datos = datos
    this.#port = port
    this.#primary = primary
  }

  get url(): string {
    const url = new URL(this.#primary)
    url.port = `${this.#port}`
    return url.href
  }

  async copyFiles(admin: pg.Client): Promise<void> {
    const { rows } = await admin.query(
      "select pg_backup_start('replica', true), current_setting('data_directory') as datos, pg_backend_pid() as pid",
    )
    await cp(rows[0].datos, this.#datos, {
      recursive: true,
      filter: (path) => !/(postmaster\.(pid|opts)|pg_internal\.init[.\d]*)$/.test(path),
    })
    const { rows: end } = await admin.query('select labelfile from pg_backup_stop(false)')
    await writeFile(join(this.#datos, 'backup_label'), end[0].labelfile)
    await writeFile(join(this.#datos, 'standby.signal'), '')
    const { hostname, port, username, password } = this.#primary
    const conninfo = `host=${hostname} port=${port} user=${username} ${password && `password=${password}`}`
    await appendFile(join(this.#datos, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
    // The same user's as the files that were copied.
    const { uid, gid } = await stat(rows[0].datos)
    this.#runAs = { postgres: await readlink(`/proc/${rows[0].pid}/exe`), uid, gid }
    chmodSync(this.#datos, 0o700)
    for (const name of ['', ...(await readdir(this.#datos, { recursive: true }))])
      chownSync(join(this.#datos, name), uid, gid)
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const { postgres, uid, gid } = this.#runAs!
    const settings = [`port=${this.#port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'hot_standby=on']
    this.#child = spawn(postgres, ['-D', this.#datos, ...settings.flatMap((setting) => ['-c', setting])], {
      cwd: dirname(this.#datos),
      stdio: 'ignore',
      ...(process.getuid?.() === 0 ? { uid, gid } : {}),
    })
    await waitUntil(() => this.request('select 1').catch(() => undefined))
  }

  /** As when its machine goes away. */
  async kill(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const end = new Promise((listo) => child.once('exit', listo))
    child.kill('SIGQUIT')
    await end
  }

  async request<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }
}
