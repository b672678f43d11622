// A rehearsal of docs/operacion/backing-up.md: Debian's PostgreSQL, the files of despliegue/respaldos/, and
// the service before and after two disasters.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Guias } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { probeUrl, type TestProcess, useProcesses } from '../processes.ts'
import { DebianPostgres, findMissingTools, readManualCommand, readUnitCommand } from './ownServer.ts'

const processes = useProcesses()
const dataDir = processes.nextFolder()

/** Rows by which two states of the database are compared. */
const ESTADO = `select 'guia' as de, guia || estado || secuencia as fila from guia
  union all select 'evento', guia_id || '/' || secuencia || xid from evento
  union all select 'bitacora', id::text || xid from bitacora
  union all select 'archivo', archivo || encode(sha256, 'hex') from archivo order by 1, 2`

class Ensayo {
  readonly server: DebianPostgres
  readonly #port: number
  #child: TestProcess | undefined
  api!: Guias

  private constructor(server: DebianPostgres, port: number) {
    this.server = server
    this.#port = port
  }

  static async start(): Promise<Ensayo> {
    const server = await DebianPostgres.create(join(processes.base, 'servidor'))
    for (const command of ['stanza-create', 'check'])
      await server.runAsPostgres(...(readManualCommand(`pgbackrest --stanza=guias ${command}`) as [string]))
    const ensayo = new Ensayo(server, await findFreePort())
    await ensayo.startService()
    const { comercio } = await ensayo.admin('comercios', 'crear', '--nombre', 'La Ceiba')
    const { llave } = await ensayo.admin('llaves', 'crear', '--comercio', comercio, '--modo', 'test')
    ensayo.api = new Guias({ llave, baseUrl: ensayo.#base })
    return ensayo
  }

  get #base() {
    return `http://127.0.0.1:${this.#port}`
  }

  get #env() {
    return { DATABASE_URL: this.server.url, DATA_DIR: dataDir, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon' }
  }

  /** Starts the service, and returns as soon as it says that it is ready. */
  async startService(): Promise<TestProcess> {
    const proceso = processes.startService({ ...this.#env, PORT: `${this.#port}` })
    this.#child = proceso
    await waitUntil(async () => {
      if (proceso.fin) throw new Error(`it ended instead of serving: ${proceso.errores}${proceso.output}`)
      return (await probeUrl(`${this.#base}/readyz`))?.status === 200
    })
    return proceso
  }

  async stop(): Promise<void> {
    this.#child!.signalAll('SIGINT')
    await this.#child!.waitForEnd()
  }

  async admin(...args: string[]) {
    const { fin, output, errores } = await processes.admin([...args, '--json'], this.#env)
    expect([fin?.codigo, errores], args.join(' ')).toEqual([0, ''])
    return JSON.parse(output)
  }

  query<Row extends Record<string, unknown>>(sql: string) {
    return this.server.query<Row>(sql, 'guias')
  }

  estado = () => this.query<{ de: string; fila: string }>(ESTADO)

  async now(): Promise<string> {
    const [row] = await this.query<{ ahora: string }>(
      `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS+00') as ahora`,
    )
    return row!.ahora
  }

  async create(cambios = {}): Promise<string> {
    return (await this.api.guias.crear(buildGuia(cambios))).guia
  }

  /** Creates a guide, delivers it, and waits for its proof. */
  async deliver(telefono: string): Promise<string> {
    const guia = await this.create({ telefono })
    for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
      await this.api.simulador.avanzar(guia, { estado })
    await waitUntil(async () => (await this.api.guias.pruebaEntrega(guia)).pdf)
    return guia
  }

  forget = (telefono: string) => this.admin('persona', 'olvidar', '--telefono', telefono, '--si')

  final = async () => (await this.api.eventos.listar({ desde: 'ahora' })).cursor_siguiente!

  /** Guides of the events after a cursor. */
  after = async (cursor: string) => (await this.api.eventos.listar({ cursor })).datos.map(({ guia }) => guia)

  async deleted(): Promise<string[]> {
    const rows = await this.query<{ guia: string }>('select guia from guia where datos_borrados_en is not null')
    return rows.map(({ guia }) => guia)
  }

  /** Runs the command of a unit, or one of the manual, for the files. */
  async restic([program = '', ...args]: string[]): Promise<void> {
    const [RESTIC_REPOSITORY, RESTIC_CACHE_DIR] = [join(processes.base, 'copias'), join(processes.base, 'cache')]
    const env = { ...process.env, RESTIC_REPOSITORY, RESTIC_CACHE_DIR, RESTIC_PASSWORD: 'una clave larga de prueba' }
    const localArgs = args.map((arg) => (arg === '/var/lib/guias' ? dataDir : arg))
    await promisify(execFile)(program, localArgs, { cwd: dataDir, env })
  }

  /**
   * Expects that files and audit record agree with the database, and that a reader who was further than the restored
   * instant misses nothing that happens from now on.
   */
  async expectIntact(cursor: string): Promise<void> {
    expect(await this.findMissingArchivos()).toEqual([])
    expect(await this.admin('bitacora', 'verificar')).toMatchObject({ faltas: [] })
    const fresh = await this.create()
    await waitUntil(async () => (await this.after(cursor)).includes(fresh))
    expect(await this.after(cursor)).toEqual([fresh])
  }

  /** Files of the database whose contents are not those of the folder. */
  async findMissingArchivos(): Promise<string[]> {
    const rows = await this.query<{ archivo: string; sha256: Buffer }>('select archivo, sha256 from archivo')
    expect(rows.length).toBeGreaterThan(0)
    return rows.flatMap(({ archivo, sha256 }) => {
      const path = join(dataDir, 'archivos', archivo.slice(-2), archivo)
      const isIntact = existsSync(path) && createHash('sha256').update(readFileSync(path)).digest().equals(sha256)
      return isIntact ? [] : [archivo]
    })
  }
}

const seconds = (from: string | number, hasta: number) =>
  `${((hasta - (typeof from === 'string' ? Date.parse(from.replace('+00', 'Z')) : from)) / 1000).toFixed(1)} s`

const FALTA = findMissingTools()
if (FALTA) console.warn(`\n*** The restore of a server of one's own is NOT rehearsed: ${FALTA}. ***\n`)

describe.skipIf(FALTA)('a server of one’s own', FULL_RUN_ONLY, () => {
  let ensayo: Ensayo
  let server: DebianPostgres
  let erasure = ''
  let guiaToErase = ''
  let deliveredGuia = ''

  beforeAll(async () => {
    ensayo = await Ensayo.start()
    server = ensayo.server
    erasure = await ensayo.deliver('+50255550001')
    guiaToErase = await ensayo.deliver('+50255550002')
    deliveredGuia = await ensayo.deliver('+50255550003')
    await ensayo.forget('+50255550001')
    await server.runAsPostgres(...(readUnitCommand('guias-respaldo@.service', 'full') as [string]))
  })

  it('comes back as of the second before a wrong statement, at the second attempt', async () => {
    const done = Date.now()
    // pgBackRest compares whole seconds.
    await waitUntil(async () => Date.now() > done + 2_000)
    const demasiadoAntes = await ensayo.now()
    const after = await ensayo.create()
    const before = await ensayo.estado()
    const instant = await ensayo.now()
    expect(await ensayo.estado()).toEqual(before)
    await ensayo.forget('+50255550002')
    await server.consumeTransactionIds()
    const lost = await ensayo.create()
    const cursor = await ensayo.final()
    await server.query('truncate guia cascade', 'guias')
    const fault = Date.now()

    await ensayo.stop()
    await server.stop()
    await server.restoreTo(demasiadoAntes)
    await server.start()
    expect((await ensayo.estado()).length).toBeLessThan(before.length)
    await server.stop()
    await server.restoreTo(instant, '--target-timeline=current')
    await server.start()
    expect(await ensayo.estado()).toEqual(before)
    expect(await ensayo.deleted()).toEqual([erasure])
    const { output } = await ensayo.startService()
    console.log(`A wrong statement: RPO ${seconds(instant, fault)}, RTO ${seconds(fault, Date.now())}`)

    expect((await ensayo.deleted()).sort()).toEqual([erasure, guiaToErase].sort())
    expect(output).toContain('erasures carried out again')
    expect(await ensayo.api.guias.obtener(after)).toMatchObject({ estado: 'aceptado' })
    await expect(ensayo.api.guias.obtener(lost)).rejects.toMatchObject({ codigo: 'guia_desconocida' })
    await ensayo.expectIntact(cursor)
  })

  it('comes back from the loss of its folder and its files', async () => {
    await server.runAsPostgres(...(readUnitCommand('guias-respaldo@.service', 'diff') as [string]))
    const other = await ensayo.deliver('+50255550004')
    await ensayo.restic(readManualCommand('restic init'))
    await ensayo.restic(readUnitCommand('guias-archivos.service'))
    await server.archiveSegment()
    const archivedAt = await ensayo.now()
    await server.consumeTransactionIds()
    const unarchivedGuia = await ensayo.create()
    const cursor = await ensayo.final()
    const fault = Date.now()
    await server.loseMachine()
    await ensayo.stop()
    rmSync(join(dataDir, 'archivos'), { recursive: true })

    await server.runAsPostgres(...(readManualCommand('pgbackrest --stanza=guias --delta restore') as [string]))
    await ensayo.restic(readManualCommand('restic restore latest'))
    await server.start()
    await ensayo.startService()
    console.log(`A lost folder: RPO ${seconds(archivedAt, fault)}, RTO ${seconds(fault, Date.now())}`)

    for (const guia of [deliveredGuia, other])
      for (const { url } of (await ensayo.api.guias.pruebaEntrega(guia)).fotos)
        expect((await fetch(url)).status).toBe(200)
    await expect(ensayo.api.guias.obtener(unarchivedGuia)).rejects.toMatchObject({ codigo: 'guia_desconocida' })
    expect((await ensayo.deleted()).sort()).toEqual([erasure, guiaToErase].sort())
    await ensayo.expectIntact(cursor)
    await ensayo.restic(readUnitCommand('guias-archivos-borrar.service'))
  })
})
