import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { GuiaIndividual } from '@guias/sdk'
import { afterAll, expect } from 'vitest'
import type { FilaMensaje } from '../../server/domain/mensajeria/row.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { type Service, startService } from '../../server/startup/service.ts'
import { HORA } from '../duraciones.ts'
import { type Comercio, type Entorno, MASTER_KEY, usarEntorno } from '../entorno.ts'
import { ajustesCon, hasta, sinDestino } from '../fabricas.ts'
import {
  abrirProveedor,
  aviso,
  type DatosDeEstado,
  estado,
  firmarComoMeta,
  mensaje,
  type Proveedor,
} from './proveedor.ts'

export const DIA = 24 * HORA
export const RUTA = '/proveedores/whatsapp'
export const AHI = { latitude: 14.6123457, longitude: -90.5198763 }
/** The events of a guide whose place was asked for; of one whose recipient gave it. */
export const SOLICITADA = ['guia.aceptado', 'ubicacion.solicitada']
export const CONFIRMADA = [...SOLICITADA, 'ubicacion.confirmada']

let serie = 0
/** A phone of its own, as WhatsApp writes it. */
export const nuevoTelefono = () => `5024${String(1_000_000 + process.pid * 100 + ++serie).slice(-7)}`

export interface SolicitudPedida {
  guia: string
  /** Digits alone, as WhatsApp writes them. */
  telefono: string
}

/** What stands between the service and the provider: nobody listens while it is closed. */
async function abrirTunel(hacia: string) {
  const sockets = new Set<Socket>()
  const servidor = createServer((entrada) => {
    const salida = connect(Number(new URL(hacia).port), '127.0.0.1')
    for (const socket of [entrada, salida]) {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    }
    entrada.pipe(salida).pipe(entrada)
  })
  const abrir = async (puerto: number) => void (await once(servidor.listen(puerto, '127.0.0.1'), 'listening'))
  await abrir(0)
  const { port } = servidor.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    abrir: () => abrir(port),
    async cerrar() {
      const cerrado = once(servidor, 'close')
      servidor.close()
      for (const socket of sockets) socket.destroy()
      await cerrado
    },
  }
}

/** What jobs of messages get, for calls of theirs beside the service. */
export const depsDeMensajes = ({ db, reloj }: Pick<Entorno, 'db' | 'reloj'>) => ({
  db,
  reloj,
  log: { info() {}, warn() {}, error() {} } as never,
  secretos: createSecrets([Buffer.from(MASTER_KEY, 'base64')]),
  avisarTrabajo: () => {},
  ajustes: ajustesCon(),
  metricas: createMetrics(),
})

/**
 * The real service with a provider that is one in all but name, and what its tests do again and again. One function,
 * because the helpers call one another.
 */
export function usarCanal({ porTunel = false, variables = async (): Promise<Record<string, string>> => ({}) } = {}) {
  let proveedor: Proveedor
  let tunel: Awaited<ReturnType<typeof abrirTunel>>
  const otros: Service[] = []
  const apartadas: string[] = []
  const entorno = usarEntorno({ resolver: () => Promise.reject(new Error('no DNS here')) }, async () => {
    proveedor = await abrirProveedor()
    tunel = await abrirTunel(proveedor.url)
    return { ...deProveedor(proveedor), ...(porTunel && { WHATSAPP_BASE_URL: tunel.url }), ...(await variables()) }
  })
  afterAll(async () => {
    await Promise.all(otros.map((otro) => otro.detener()))
    await tunel.cerrar()
    await proveedor.cerrar()
  })
  const consultar = async <T extends object>(texto: string, valores: unknown[] = []) =>
    (await entorno.db.pool.query<T>(texto, valores)).rows
  const canal = {
    entorno,
    get proveedor() {
      return proveedor
    },
    get tunel() {
      return tunel
    },
    /** Log lines that a test expected and took out. */
    apartadas,
    reloj: () => entorno.reloj(),
    adelantar: (ms: number) => entorno.adelantar(ms),
    quietud: () => entorno.quietud(),
    consultar,
    /** A live guide that names no place. */
    async nueva(comercio: Comercio, cambios: Partial<GuiaIndividual> = {}): Promise<SolicitudPedida> {
      const telefono = cambios.telefono?.replace(/\D/g, '') ?? nuevoTelefono()
      const { guia } = await comercio.api.guias.crear(sinDestino({ ...cambios, telefono: `+${telefono}` }))
      return { guia, telefono }
    },
    /** One whose request the provider took, with the wamid that it gave. */
    async pedida(comercio: Comercio, cambios: Partial<GuiaIndividual> = {}) {
      const pedida = await canal.nueva(comercio, cambios)
      const { id, proveedor_id } = await canal.esperar(pedida, 'enviado')
      return { ...pedida, id, wamid: proveedor_id! }
    },
    mensajes: ({ guia }: { guia: string }) =>
      consultar<FilaMensaje>('select * from mensaje where guia = $1 order by numero', [guia]),
    /** Waits until a message of the guide is so. */
    esperar: (pedida: { guia: string }, como: string, numero = 1) =>
      hasta(async () =>
        (await canal.mensajes(pedida)).find((fila) => fila.numero === numero && fila.estado === como),
      ).catch(async (error) => {
        const hay = (await canal.mensajes(pedida)).map((m) => `${m.numero} ${m.tipo} ${m.estado} ${m.codigo}`)
        throw new Error(`${pedida.guia}: no message ${numero} ${como}, but ${hay.join(', ')}`, { cause: error })
      }),
    /** What the provider took for that phone. */
    aceptados: ({ telefono }: { telefono: string }) => proveedor.aceptados.filter(({ para }) => para === telefono),
    pedidos: ({ telefono }: { telefono: string }) => proveedor.pedidos.filter(({ json }) => json.to === telefono),
    leer: (comercio: Comercio, { guia }: { guia: string }) => comercio.api.guias.obtener(guia, { limite: 100 }),
    async tipos(comercio: Comercio, pedida: { guia: string }) {
      const { eventos, secuencia } = await canal.leer(comercio, pedida)
      expect(eventos.datos.map((evento) => evento.secuencia)).toEqual(eventos.datos.map((_, i) => i + 1))
      expect(secuencia).toBe(eventos.datos.length)
      return eventos.datos.map(({ tipo }) => tipo as string)
    },
    /** A webhook of a live merchant, paused so that its deliveries stay where they are. */
    async conWebhook(comercio: Comercio) {
      await consultar(
        `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
         values ($1, 'live', $2, $3, '{ubicacion.*}', 'pausado', now(), now(), now(), now())`,
        [comercio.id, `wh_${comercio.comercio.slice(4)}`, `https://${comercio.comercio.slice(4)}.ejemplo.com/`],
      )
      return async () =>
        (
          await consultar<{ tipo: string }>(
            'select tipo from webhook_aviso where comercio_id = $1 order by secuencia',
            [comercio.id],
          )
        ).map(({ tipo }) => tipo)
    },
    /** Sends those bytes, signed unless told otherwise. */
    publicar(cuerpo: string | Uint8Array<ArrayBuffer>, cabeceras: Record<string, string> = {}) {
      const crudo = typeof cuerpo === 'string' ? new TextEncoder().encode(cuerpo) : cuerpo
      const firma = firmarComoMeta(Buffer.from(crudo), proveedor.config.appSecret)
      return entorno.pedir('POST', RUTA, {
        crudo,
        cabeceras: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': firma, ...cabeceras },
      })
    },
    /** Sends a signed webhook around those things. */
    async avisar(valor: Parameters<typeof aviso>[0]) {
      expect(await proveedor.avisar(entorno.url + RUTA, aviso(valor, proveedor.config.phoneNumberId))).toBe(200)
    },
    /** Sends it and waits until it was understood. */
    async contar(valor: Parameters<typeof aviso>[0]) {
      await canal.avisar(valor)
      await canal.procesado()
    },
    estado: (status: string, datos: DatosDeEstado) => canal.contar({ statuses: [estado(status, datos)] }),
    contestar: (
      tipo: string,
      contenido: unknown,
      { telefono, enRespuestaA }: { telefono: string; enRespuestaA?: string },
    ) =>
      canal.contar({ messages: [mensaje(tipo, contenido, { de: telefono, ...(enRespuestaA && { enRespuestaA }) })] }),
    procesado: () => hasta(async () => (await consultar('select from entrante where hecho_en is null')).length === 0),
    /** Takes errors that belong to the test out of the log, where any other fails it. */
    apartarErrores(patron: RegExp) {
      const suyas = entorno.log.filter((linea) => linea.includes('"level":50') && patron.test(linea))
      for (const linea of suyas) entorno.log.splice(entorno.log.indexOf(linea), 1)
      apartadas.push(...suyas)
      return suyas
    },
    /** One more process over the same database. */
    async otroServicio() {
      const config = readConfig(
        { DATABASE_URL: entorno.databaseUrl, MASTER_KEYS: MASTER_KEY, PORT: '0', ...deProveedor(proveedor) },
        process.cwd(),
      )
      const log = createLog('info', { write: (linea) => entorno.log.push(linea) })
      const otro = await startService(config, log, undefined, { reloj: canal.reloj, despedida: 0 })
      otros.push(otro)
      return otro
    },
  }
  return canal
}

/** Variables of a service that sends its messages to that provider. */
export const deProveedor = ({ config }: Proveedor) => ({
  MESSAGING: 'whatsapp',
  WHATSAPP_BASE_URL: config.baseUrl,
  WHATSAPP_API_VERSION: config.version,
  WHATSAPP_PHONE_NUMBER_ID: config.phoneNumberId,
  WHATSAPP_TOKEN: config.token,
  WHATSAPP_APP_SECRET: config.appSecret,
  WHATSAPP_VERIFY_TOKEN: config.verifyToken,
  WHATSAPP_TEMPLATE: config.plantilla,
  WHATSAPP_TEMPLATE_LANGUAGE: config.idioma,
})

/** Nothing of that stands in the log. */
export function revisarLog({ entorno, apartadas }: { entorno: Entorno; apartadas: string[] }, secretos: string[]) {
  const log = [...entorno.log, ...apartadas].join('')
  expect(log.length).toBeGreaterThan(1_000)
  expect(secretos.length).toBeGreaterThan(3)
  for (const secreto of secretos) {
    expect(secreto.length).toBeGreaterThan(4)
    if (log.includes(secreto))
      throw new Error(`the log has ${secreto}: ${log.split('\n').find((linea) => linea.includes(secreto))}`)
  }
}
