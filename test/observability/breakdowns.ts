import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { leerLlave } from '../../server/domain/llaves/llave.ts'
import { createDeliveredGuia, uploadArchivo } from '../archivos/images.ts'
import type { OwnEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { buildProviderVariables, createTelefono } from '../mensajeria/channel.ts'
import { aviso, estado, openProvider } from '../mensajeria/provider.ts'
import { findFreePort } from '../ports.ts'
import { admin } from '../postgres.ts'
import { listo, type useProcesses } from '../processes.ts'
import { answerWith } from '../webhooks/receiver.ts'
import { type Falla, PROMISE_FAULTS, startTransaction } from './promises.ts'

/** Fault of an alert. It goes on until `suena` is true, and the returned function repairs it. */
type Averia = (context: AlertContext) => Promise<() => Promise<unknown>>

interface AlertContext {
  entorno: OwnEnvironment
  /** Reports whether the alert fires. */
  suena: () => Promise<boolean>
  metricsPort: number
  nuevoReceptor: (responder: ReturnType<typeof answerWith>) => Promise<{ url: string }>
  processes: ReturnType<typeof useProcesses>
}

const deFalla =
  (gauge: string): Averia =>
  ({ entorno }) =>
    (PROMISE_FAULTS[gauge] as Falla)(entorno)

/** Repeats a step until the alert fires. */
async function insistir({ suena }: AlertContext, hacer: () => Promise<unknown>): Promise<void> {
  await hasta(async () => {
    await hacer()
    return suena()
  })
}

async function makeReadOnly({ entorno }: AlertContext): Promise<() => Promise<void>> {
  const base = new URL(entorno.databaseUrl).pathname.slice(1)
  const alterDatabase = (valor: string) =>
    admin(async (cliente) => {
      await cliente.query(`alter database ${base} ${valor}`)
      await cliente.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [base])
    })
  await alterDatabase('set default_transaction_read_only = on')
  return () => alterDatabase('reset all')
}

/** Endpoint that is sent events at once. */
async function suscrito({ entorno }: AlertContext, url: string) {
  const { api } = await entorno.nuevoComercio()
  const { webhook } = await api.webhooks.crear({ url })
  await entorno.db.pool.query(`update webhook set comprobado_en = now(), estado = 'activo' where webhook = $1`, [
    webhook,
  ])
  await api.guias.crear(buildGuia())
  return { api, webhook }
}

const findFolder = ({ entorno }: AlertContext) => join(entorno.dataDir, 'archivos')

/** Fault that fires each alert, by the alert's name. */
export const ALERT_FAULTS: Readonly<Record<string, Averia>> = {
  async GuiasCaida({ entorno, metricsPort }) {
    await entorno.reset({ METRICS_PORT: `${await findFreePort()}` })
    return () => entorno.reset({ METRICS_PORT: `${metricsPort}` })
  },
  GuiasNoLista: makeReadOnly,
  async GuiasErrores(context) {
    const { llave } = await context.entorno.nuevoComercio()
    const reparar = await makeReadOnly(context)
    await insistir(context, () => context.entorno.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() }))
    return reparar
  },
  async GuiasLenta(context) {
    const { entorno } = context
    const { llave } = await entorno.nuevoComercio()
    const ESPERA = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
      and query_start < now() - interval '1.2 seconds'`
    await insistir(context, async () => {
      const soltar = await startTransaction(context.entorno, 'lock table guia in access exclusive mode')
      const pendingRequest = entorno.request('GET', '/api/v1/guias', { llave })
      await hasta(async () => (await entorno.db.pool.query(ESPERA)).rowCount)
      await soltar()
      await pendingRequest
    })
    return async () => {}
  },
  async GuiasConexionesAgotadas(context) {
    const { entorno } = context
    const soltar = await startTransaction(context.entorno, 'lock table repartidor in access exclusive mode')
    const enCurso = new Set<Promise<unknown>>()
    await insistir(context, async () => {
      while (enCurso.size < 30) {
        const runningRequest: Promise<unknown> = entorno
          .operar('GET', '/repartidores')
          .finally(() => enCurso.delete(runningRequest))
        enCurso.add(runningRequest)
      }
    }).catch(async (error) => {
      await soltar()
      throw error
    })
    return async () => {
      await soltar()
      await Promise.all(enCurso)
    }
  },
  async GuiasRedesLimitadas(context) {
    const { entorno } = context
    const { llave } = await entorno.nuevoComercio()
    await insistir(context, async () => {
      // A valid key from the same network keeps the network's connections admitted.
      await entorno.request('GET', '/api/v1/cuenta', { llave })
      await Promise.all(Array.from({ length: 20 }, () => fetch(`${entorno.url}/no-existe`).catch(() => {})))
    })
    return async () => {}
  },
  async GuiasEntradasFallidas(context) {
    const cuerpo = { codigo: 'AAAA-AAAA-AA' }
    await insistir(context, () => context.entorno.request('POST', '/repartidor/v1/sesion', { cuerpo }))
    return async () => {}
  },
  async GuiasBucleLento(context) {
    await insistir(context, async () => {
      for (const fin = performance.now() + 700; performance.now() < fin; );
      await nextLoopTurn()
    })
    return async () => {}
  },
  async GuiasMemoria() {
    let bloques = Array.from({ length: 4 }, () => Buffer.alloc(450_000_000, 1))
    return async () => {
      bloques = []
      setFlagsFromString('--expose-gc')
      runInNewContext('gc')()
      return bloques
    }
  },
  async GuiasRespaldoAtrasado({ entorno, metricsPort, processes: procesos }) {
    await entorno.reset({ METRICS_PORT: `${await findFreePort()}` })
    const [respaldo, clave] = [join(procesos.base, 'respaldo'), join(procesos.base, 'clave.txt')]
    await writeFile(clave, 'una clave larga de prueba')
    const servicio = procesos.iniciar({
      DATA_DIR: procesos.nextFolder(),
      METRICS_PORT: `${metricsPort}`,
      BACKUP_DIR: respaldo,
      BACKUP_KEY_FILE: clave,
    })
    await listo(servicio)
    const estado = join(respaldo, 'estado.json')
    await hasta(async () => (await readFile(estado, 'utf8')).includes('al_dia'))
    // As if the disk were not there any more.
    await rename(respaldo, `${respaldo}-aparte`)
    await writeFile(respaldo, '')
    return async () => {
      await rm(respaldo)
      await rename(`${respaldo}-aparte`, respaldo)
      const desde = Date.now()
      await hasta(async () => Date.parse(JSON.parse(await readFile(estado, 'utf8')).al_dia) > desde)
      servicio.signalAll('SIGINT')
      await servicio.waitForEnd()
      await entorno.reset({ METRICS_PORT: `${metricsPort}` })
    }
  },
  GuiasColaAtrasada: deFalla('guias_cola_atraso_segundos'),
  GuiasAvisosSinArriendo: deFalla('guias_webhook_avisos_sin_arriendo'),
  GuiasAvisosAtrasados: deFalla('guias_webhook_avisos_atrasados'),
  GuiasEventosSinAvisos: deFalla('guias_eventos_sin_avisos'),
  GuiasPruebasSinPdf: deFalla('guias_pruebas_atraso_segundos'),
  GuiasMensajesAtascados: deFalla('guias_mensajes_atascados'),
  GuiasCorreosAtrasados: deFalla('guias_correos_atraso_segundos'),
  GuiasDecisionesVencidas: deFalla('guias_decisiones_vencidas'),
  GuiasBitacoraSinEslabon: deFalla('guias_bitacora_sin_eslabon'),
  async GuiasMensajesRechazados(context) {
    const { entorno } = context
    const proveedor = await openProvider()
    await entorno.reset(buildProviderVariables(proveedor))
    const { api } = await entorno.nuevoComercio('live')
    let contados = 0
    await insistir(context, async () => {
      const createGuia = () => api.guias.crear(buildGuiaWithoutDestino({ telefono: `+${createTelefono()}` }))
      await Promise.all(Array.from({ length: 5 }, createGuia))
      const newMensajes = await hasta(
        async () => proveedor.aceptados.length > contados && proveedor.aceptados.slice(contados),
      )
      contados += newMensajes.length
      // WhatsApp takes a message first, and tells later that the number does not have WhatsApp.
      const statuses = newMensajes.map((mensaje) =>
        estado('failed', { ...mensaje, error: { code: 131026, title: 'undeliverable' } }),
      )
      await proveedor.notify(`${entorno.url}/proveedores/whatsapp`, aviso({ statuses }))
    })
    return async () => {
      await entorno.reset({ MESSAGING: 'buzon' })
      await proveedor.close()
    }
  },
  async GuiasWebhooksFallan(context) {
    const suscritos = [await suscrito(context, 'http://127.0.0.1:9/a'), await suscrito(context, 'http://127.0.0.1:9/b')]
    return () => Promise.all(suscritos.map(({ api, webhook }) => api.webhooks.eliminar(webhook)))
  },
  async GuiasWebhookDeshabilitado(context) {
    const { url } = await context.nuevoReceptor(answerWith(410))
    await suscrito(context, url)
    return async () => {}
  },
  async GuiasAlmacenFalla(context) {
    const { entorno } = context
    const { guia } = await (await entorno.nuevoComercio()).api.guias.crear(buildGuia())
    const folder = findFolder(context)
    await uploadArchivo(entorno, guia)
    await rename(folder, `${folder}-aparte`)
    await writeFile(folder, '')
    await insistir(context, () => uploadArchivo(entorno, guia))
    return async () => {
      await rm(folder)
      await rename(`${folder}-aparte`, folder)
    }
  },
  async GuiasArchivosSinFila(context) {
    const { entorno } = context
    await createDeliveredGuia(entorno, await entorno.nuevoComercio())
    const [sub] = await readdir(findFolder(context))
    const suelto = join(findFolder(context), sub!, `arch_SUELTO0000${sub}`)
    await writeFile(suelto, 'x')
    const yesterday = new Date(Date.now() - 86_400_000)
    await utimes(suelto, yesterday, yesterday)
    // The sweep is once a day, and at the start.
    await entorno.reset()
    return async () => {
      await rm(suelto)
      await entorno.reset()
    }
  },
  async GuiasFilasSinArchivo(context) {
    const { entorno } = context
    const { foto } = await createDeliveredGuia(entorno, await entorno.nuevoComercio())
    await entorno.db.pool.query(
      `update archivo_indice set creado_en = creado_en - interval '2 hours' where archivo = $1`,
      [foto],
    )
    const fotoPath = join(findFolder(context), foto.slice(-2), foto)
    const bytes = await readFile(fotoPath)
    await rm(fotoPath)
    await entorno.reset()
    return async () => {
      await writeFile(fotoPath, bytes)
      await entorno.reset()
    }
  },
  async GuiasLlavesPorVencer({ entorno }) {
    const llave = await entorno.createLlave(await entorno.nuevoComercio(), {
      vence_en: new Date(Date.now() + 6 * 86_400_000),
    })
    await entorno.request('GET', '/api/v1/cuenta', { llave })
    return () => entorno.db.pool.query('update llave set revocado_en = now() where id = $1', [leerLlave(llave)!.id])
  },
}
