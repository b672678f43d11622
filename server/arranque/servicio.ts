import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { cargarContrato, crearApp, crearDeps } from '../app.ts'
import type { Config } from '../config/config.ts'
import type { Salud } from '../deps.ts'
import { noDisponible, Problema } from '../errores.ts'
import type { Testigo } from '../http/problemas.ts'
import { segunAccept } from '../http/rfc9457.ts'
import type { Log } from '../log.ts'
import { resolverDelSistema } from '../salida/destino.ts'
import type { Workers } from '../trabajos.ts'
import { asegurarDemo } from './demo.ts'
import { crearMetricas } from './metricas.ts'
import {
  type AjustesDePlataforma,
  crearDeshacer,
  escuchar,
  explicarArranque,
  levantarPlataforma,
  levantarWorkers,
  responde,
  servirMetricas,
} from './plataforma.ts'
import type { EnMarcha } from './proceso.ts'

export interface Servicio extends EnMarcha {
  /** Base of every link, without a final slash. */
  url: string
  /** Looks for pending work now: a clock that was moved tells nobody. */
  avisar(): void
}

/** How long a stop goes on accepting, and then waits for the requests under way, in milliseconds. */
const DESPEDIDA = 2_500
const PLAZO_DE_DRENAJE = 20_000

type Fase = 'arrancando' | 'listo' | 'deteniendo'

/** What only tests set: time, randomness, a witness of every answer, and how long a stop goes on accepting. */
export interface Ajustes extends AjustesDePlataforma {
  nuevoCodigo?: () => string
  testigo?: Testigo
  despedida?: number
}

/** Puts the parts together, from the socket to the workers, in an order in which each can rely on the one before. */
export async function iniciarServicio(
  config: Config,
  log: Log,
  consola: (linea: string) => void = () => {},
  { testigo, nuevoCodigo, despedida = DESPEDIDA, ...ajustes }: Ajustes = {},
): Promise<Servicio> {
  const inicio = performance.now()
  const deshacer = crearDeshacer(log)
  try {
    let fase: Fase = 'arrancando'
    let atender: RequestListener = (req, res) => arrancando(req, res, url)
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
    servidor.on('clientError', (error, socket) => rechazarIlegible(error, socket, url))
    // The port first: if it is taken, nothing else is touched.
    const local = await escuchar(servidor, config.port, config.host)
    const url = config.publicUrl ?? local
    deshacer.push(async () => {
      servidor.closeAllConnections()
      if (servidor.listening) await new Promise((resolve) => servidor.close(resolve))
    })

    // While it stops, PostgreSQL may end a session that is just being closed.
    const alPerder = (err: Error) => void (fase === 'deteniendo' || log.warn({ err }, 'idle connection lost'))
    const levantada = levantarPlataforma(config, log, deshacer, { exclusivo: true, alPerder })
    const [plataforma, contrato] = await Promise.all([
      levantada,
      cargarContrato().finally(() => levantada.catch(() => {})),
    ])
    const { db, masterKeys, almacen } = plataforma
    for (const nota of plataforma.notas) consola(nota)

    let workers: Workers | undefined
    const salud = async (): Promise<Salud> => {
      const base_de_datos = await responde(db)
      const cola = base_de_datos && (config.workers ? (workers?.late() ?? false) : true)
      return { ok: fase === 'listo' && base_de_datos && cola, base_de_datos, cola, migraciones: true }
    }
    const deps = crearDeps(contrato, {
      db,
      log,
      masterKeys,
      dataDir: config.dataDir,
      almacen,
      urlPublica: url,
      minutosDeEnlaces: config.minutosDeEnlaces,
      nombreDeMensajeria: config.nombreDeMensajeria,
      salud,
      avisarTrabajo: () => workers?.avisar(),
      destinos: { resolver: ajustes.resolver ?? resolverDelSistema, loopback: config.webhooksLoopback },
      retencionDeWebhooks: config.retencionDeWebhooks,
      horasDeSolicitud: config.horasDeSolicitud,
      mensajeria: config.mensajeria,
      zonaHoraria: config.zonaHoraria,
      ...(ajustes.reloj ? { reloj: ajustes.reloj } : {}),
      ...(nuevoCodigo ? { nuevoCodigo } : {}),
    })
    const metricas = crearMetricas()
    if (config.workers) {
      const opciones = { ...ajustes, alPerder, metricas, urlPublica: url }
      workers = await levantarWorkers(config, plataforma, log, deshacer, opciones)
    }
    const deMetricas = await servirMetricas(config, deshacer, { metricas, salud })
    const embebida = config.baseDeDatos.tipo === 'embebida'
    const demo = embebida ? await asegurarDemo(deps, config.dataDir, url) : undefined
    atender = crearApp(contrato, deps, { mosaicos: config.mosaicos, proxies: config.proxies, buzon: embebida }, testigo)
    fase = 'listo'
    consola(`Guías está listo en ${((performance.now() - inicio) / 1000).toFixed(2)} s`)
    consola(`  API            ${url}/api/v1`)
    consola(`  Documentación  ${url}/docs`)
    if (embebida) consola(`  Buzón          ${url}/buzon`)
    if (deMetricas) consola(`  Métricas       ${deMetricas}/metrics`)
    for (const linea of demo?.consola ?? []) consola(linea)

    let detencion: Promise<void> | undefined
    const detener = async () => {
      fase = 'deteniendo'
      for (const res of enCurso) if (!res.headersSent) res.setHeader('Connection', 'close')
      // Exchanges under way take their time, too: they end while the requests do.
      const parados = workers?.detener()
      // Whoever has a connection open may be sending just now, and whoever asks /readyz should find out: it goes on
      // accepting for a while, each answer closes its connection, and what is left after that has been idle all along.
      await hasta(() => conexiones.size === 0, despedida)
      servidor.close()
      servidor.closeIdleConnections()
      await hasta(() => enCurso.size === 0, PLAZO_DE_DRENAJE)
      await parados
      await deshacer.todo()
    }
    return {
      url,
      avisar: () => workers?.avisar(),
      detener: () => {
        detencion ??= detener()
        return detencion
      },
    }
  } catch (error) {
    await deshacer.todo()
    throw explicarArranque(error, config)
  }
}

/** Until the parts are together: alive, and nothing else. */
function arrancando(req: IncomingMessage, res: ServerResponse, urlPublica: string) {
  const id = randomUUID()
  const responder = (status: number, cuerpo: object, cabeceras = {}) =>
    res
      .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': id, ...cabeceras })
      .end(JSON.stringify(cuerpo))
  const [ruta] = (req.url ?? '').split('?')
  if (ruta === '/healthz') return responder(200, { ok: true })
  const salud: Salud = { ok: false, base_de_datos: false, cola: false, migraciones: false }
  if (ruta === '/readyz') return responder(503, salud, { 'Retry-After': '1' })
  const problema = noDisponible('El servicio está arrancando. Repita la solicitud en unos segundos.')
  const { tipo, cuerpo } = segunAccept(problema.presentar(id, urlPublica), req.headers.accept)
  responder(503, cuerpo, { 'Content-Type': tipo, 'Retry-After': '1' })
}

/** What Node itself refuses before there is a request: unreadable or oversized headers, a client that is too slow. */
function rechazarIlegible(error: NodeJS.ErrnoException, socket: Duplex, urlPublica: string) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [estado, detalle] = ILEGIBLES[error.code ?? ''] ?? ['400 Bad Request', 'La solicitud no es HTTP legible.']
  const cuerpo = JSON.stringify({
    ...new Problema('parametro_invalido', detalle).presentar(randomUUID(), urlPublica),
    estado_http: Number(estado.slice(0, 3)),
  })
  socket.end(
    `HTTP/1.1 ${estado}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(cuerpo)}\r\nConnection: close\r\n\r\n${cuerpo}`,
  )
}
const ILEGIBLES: Readonly<Record<string, readonly [estado: string, detalle: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Las cabeceras pasan de 16 KB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'La solicitud tardó demasiado en llegar.'],
}

async function hasta(listo: () => boolean, plazo: number) {
  for (const fin = performance.now() + plazo; !listo() && performance.now() < fin; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
