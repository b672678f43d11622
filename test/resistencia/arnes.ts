import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as crearServidorTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as dormir } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { migrar } from '../../server/arranque/migraciones.ts'
import { crearGeneradorDeIds } from '../../server/codigos/codigos.ts'
import { columnasDe, nuevoCodigoDeComercio } from '../../server/comercios/comercio.ts'
import { abrirDb, type Db } from '../../server/db.ts'
import { guardarLlave } from '../../server/llaves/llave.ts'
import { opcionesDeProceso, prepararInstalacion } from '../../server/postgresEmbebido/instalacion.ts'
import { puertoLibre } from '../puertos.ts'

// A whole installation for one scenario: a PostgreSQL of its own that can be restarted, the bundles as processes of their
// own that can be killed, and a receiver that keeps a ledger of what it got.

const RAIZ = join(import.meta.dirname, '..', '..')
/** A symbolic link to the binary and no script: its pid is the service's. */
const NODO = join(RAIZ, 'node_modules', '.bin', 'node')
/** As `npm start` and `npm run worker` run them. */
const FLAGS: Record<'main' | 'worker', string[]> = (() => {
  const { scripts } = JSON.parse(readFileSync(join(RAIZ, 'package.json'), 'utf8'))
  const flagsDe = (orden: string) => orden.split(' ').slice(1, -1)
  return { main: flagsDe(scripts.start), worker: flagsDe(scripts.worker) }
})()

export interface Fin {
  codigo: number | null
  senal: NodeJS.Signals | null
}

export interface Proceso {
  nombre: string
  pid: number
  /** Of an API. */
  url: string
  fin: Promise<Fin>
  /** Sends a signal; from then on its end is no fault. */
  matar(senal: NodeJS.Signals): void
}

export interface Recepcion {
  en: number
  status: number | null
  huella: string
}

/** A merchant's server with any number of endpoints, told apart by their path. */
export interface Receptor {
  base: string
  /** By path and webhook-id. */
  recibidas: Map<string, Recepcion[]>
  /** The status to answer with; null: never answers. `vez`: how often this one was received, from 1. */
  atender: (ruta: string, id: string, vez: number) => number | null | Promise<number | null>
  /** Called in the same turn in which the answer was written. */
  trasContestar: (ruta: string, id: string, vez: number) => void
  /** Requests whose id isn't their body's, or whose body isn't JSON. */
  malas: string[]
  /** Nobody listens any more, and open connections are cut. */
  caer(): Promise<void>
  volver(): Promise<void>
}

export interface Arnes {
  db: Db
  receptor: Receptor
  comercioId: string
  llave: string
  /** Processes that ended by themselves, and lines of level error or worse of any of them. */
  quejas: string[]
  avisos: Map<string, number>
  api(): Promise<Proceso>
  worker(opciones?: { databaseUrl?: string }): Promise<Proceso>
  /** A connection of its own, for what a pool can't do. */
  conCliente<T>(hacer: (cliente: pg.Client) => Promise<T>): Promise<T>
  reiniciarPostgres(modo: 'fast' | 'immediate'): Promise<void>
  /** Ends every session of the database but the one that does it. */
  cortarConexiones(): Promise<number>
  /** The database through a proxy that can lose the answer to a settlement's COMMIT. */
  intermediario(): Promise<Intermediario>
  /** Registers an endpoint of the receiver's. */
  registrar(api: Proceso, ruta: string, tipos?: readonly string[]): Promise<string>
}

export interface Intermediario {
  databaseUrl: string
  /** How many of the next commits happen without their client hearing of it. */
  perder(cuantas: number): void
  perdidas(): number
}

type Paso = () => Promise<unknown>
const abiertos = new Set<Paso>()

/** Ends what every open harness started; for signals. */
export const cerrarTodo = () => Promise.all([...abiertos].map((cerrar) => cerrar().catch(() => {})))

export async function conArnes<T>(hacer: (arnes: Arnes) => Promise<T>): Promise<T> {
  const pasos: Paso[] = []
  let cerrado: Promise<void> | undefined
  const cerrar = () => {
    cerrado ??= (async () => {
      for (const paso of pasos.splice(0).reverse()) await paso().catch((error) => console.error(error))
      abiertos.delete(cerrar)
    })()
    return cerrado
  }
  abiertos.add(cerrar)
  try {
    return await hacer(await abrir(pasos))
  } finally {
    await cerrar()
  }
}

async function abrir(pasos: Paso[]): Promise<Arnes> {
  const postgres = await iniciarPostgres(pasos)
  await migrar(postgres.url)
  const db = abrirDb(postgres.url, { conexiones: 3 })
  pasos.push(() => db.cerrar())
  const receptor = await abrirReceptor(pasos)
  const quejas: string[] = []
  const avisos = new Map<string, number>()
  const masterKeys = randomBytes(32).toString('base64')
  const { id: comercioId, llave } = await crearComercio(db)
  let serie = 0

  const levantar = (programa: 'main' | 'worker', mas: Record<string, string>) =>
    lanzar(pasos, {
      nombre: `${programa}#${++serie}`,
      programa,
      env: {
        DATABASE_URL: postgres.url,
        MASTER_KEYS: masterKeys,
        WEBHOOKS_LOOPBACK: '1',
        LOG_LEVEL: 'warn',
        CONNECTIONS_PER_NETWORK: '10000',
        ...mas,
      },
      alQuejarse: (queja) => quejas.push(queja),
      alAvisar: (aviso) => avisos.set(aviso, (avisos.get(aviso) ?? 0) + 1),
    })
  const conCliente: Arnes['conCliente'] = async (hacer) => {
    const cliente = new pg.Client(postgres.url)
    cliente.on('error', () => {})
    await cliente.connect()
    try {
      return await hacer(cliente)
    } finally {
      await cliente.end().catch(() => {})
    }
  }
  return {
    db,
    receptor,
    comercioId,
    llave,
    quejas,
    avisos,
    api: () => levantar('main', { PORT: '0', WORKERS: '0' }),
    worker: ({ databaseUrl } = {}) => levantar('worker', databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    conCliente,
    reiniciarPostgres: postgres.reiniciar,
    cortarConexiones: () =>
      conCliente(async (cliente) => {
        const { rowCount } = await cliente.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
        )
        return rowCount ?? 0
      }),
    intermediario: () => abrirIntermediario(pasos, postgres.url),
    async registrar(api, ruta, tipos) {
      const respuesta = await fetch(`${api.url}/api/v1/webhooks`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ url: receptor.base + ruta, ...(tipos ? { tipos } : {}) }),
      })
      const cuerpo = (await respuesta.json()) as { webhook: string }
      if (respuesta.status !== 201) throw new Error(`${respuesta.status} ${JSON.stringify(cuerpo)}`)
      return cuerpo.webhook
    },
  }
}

async function crearComercio(db: Db) {
  const nuevoId = crearGeneradorDeIds(() => new Date())
  const fila = await db.prisma.comercio.create({
    data: {
      ...nuevoId(),
      comercio: nuevoCodigoDeComercio(),
      ...columnasDe({ nombre: 'Tienda La Ceiba', ritmos: { solicitudes: 100_000, guias: 100_000 } }),
    },
  })
  const { llave } = await guardarLlave(db, new Date(), { comercioId: fila.id, comercio: fila.comercio, modo: 'test' })
  return { id: fila.id, llave }
}

// --- PostgreSQL ---

/** Whoever holds its standard input open keeps the cluster; even a kill -9 of the tests ends it, and its folder goes. */
const VIGIA = `
  const [pg_ctl, pgdata, carpeta, uid, gid] = process.argv.slice(1)
  process.stdin.resume().on('end', () => {
    const quien = uid ? { uid: Number(uid), gid: Number(gid) } : {}
    require('node:child_process').spawnSync(pg_ctl, ['stop', '-m', 'immediate', '-D', pgdata], { cwd: '/', ...quien })
    require('node:fs').rmSync(carpeta, { recursive: true, force: true, maxRetries: 10 })
  })`

/**
 * With pg_ctl and not with `tomarPostgres`, whose holder starts a server that is gone by itself: here the scenario says
 * when. Everything durable, as in production.
 */
async function iniciarPostgres(pasos: Paso[]) {
  const carpeta = mkdtempSync(join(realpathSync(tmpdir()), 'guias-resistencia-'))
  chmodSync(carpeta, 0o755) // or root's PostgreSQL user could not pass
  const { pgdata, binarios, usuario, clave } = await prepararInstalacion(join(carpeta, 'datos'), '/var/lib/guias', true)
  const quien = usuario ? [`${usuario.uid}`, `${usuario.gid}`] : []
  const vigia = spawn(NODO, ['-e', VIGIA, binarios.pg_ctl, pgdata, carpeta, ...quien], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const visto = new Promise((resolve) => vigia.once('exit', resolve))
  pasos.push(() => {
    vigia.stdin.end()
    return visto
  })
  const puerto = await puertoLibre()
  const ajustes = ['listen_addresses=127.0.0.1', `port=${puerto}`, 'unix_socket_directories=', 'max_connections=120']
  ajustes.push('shared_buffers=64MB', 'jit=off')
  const pgCtl = (...args: string[]) =>
    promisify(execFile)(
      binarios.pg_ctl,
      [...args, '-D', pgdata, '-w', '-t', '60', '-l', join(pgdata, 'postgres.log')],
      opcionesDeProceso(usuario, pgdata),
    )
  await pgCtl('start', '-o', ajustes.map((ajuste) => `-c ${ajuste}`).join(' '))
  const en = (base: string) => `postgres://guias:${clave}@127.0.0.1:${puerto}/${base}`
  const cliente = new pg.Client(en('postgres'))
  await cliente.connect()
  await cliente.query('create database guias')
  await cliente.end()
  return {
    url: en('guias'),
    reiniciar: async (modo: 'fast' | 'immediate') => void (await pgCtl('restart', '-m', modo)),
  }
}

// --- Processes ---

interface Encargo {
  nombre: string
  programa: 'main' | 'worker'
  env: Record<string, string>
  alQuejarse: (queja: string) => void
  alAvisar: (aviso: string) => void
}

const ARRANQUES = 10

/**
 * What ends by itself is a fault, and is started anew as a supervisor would: what it leaves behind must be right all the
 * same. A start that fails because the database isn't there is none, and repeated, too.
 */
async function lanzar(pasos: Paso[], encargo: Encargo): Promise<Proceso> {
  const { nombre, alQuejarse, alAvisar } = encargo
  const { promise: fin, resolve: terminar } = Promise.withResolvers<Fin>()
  const { promise: arrancado, resolve, reject } = Promise.withResolvers<void>()
  let hijo: ChildProcess
  let esperado = false
  let fallidos = 0
  const proceso: Proceso = {
    nombre,
    pid: 0,
    url: '',
    fin,
    matar(senal) {
      esperado = true
      hijo.kill(senal)
    },
  }
  const arrancar = () => {
    hijo = engendrar(encargo)
    proceso.pid = hijo.pid!
    let listo = false
    const errores: string[] = []
    createInterface(hijo.stderr!).on('line', (linea) => void (errores.length < 12 && errores.push(linea)))
    esperarListo(hijo, encargo).then((url) => {
      listo = true
      proceso.url = url
      resolve()
    })
    hijo.once('close', async (codigo, senal) => {
      const dicho = `${nombre} ${listo ? 'ended by itself' : 'did not start'}: ${senal ?? codigo}\n${errores.join('\n')}`
      if (!esperado && listo) alQuejarse(dicho)
      else if (!esperado) alAvisar('start')
      else if (errores.length > 0) alQuejarse(dicho)
      if (!esperado) await dormir(500)
      if (esperado || (!listo && ++fallidos >= ARRANQUES)) {
        reject(new Error(dicho))
        terminar({ codigo, senal })
      } else arrancar()
    })
  }
  pasos.push(async () => {
    proceso.matar('SIGKILL')
    await fin
  })
  arrancar()
  await arrancado
  return proceso
}

function engendrar({ programa, env }: Encargo): ChildProcess {
  const bulto = join(RAIZ, 'server', 'generado', `${programa}.mjs`)
  if (!existsSync(bulto)) throw new Error(`${bulto} is missing: node scripts/preparar.mjs`)
  return spawn(NODO, [...FLAGS[programa], bulto], {
    cwd: RAIZ,
    // With npm's variable it watches its parent, and so doesn't outlive a run that is killed.
    env: { PATH: process.env.PATH, npm_lifecycle_event: 'resistencia', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Reads what it says until its end; resolves with its address, if it has any, when it says that it is ready. */
function esperarListo(hijo: ChildProcess, { nombre, alQuejarse, alAvisar }: Encargo): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  createInterface(hijo.stdout!).on('line', (linea) => {
    const direccion = /^ {2}API +(http:\S+)\/api\/v1$/.exec(linea)?.[1]
    if (direccion) resolve(direccion)
    else if (linea.startsWith('El proceso de trabajos está listo')) resolve('')
    else if (linea.startsWith('{')) {
      const { level, msg, err } = JSON.parse(linea)
      if (level >= 50) alQuejarse(`${nombre}: ${linea.slice(0, 700)}`)
      else if (level === 40) alAvisar(`${msg}: ${err?.codigo ?? err?.mensaje ?? ''}`.slice(0, 100))
    }
  })
  return promise
}

// --- The receiver ---

async function abrirReceptor(pasos: Paso[]): Promise<Receptor> {
  const servidor = createServer({ keepAliveTimeout: 60_000 }, async (req, res) => {
    try {
      const trozos: Buffer[] = []
      for await (const trozo of req) trozos.push(trozo as Buffer)
      const cuerpo = Buffer.concat(trozos)
      const ruta = req.url ?? ''
      const id = String(req.headers['webhook-id'])
      if (JSON.parse(cuerpo.toString()).id !== id) receptor.malas.push(`${ruta} ${id}: ${cuerpo.subarray(0, 200)}`)
      const suyas = receptor.recibidas.get(`${ruta} ${id}`) ?? []
      receptor.recibidas.set(`${ruta} ${id}`, suyas)
      const recepcion: Recepcion = {
        en: Date.now(),
        status: null,
        huella: createHash('sha1').update(cuerpo).digest('hex'),
      }
      const vez = suyas.push(recepcion)
      const status = await receptor.atender(ruta, id, vez)
      if (status === null || res.destroyed) return
      recepcion.status = status
      res.writeHead(status).end()
      receptor.trasContestar(ruta, id, vez)
    } catch {
      res.destroy() // the sender is gone
    }
  })
  const escuchar = (puerto: number) =>
    new Promise<void>((resolve) => void servidor.listen(puerto, '127.0.0.1', () => resolve()))
  const caer = () =>
    new Promise<void>((resolve) => {
      servidor.close(() => resolve())
      servidor.closeAllConnections()
    })
  await escuchar(0)
  const { port } = servidor.address() as AddressInfo
  const receptor: Receptor = {
    base: `http://127.0.0.1:${port}`,
    recibidas: new Map(),
    malas: [],
    atender: () => 204,
    trasContestar: () => {},
    caer,
    volver: () => escuchar(port),
  }
  pasos.push(caer)
  return receptor
}

// --- Between a worker and the database ---

/** `commit` as node-postgres sends it by itself: nothing of pg-boss's looks like it. */
const COMMIT = Buffer.from([0x51, 0, 0, 0, 11, ...Buffer.from('commit\0')])
/** The statement that settles what went well, and commits by itself. */
const ASENTAR = Buffer.from('webhookEntregas.asentarExitos\0')

async function abrirIntermediario(pasos: Paso[], databaseUrl: string): Promise<Intermediario> {
  const url = new URL(databaseUrl)
  const destino = Number(url.port)
  const sockets = new Set<Socket>()
  let porPerder = 0
  let perdidas = 0
  const servidor = crearServidorTcp((cliente) => {
    const base = connect(destino, '127.0.0.1')
    let tragar = false
    const cerrar = () => {
      cliente.destroy()
      base.destroy()
      for (const socket of [cliente, base]) sockets.delete(socket)
    }
    for (const socket of [cliente, base]) {
      sockets.add(socket)
      socket.setNoDelay(true).on('error', cerrar).on('close', cerrar)
    }
    cliente.on('data', (trozo) => {
      if (porPerder > 0 && (trozo.includes(COMMIT) || trozo.includes(ASENTAR))) {
        porPerder--
        perdidas++
        tragar = true
      }
      base.write(trozo)
    })
    // It was answered, so it was committed.
    base.on('data', (trozo) => void (tragar ? cerrar() : cliente.write(trozo)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => servidor.once('listening', resolve))
  pasos.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => servidor.close(resolve))
  })
  url.port = String((servidor.address() as AddressInfo).port)
  return {
    databaseUrl: url.href,
    perder: (cuantas) => {
      porPerder += cuantas
    },
    perdidas: () => perdidas,
  }
}

/** Until it says something; undefined when the time is over. */
export async function esperar<T>(leer: () => Promise<T | undefined | false>, plazo: number, cada = 50) {
  for (const limite = Date.now() + plazo; ; await dormir(cada)) {
    // The database may just be away.
    const valor = await leer().catch(() => undefined)
    if (valor) return valor
    if (Date.now() > limite) return undefined
  }
}
