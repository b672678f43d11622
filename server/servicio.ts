import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { PgBoss } from 'pg-boss'
import { cargarContrato, crearApp, crearDeps } from './app.ts'
import { clavesDeLaCasa, ErrorDeClaves } from './claves.ts'
import type { Config } from './config.ts'
import { abrirDb, abrirPool, type Db } from './db.ts'
import { asegurarDemo } from './demo.ts'
import type { Salud } from './deps.ts'
import { explicarBase, noDisponible, Problema } from './errores.ts'
import { ErrorDeFlujo, exigirFlujoVigente } from './eventos/flujo.ts'
import type { Testigo } from './http/problemas.ts'
import type { Log } from './log.ts'
import { ErrorDeMigracion, migrar } from './migraciones.ts'
import { ErrorPostgresEmbebido, tomarPostgres } from './postgresEmbebido.ts'
import { iniciarTrabajadores, type Trabajadores } from './trabajos.ts'

export interface Servicio {
  /** Base of every link, without a final slash. */
  url: string
  /** Lets the requests under way end, stops the workers and then what the service started. Calling it again waits for the same stop. */
  detener(): Promise<void>
}

/** Why the service could not start, in words for whoever started it. */
export class ErrorDeArranque extends Error {
  override readonly name = 'ErrorDeArranque'
}

/** How long a stop goes on accepting, and then waits for the requests under way, in milliseconds. */
const DESPEDIDA = 2_500
const PLAZO_DE_DRENAJE = 20_000

type Fase = 'arrancando' | 'listo' | 'deteniendo'

/** What only tests set: time, randomness, and a witness of every answer. */
export interface Ajustes {
  reloj?: () => Date
  nuevoCodigo?: () => string
  testigo?: Testigo
}

/** Puts the parts together, from the socket to the workers, in an order in which each can rely on the one before. */
export async function iniciarServicio(
  config: Readonly<Config>,
  log: Log,
  consola: (linea: string) => void = () => {},
  { testigo, ...ajustes }: Ajustes = {},
): Promise<Servicio> {
  const inicio = performance.now()
  // Undone in reverse, whether the start fails half-way or the service ends.
  const deshacer: (() => Promise<unknown>)[] = []
  const deshacerTodo = async () => {
    for (const paso of deshacer.splice(0).reverse()) await paso().catch((err: unknown) => log.error({ err }, 'stop'))
  }
  try {
    let fase: Fase = 'arrancando'
    let atender: RequestListener = arrancando
    const enCurso = new Set<ServerResponse>()
    const servidor = createServer(
      { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 },
      (req, res) => {
        enCurso.add(res)
        res.once('close', () => enCurso.delete(res))
        if (fase === 'deteniendo') res.setHeader('Connection', 'close')
        atender(req, res)
      },
    )
    const conexiones = new Set<object>()
    servidor.on('connection', (socket) => {
      conexiones.add(socket)
      socket.once('close', () => conexiones.delete(socket))
    })
    servidor.on('clientError', rechazarIlegible)
    // The port first: if it is taken, nothing else is touched.
    const local = await escuchar(servidor, config)
    const url = config.publicUrl ?? local
    deshacer.push(async () => {
      servidor.closeAllConnections()
      if (servidor.listening) await new Promise((resolve) => servidor.close(resolve))
    })

    const preparados = prepararDatos(config, deshacer)
    const [{ databaseUrl, masterKeys, avisos, migraciones }, contrato] = await Promise.all([
      preparados,
      cargarContrato().finally(() => preparados.catch(() => {})),
    ])
    for (const aviso of avisos) consola(aviso)
    // While it stops, PostgreSQL may end a session that is just being closed.
    const perdida = (err: Error) => void (fase === 'deteniendo' || log.warn({ err }, 'idle connection lost'))
    const db = abrirDb(databaseUrl, { alFallar: perdida })
    deshacer.push(() => db.cerrar())
    await exigirFlujoVigente(db)
    if (migraciones.length > 0) log.info({ migraciones }, 'migrated')

    const cola = abrirPool(databaseUrl, 3, `guias cola pid=${process.pid}`)
    cola.on('error', perdida)
    deshacer.push(() => cola.end())
    // pg-boss's own pool would wait for ever for a connection that is half open.
    const boss = new PgBoss({ db: { executeSql: (text, values) => cola.query(text, values) }, schedule: false })
    boss.on('error', (err) => log.warn({ err }, 'queue'))
    await boss.start()
    let trabajadores: Trabajadores | undefined
    const salud = async (): Promise<Salud> => {
      const base_de_datos = await responde(db)
      const estado = { base_de_datos, cola: base_de_datos && (trabajadores?.late() ?? false), migraciones: true }
      return { ok: fase === 'listo' && estado.base_de_datos && estado.cola, ...estado }
    }
    const deps = crearDeps(contrato, {
      db,
      log,
      masterKeys,
      salud,
      avisarTrabajo: () => trabajadores?.avisar(),
      ...ajustes,
    })
    trabajadores = await iniciarTrabajadores(boss, { db, log, reloj: deps.reloj })
    deshacer.push(() => trabajadores?.detener() ?? Promise.resolve())
    const demo = config.baseDeDatos.tipo === 'embebida' ? await asegurarDemo(deps, config.dataDir, url) : undefined
    atender = crearApp(contrato, deps, testigo)
    fase = 'listo'
    consola(`Guías está listo en ${((performance.now() - inicio) / 1000).toFixed(2)} s`)
    consola(`  API            ${url}/api/v1`)
    consola(`  Documentación  ${url}/docs`)
    for (const linea of demo?.consola ?? []) consola(linea)

    let detencion: Promise<void> | undefined
    const detener = async () => {
      fase = 'deteniendo'
      for (const res of enCurso) if (!res.headersSent) res.setHeader('Connection', 'close')
      // Whoever has a connection open may be sending just now, and whoever asks /readyz should find out: it goes on
      // accepting for a while, each answer closes its connection, and what is left after that has been idle all along.
      await hasta(() => conexiones.size === 0, DESPEDIDA)
      servidor.close()
      servidor.closeIdleConnections()
      await hasta(() => enCurso.size === 0, PLAZO_DE_DRENAJE)
      await deshacerTodo()
    }
    return {
      url,
      detener: () => {
        detencion ??= detener()
        return detencion
      },
    }
  } catch (error) {
    await deshacerTodo()
    throw explicarArranque(error, config)
  }
}

/** Until the parts are together: alive, and nothing else. */
const arrancando: RequestListener = (req, res) => {
  const id = randomUUID()
  const salud: Salud = { ok: false, base_de_datos: false, cola: false, migraciones: false }
  const [ruta] = (req.url ?? '').split('?')
  const [status, cuerpo] =
    ruta === '/healthz'
      ? [200, { ok: true }]
      : [
          503,
          ruta === '/readyz'
            ? salud
            : noDisponible('El servicio está arrancando. Repita la solicitud en unos segundos.').presentar(id),
        ]
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'X-Request-Id': id,
    ...(status === 503 ? { 'Retry-After': '1' } : {}),
  })
  res.end(JSON.stringify(cuerpo))
}

/** What Node itself refuses before there is a request: unreadable or oversized headers, a client that is too slow. */
function rechazarIlegible(error: NodeJS.ErrnoException, socket: Duplex) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [estado, detalle] = ILEGIBLES[error.code ?? ''] ?? ['400 Bad Request', 'La solicitud no es HTTP legible.']
  const cuerpo = JSON.stringify({
    ...new Problema('parametro_invalido', detalle).presentar(randomUUID()),
    status: Number(estado.slice(0, 3)),
  })
  socket.end(
    `HTTP/1.1 ${estado}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(cuerpo)}\r\nConnection: close\r\n\r\n${cuerpo}`,
  )
}
const ILEGIBLES: Readonly<Record<string, readonly [estado: string, detalle: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Las cabeceras pasan de 16 KB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'La solicitud tardó demasiado en llegar.'],
}

function escuchar(servidor: Server, { port, host }: Readonly<Config>): Promise<string> {
  return new Promise((resolve, reject) => {
    servidor.once('error', reject)
    servidor.listen(port, host, () => {
      servidor.off('error', reject)
      const visible = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
      resolve(`http://${visible}:${(servidor.address() as AddressInfo).port}`)
    })
  })
}

/** Where the data is, with its schema up to date, and the keys that protect it: configured, or the embedded default's own. */
async function prepararDatos(
  { baseDeDatos, dataDir, masterKeys }: Readonly<Config>,
  deshacer: (() => Promise<unknown>)[],
) {
  if (baseDeDatos.tipo === 'externa') {
    return {
      databaseUrl: baseDeDatos.url,
      masterKeys: masterKeys ?? [],
      avisos: [],
      migraciones: await migrar(baseDeDatos.url),
    }
  }
  const { url, avisos, soltar } = await tomarPostgres({ dataDir, exclusivo: true })
  deshacer.push(soltar)
  return {
    databaseUrl: url,
    masterKeys: masterKeys ?? (await clavesDeLaCasa(dataDir)),
    avisos,
    migraciones: await migrar(url),
  }
}

async function responde(db: Db): Promise<boolean> {
  try {
    await Promise.race([db.pool.query('select 1'), new Promise((_, reject) => setTimeout(reject, 2_000).unref())])
    return true
  } catch {
    return false
  }
}

async function hasta(listo: () => boolean, plazo: number) {
  for (const fin = performance.now() + plazo; !listo() && performance.now() < fin; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Errors whose message is already meant for whoever starts the service. */
const CON_SU_MENSAJE = [ErrorPostgresEmbebido, ErrorDeMigracion, ErrorDeFlujo, ErrorDeClaves]

function explicarArranque(error: unknown, { port, host, baseDeDatos }: Readonly<Config>): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (CON_SU_MENSAJE.some((clase) => error instanceof clase))
    return new ErrorDeArranque(String(message), { cause: error })
  if (code === 'EADDRINUSE') {
    return new ErrorDeArranque(
      `El puerto ${port} de ${host} ya está en uso. Detenga al otro programa o elija otro puerto, por ejemplo PORT=${port + 1}.`,
      { cause: error },
    )
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new ErrorDeArranque(`No se puede escuchar en ${host}:${port} (${message}). Revise HOST y PORT.`, {
      cause: error,
    })
  const deLaBase = baseDeDatos.tipo === 'externa' ? explicarBase(error) : undefined
  if (deLaBase) return new ErrorDeArranque(deLaBase, { cause: error })
  return error
}
