import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readLlave } from '../../server/domain/identities/llave.ts'
import { createDeliveredGuia, uploadArchivo } from '../archivos/images.ts'
import type { OwnEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { buildProviderVariables, createTelefono } from '../mensajeria/channel.ts'
import { aviso, estado, openProvider } from '../mensajeria/provider.ts'
import { findFreePort } from '../ports.ts'
import { admin } from '../postgres.ts'
import { listo, type useProcesses } from '../processes.ts'
import { answerWith } from '../webhooks/receiver.ts'
import { type Falla, PROMISE_FAULTS, startTransaction } from './promises.ts'

/** Fault of an alert. It goes on until `isFiring` is true, and the returned function repairs it. */
type AlertFault = (context: AlertContext) => Promise<() => Promise<unknown>>

interface AlertContext {
  environment: OwnEnvironment
  /** Reports whether the alert fires. */
  isFiring: () => Promise<boolean>
  metricsPort: number
  openReceiver: (responder: ReturnType<typeof answerWith>) => Promise<{ url: string }>
  processes: ReturnType<typeof useProcesses>
}

const buildPromiseFault =
  (gauge: string): AlertFault =>
  ({ environment }) =>
    (PROMISE_FAULTS[gauge] as Falla)(environment)

/** Repeats a step until the alert fires. */
async function repeatUntilFiring({ isFiring }: AlertContext, step: () => Promise<unknown>): Promise<void> {
  await waitUntil(async () => {
    await step()
    return isFiring()
  })
}

async function makeReadOnly({ environment }: AlertContext): Promise<() => Promise<void>> {
  const base = new URL(environment.databaseUrl).pathname.slice(1)
  const alterDatabase = (value: string) =>
    admin(async (client) => {
      await client.query(`alter database ${base} ${value}`)
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [base])
    })
  await alterDatabase('set default_transaction_read_only = on')
  return () => alterDatabase('reset all')
}

/** Endpoint that is sent events at once. */
async function createSubscription({ environment }: AlertContext, url: string) {
  const { api } = await environment.createComercio()
  const { webhook } = await api.webhooks.crear({ url })
  await environment.db.pool.query(`update webhook set comprobado_en = now(), estado = 'activo' where webhook = $1`, [
    webhook,
  ])
  await api.guias.crear(buildGuia())
  return { api, webhook }
}

const findFolder = ({ environment }: AlertContext) => join(environment.dataDir, 'archivos')

/** Fault that fires each alert, by the alert's name. */
export const ALERT_FAULTS: Readonly<Record<string, AlertFault>> = {
  async GuiasCaida({ environment, metricsPort }) {
    await environment.reset({ METRICS_PORT: `${await findFreePort()}` })
    return () => environment.reset({ METRICS_PORT: `${metricsPort}` })
  },
  GuiasNoLista: makeReadOnly,
  async GuiasErrores(context) {
    const { llave } = await context.environment.createComercio()
    const repair = await makeReadOnly(context)
    await repeatUntilFiring(context, () =>
      context.environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() }),
    )
    return repair
  },
  async GuiasLenta(context) {
    const { environment } = context
    const { llave } = await environment.createComercio()
    const ESPERA = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
      and query_start < now() - interval '1.2 seconds'`
    await repeatUntilFiring(context, async () => {
      const endTransaction = await startTransaction(context.environment, 'lock table guia in access exclusive mode')
      const pendingRequest = environment.request('GET', '/api/v1/guias', { llave })
      await waitUntil(async () => (await environment.db.pool.query(ESPERA)).rowCount)
      await endTransaction()
      await pendingRequest
    })
    return async () => {}
  },
  async GuiasConexionesAgotadas(context) {
    const { environment } = context
    const endTransaction = await startTransaction(context.environment, 'lock table repartidor in access exclusive mode')
    const running = new Set<Promise<unknown>>()
    await repeatUntilFiring(context, async () => {
      while (running.size < 30) {
        const runningRequest: Promise<unknown> = environment
          .asOperador('GET', '/repartidores')
          .finally(() => running.delete(runningRequest))
        running.add(runningRequest)
      }
    }).catch(async (error) => {
      await endTransaction()
      throw error
    })
    return async () => {
      await endTransaction()
      await Promise.all(running)
    }
  },
  async GuiasRedesLimitadas(context) {
    const { environment } = context
    const { llave } = await environment.createComercio()
    await repeatUntilFiring(context, async () => {
      // A valid key from the same network keeps the network's connections admitted.
      await environment.request('GET', '/api/v1/cuenta', { llave })
      await Promise.all(Array.from({ length: 20 }, () => fetch(`${environment.url}/no-existe`).catch(() => {})))
    })
    return async () => {}
  },
  async GuiasEntradasFallidas(context) {
    const body = { codigo: 'AAAA-AAAA-AA' }
    await repeatUntilFiring(context, () => context.environment.request('POST', '/repartidor/v1/sesion', { body }))
    return async () => {}
  },
  async GuiasBucleLento(context) {
    await repeatUntilFiring(context, async () => {
      for (const end = performance.now() + 700; performance.now() < end; );
      await nextLoopTurn()
    })
    return async () => {}
  },
  async GuiasMemoria() {
    let blocks = Array.from({ length: 4 }, () => Buffer.alloc(450_000_000, 1))
    return async () => {
      blocks = []
      setFlagsFromString('--expose-gc')
      runInNewContext('gc')()
      return blocks
    }
  },
  async GuiasRespaldoAtrasado({ environment, metricsPort, processes }) {
    await environment.reset({ METRICS_PORT: `${await findFreePort()}` })
    const [backupFolder, key] = [join(processes.base, 'respaldo'), join(processes.base, 'clave.txt')]
    await writeFile(key, 'una clave larga de prueba')
    const service = processes.startService({
      DATA_DIR: processes.nextFolder(),
      METRICS_PORT: `${metricsPort}`,
      BACKUP_DIR: backupFolder,
      BACKUP_KEY_FILE: key,
    })
    await listo(service)
    const estado = join(backupFolder, 'estado.json')
    await waitUntil(async () => (await readFile(estado, 'utf8')).includes('al_dia'))
    // As if the disk were not there any more.
    await rename(backupFolder, `${backupFolder}-aparte`)
    await writeFile(backupFolder, '')
    return async () => {
      await rm(backupFolder)
      await rename(`${backupFolder}-aparte`, backupFolder)
      const from = Date.now()
      await waitUntil(async () => Date.parse(JSON.parse(await readFile(estado, 'utf8')).al_dia) > from)
      service.signalAll('SIGINT')
      await service.waitForEnd()
      await environment.reset({ METRICS_PORT: `${metricsPort}` })
    }
  },
  GuiasColaAtrasada: buildPromiseFault('guias_cola_atraso_segundos'),
  GuiasAvisosSinArriendo: buildPromiseFault('guias_webhook_avisos_sin_arriendo'),
  GuiasAvisosAtrasados: buildPromiseFault('guias_webhook_avisos_atrasados'),
  GuiasEventosSinAvisos: buildPromiseFault('guias_eventos_sin_avisos'),
  GuiasPruebasSinPdf: buildPromiseFault('guias_pruebas_atraso_segundos'),
  GuiasMensajesAtascados: buildPromiseFault('guias_mensajes_atascados'),
  GuiasCorreosAtrasados: buildPromiseFault('guias_correos_atraso_segundos'),
  GuiasDecisionesVencidas: buildPromiseFault('guias_decisiones_vencidas'),
  GuiasBitacoraSinEslabon: buildPromiseFault('guias_bitacora_sin_eslabon'),
  async GuiasMensajesRechazados(context) {
    const { environment } = context
    const provider = await openProvider()
    await environment.reset(buildProviderVariables(provider))
    const { api } = await environment.createComercio('live')
    let reportedCount = 0
    await repeatUntilFiring(context, async () => {
      const createGuia = () => api.guias.crear(buildGuiaWithoutDestino({ telefono: `+${createTelefono()}` }))
      await Promise.all(Array.from({ length: 5 }, createGuia))
      const newMensajes = await waitUntil(
        async () => provider.acceptedMensajes.length > reportedCount && provider.acceptedMensajes.slice(reportedCount),
      )
      reportedCount += newMensajes.length
      // WhatsApp takes a message first, and tells later that the number does not have WhatsApp.
      const statuses = newMensajes.map((mensaje) =>
        estado('failed', { ...mensaje, error: { code: 131026, title: 'undeliverable' } }),
      )
      await provider.notify(`${environment.url}/proveedores/whatsapp`, aviso({ statuses }))
    })
    return async () => {
      await environment.reset({ MESSAGING: 'buzon' })
      await provider.close()
    }
  },
  async GuiasWebhooksFallan(context) {
    const subscriptions = [
      await createSubscription(context, 'http://127.0.0.1:9/a'),
      await createSubscription(context, 'http://127.0.0.1:9/b'),
    ]
    return () => Promise.all(subscriptions.map(({ api, webhook }) => api.webhooks.eliminar(webhook)))
  },
  async GuiasWebhookDeshabilitado(context) {
    const { url } = await context.openReceiver(answerWith(410))
    await createSubscription(context, url)
    return async () => {}
  },
  async GuiasAlmacenFalla(context) {
    const { environment } = context
    const { guia } = await (await environment.createComercio()).api.guias.crear(buildGuia())
    const folder = findFolder(context)
    await uploadArchivo(environment, guia)
    await rename(folder, `${folder}-aparte`)
    await writeFile(folder, '')
    await repeatUntilFiring(context, () => uploadArchivo(environment, guia))
    return async () => {
      await rm(folder)
      await rename(`${folder}-aparte`, folder)
    }
  },
  async GuiasArchivosSinFila(context) {
    const { environment } = context
    await createDeliveredGuia(environment, await environment.createComercio())
    const [sub] = await readdir(findFolder(context))
    const strayPath = join(findFolder(context), sub!, `arch_SUELTO0000${sub}`)
    await writeFile(strayPath, 'x')
    const yesterday = new Date(Date.now() - 86_400_000)
    await utimes(strayPath, yesterday, yesterday)
    // The sweep is once a day, and at the start.
    await environment.reset()
    return async () => {
      await rm(strayPath)
      await environment.reset()
    }
  },
  async GuiasFilasSinArchivo(context) {
    const { environment } = context
    const { foto } = await createDeliveredGuia(environment, await environment.createComercio())
    await environment.db.pool.query(
      `update archivo_indice set creado_en = creado_en - interval '2 hours' where archivo = $1`,
      [foto],
    )
    const fotoPath = join(findFolder(context), foto.slice(-2), foto)
    const bytes = await readFile(fotoPath)
    await rm(fotoPath)
    await environment.reset()
    return async () => {
      await writeFile(fotoPath, bytes)
      await environment.reset()
    }
  },
  async GuiasLlavesPorVencer({ environment }) {
    const llave = await environment.createLlave(await environment.createComercio(), {
      vence_en: new Date(Date.now() + 6 * 86_400_000),
    })
    await environment.request('GET', '/api/v1/cuenta', { llave })
    return () => environment.db.pool.query('update llave set revocado_en = now() where id = $1', [readLlave(llave)!.id])
  },
}
