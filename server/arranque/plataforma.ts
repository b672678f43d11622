import { createServer } from 'node:http'
import { PgBoss } from 'pg-boss'
import { abrirAlmacen } from '../archivos/abrir.ts'
import { type Almacen, ErrorDeAlmacen } from '../archivos/almacen.ts'
import { crearGeneradorDeIds } from '../codigos/codigos.ts'
import type { Config } from '../config/config.ts'
import { abrirDb, abrirPool, type Db, preparada } from '../db.ts'
import type { Salud } from '../deps.ts'
import { explicarBase } from '../errores.ts'
import { ErrorDeFlujo, exigirFlujoVigente } from '../eventos/flujo.ts'
import type { Log } from '../log.ts'
import { ErrorPostgresEmbebido, tomarPostgres } from '../postgresEmbebido/postgresEmbebido.ts'
import type { Resolver } from '../salida/destino.ts'
import { crearSecretos } from '../secretos.ts'
import type { Workers } from '../trabajos.ts'
import { clavesDeLaCasa, ErrorDeClaves } from './clavesMaestras.ts'
import type { Metricas } from './metricas.ts'
import { ErrorDeMigracion, migrar } from './migraciones.ts'
import { ErrorDeArranque } from './proceso.ts'

/** What only tests set: time, randomness, names. */
export interface AjustesDePlataforma {
  reloj?: () => Date
  /** From 0 to 1. */
  azar?: () => number
  resolver?: Resolver
}

/** What every process stands on: the database, migrated, the keys that protect what is in it, and the files beside it. */
export interface Plataforma {
  db: Db
  databaseUrl: string
  masterKeys: readonly Buffer[]
  almacen: Almacen
  notas: readonly string[]
}

/** Undone in reverse, whether the start fails half-way or the process ends. */
export interface Deshacer {
  push(paso: () => Promise<unknown>): void
  todo(): Promise<void>
}

export function crearDeshacer(log: Log): Deshacer {
  const pasos: (() => Promise<unknown>)[] = []
  return {
    push: (paso) => void pasos.push(paso),
    async todo() {
      for (const paso of pasos.splice(0).reverse()) await paso().catch((err: unknown) => log.error({ err }, 'stop'))
    },
  }
}

/** @param exclusivo whether the embedded PostgreSQL is this process's alone, or any one of several may start it */
export async function levantarPlataforma(
  config: Config,
  log: Log,
  deshacer: Deshacer,
  { exclusivo, alPerder }: { exclusivo: boolean; alPerder: (error: Error) => void },
): Promise<Plataforma> {
  const { baseDeDatos, dataDir, masterKeys } = config
  const { almacen, nota, cerrar } = await abrirAlmacen(config)
  deshacer.push(async () => cerrar())
  if (nota) log.warn({ nota }, 'storage')
  const donde =
    baseDeDatos.tipo === 'externa'
      ? { databaseUrl: baseDeDatos.url, masterKeys: masterKeys ?? [], notas: [] }
      : await tomarPostgres({ dataDir, exclusivo }).then(async ({ url, notas, soltar }) => {
          deshacer.push(soltar)
          return { databaseUrl: url, masterKeys: masterKeys ?? (await clavesDeLaCasa(dataDir)), notas }
        })
  const migraciones = await migrar(donde.databaseUrl)
  const db = abrirDb(donde.databaseUrl, { alFallar: alPerder })
  deshacer.push(() => db.cerrar())
  await exigirFlujoVigente(db)
  if (migraciones.length > 0) log.info({ migraciones }, 'migrated')
  const notas = [...donde.notas, ...(nota ? [nota] : [])]
  if (baseDeDatos.tipo === 'externa' && !config.publicUrl) notas.push(SIN_DIRECCION)
  return { ...donde, db, almacen, notas }
}
/** What is signed with a wrong address stays so: manifests and the QR codes of documents. */
const SIN_DIRECCION =
  'Falta PUBLIC_URL: los enlaces que se dan, y los códigos QR de las pruebas, llevan la dirección en que escucha este proceso.'

/** The queue and its workers. */
export async function levantarWorkers(
  config: Config,
  { db, databaseUrl, masterKeys, almacen }: Plataforma,
  log: Log,
  deshacer: Deshacer,
  {
    alPerder,
    metricas,
    urlPublica = urlDe(config),
    ...ajustes
  }: AjustesDePlataforma & { alPerder: (error: Error) => void; metricas: Metricas; urlPublica?: string },
): Promise<Workers> {
  const [
    { iniciarWorkers },
    { crearEnviador },
    { resolverDelSistema },
    { crearClienteDeWhatsapp },
    { crearResolutorDeEnlaces },
  ] = await Promise.all([
    import('../trabajos.ts'),
    import('../webhooks/envio.ts'),
    import('../salida/destino.ts'),
    import('../mensajeria/whatsapp.ts'),
    import('../mapas/enlacesCortos.ts'),
  ])
  const reloj = ajustes.reloj ?? (() => new Date())
  const resolver = ajustes.resolver ?? resolverDelSistema
  const whatsapp = config.mensajeria.tipo === 'whatsapp' ? config.mensajeria : undefined
  // Jobs are made of rows, and can be made of them again: the queue need not wait for the disk.
  const cola = abrirPool(databaseUrl, 4, `guias cola pid=${process.pid}`, '-c synchronous_commit=off')
  cola.on('error', alPerder)
  deshacer.push(() => cola.end())
  const boss = new PgBoss({
    // pg-boss's own pool would wait for ever for a connection that is half open.
    db: { executeSql: (text, values) => cola.query(preparada(text, values)) },
    schedule: false,
    // A dead worker's claims lapse soon, and what is over goes soon.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    maintenanceIntervalSeconds: 60,
  })
  boss.on('error', (err) => log.warn({ err }, 'queue'))
  await boss.start()
  const cliente = whatsapp && crearClienteDeWhatsapp(whatsapp)
  const enlaces = crearResolutorDeEnlaces({ resolver })
  deshacer.push(async () => void (await Promise.all([cliente?.cerrar(), enlaces.cerrar()])))
  const workers = await iniciarWorkers(boss, {
    db,
    log,
    reloj,
    nuevoId: crearGeneradorDeIds(reloj),
    secretos: crearSecretos(masterKeys),
    almacen,
    enviador: crearEnviador({ resolver }),
    azar: ajustes.azar ?? Math.random,
    loopback: config.webhooksLoopback,
    metricas,
    retencionDeWebhooks: config.retencionDeWebhooks,
    retencionDeUbicaciones: config.retencionDeUbicaciones,
    retencionDePruebas: config.retencionDePruebas,
    horasDeSolicitud: config.horasDeSolicitud,
    whatsapp: cliente,
    urlPublica,
    mensajeria: config.nombreDeMensajeria,
    zonaHoraria: config.zonaHoraria,
    phoneNumberId: whatsapp?.phoneNumberId ?? '',
    enlaces,
  })
  deshacer.push(() => workers.detener())
  metricas.observar({ db, reloj })
  return workers
}

/** The base of links for a process that serves none: what the API beside it is called, by the same configuration. */
const urlDe = ({ publicUrl, host, port }: Config) => publicUrl ?? `http://${visible(host)}:${port}`

/** Health and metrics for the operator's own network, on a port of their own: nothing there asks for a key. */
export async function servirMetricas(
  { metricsPort, host }: Config,
  deshacer: Deshacer,
  { metricas, salud }: { metricas: Metricas; salud: () => Promise<Salud> },
): Promise<string | undefined> {
  if (metricsPort === undefined) return undefined
  const servidor = createServer(async (req, res) => {
    const [ruta] = (req.url ?? '').split('?')
    try {
      if (ruta === '/metrics') return void res.setHeader('Content-Type', metricas.tipo).end(await metricas.exponer())
      const estado = ruta === '/healthz' ? { ok: true } : ruta === '/readyz' ? await salud() : undefined
      res.writeHead(estado === undefined ? 404 : estado.ok ? 200 : 503, { 'Content-Type': 'application/json' })
      res.end(JSON.stringify(estado ?? { ok: false }))
    } catch {
      if (!res.headersSent) res.writeHead(503)
      res.end()
    }
  })
  const direccion = await escuchar(servidor, metricsPort, host)
  deshacer.push(async () => {
    servidor.closeAllConnections()
    await new Promise((resolve) => servidor.close(resolve))
  })
  return direccion
}

/** Listens; the address, as somebody on this machine would write it. */
export function escuchar(servidor: ReturnType<typeof createServer>, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    servidor.once('error', reject)
    servidor.listen(port, host, () => {
      servidor.off('error', reject)
      resolve(`http://${visible(host)}:${(servidor.address() as { port: number }).port}`)
    })
  })
}

const visible = (host: string) =>
  ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host

export async function responde(db: Db): Promise<boolean> {
  try {
    await Promise.race([db.pool.query('select 1'), new Promise((_, reject) => setTimeout(reject, 2_000).unref())])
    return true
  } catch {
    return false
  }
}

/** Errors whose message is already meant for whoever starts the process. */
const CON_SU_MENSAJE = [ErrorPostgresEmbebido, ErrorDeMigracion, ErrorDeFlujo, ErrorDeClaves, ErrorDeAlmacen]

export function explicarArranque(error: unknown, { port, metricsPort, host, baseDeDatos }: Config): unknown {
  const { code, message, port: suyo = port } = error as { code?: string; message?: string; port?: number }
  if (CON_SU_MENSAJE.some((clase) => error instanceof clase))
    return new ErrorDeArranque(String(message), { cause: error })
  if (code === 'EADDRINUSE') {
    const variable = suyo === metricsPort ? 'METRICS_PORT' : 'PORT'
    return new ErrorDeArranque(
      `El puerto ${suyo} de ${host} ya está en uso. Detenga al otro programa o elija otro puerto, por ejemplo ${variable}=${suyo + 1}.`,
      { cause: error },
    )
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new ErrorDeArranque(`No se puede escuchar en ${host}:${suyo} (${message}). Revise HOST y PORT.`, {
      cause: error,
    })
  const deLaBase = baseDeDatos.tipo === 'externa' ? explicarBase(error) : undefined
  if (deLaBase) return new ErrorDeArranque(deLaBase, { cause: error })
  return error
}
