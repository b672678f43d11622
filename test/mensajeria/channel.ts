import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { GuiaIndividual } from '@guias/sdk'
import { afterAll, expect } from 'vitest'
import type { MensajeRow } from '../../server/domain/mensajeria/row.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { type Service, startService } from '../../server/startup/service.ts'
import { type Comercio, MASTER_KEY, type TestEnvironment, useEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino, readTestSettings, waitUntil } from '../factories.ts'
import { aviso, estado, mensaje, openProvider, type StatusData, signAsMeta, type TestProvider } from './provider.ts'

export const WHATSAPP_PATH = '/proveedores/whatsapp'
export const RECIPIENT_POSITION = { latitude: 14.6123457, longitude: -90.5198763 }
/** The events of a guide whose place was asked for; of one whose recipient gave it. */
export const REQUESTED_EVENTOS = ['guia.aceptado', 'ubicacion.solicitada']
export const CONFIRMED_EVENTOS = [...REQUESTED_EVENTOS, 'ubicacion.confirmada']

let telefonoCount = 0
/** A phone of its own, as WhatsApp writes it. */
export const createTelefono = () => `5024${String(1_000_000 + process.pid * 100 + ++telefonoCount).slice(-7)}`

export interface SentUbicacionRequest {
  guia: string
  /** Digits alone, as WhatsApp writes them. */
  telefono: string
}

/** What stands between the service and the provider: nobody listens while it is closed. */
async function openTunnel(targetUrl: string) {
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = connect(Number(new URL(targetUrl).port), '127.0.0.1')
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    }
    incoming.pipe(outgoing).pipe(incoming)
  })
  const open = async (listenPort: number) => void (await once(server.listen(listenPort, '127.0.0.1'), 'listening'))
  await open(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => open(port),
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** What jobs of messages get, for calls of theirs beside the service. */
export const buildMensajeDeps = ({ db, clock }: Pick<TestEnvironment, 'db' | 'clock'>) => ({
  db,
  clock,
  log: { info() {}, warn() {}, error() {} } as never,
  secretos: createSecrets([Buffer.from(MASTER_KEY, 'base64')]),
  notifyJobs: () => {},
  settings: readTestSettings(),
  metrics: createMetrics(),
})

/**
 * The real service with a provider that is one in all but name, and what its tests do again and again. One function,
 * because the helpers call one another.
 */
export function useChannel({
  throughTunnel = false,
  variables = async (): Promise<Record<string, string>> => ({}),
} = {}) {
  let provider: TestProvider
  let tunnel: Awaited<ReturnType<typeof openTunnel>>
  const otherServices: Service[] = []
  const expectedLines: string[] = []
  const environment = useEnvironment({ resolver: () => Promise.reject(new Error('no DNS here')) }, async () => {
    provider = await openProvider()
    tunnel = await openTunnel(provider.url)
    return {
      ...buildProviderVariables(provider),
      ...(throughTunnel && { WHATSAPP_BASE_URL: tunnel.url }),
      ...(await variables()),
    }
  })
  afterAll(async () => {
    await Promise.all(otherServices.map((other) => other.stop()))
    await tunnel.close()
    await provider.close()
  })
  const query = async <T extends object>(text: string, values: unknown[] = []) =>
    (await environment.db.pool.query<T>(text, values)).rows
  const canal = {
    environment,
    get proveedor() {
      return provider
    },
    get tunnel() {
      return tunnel
    },
    /** Log lines that a test expected and took out. */
    expectedLines,
    clock: () => environment.clock(),
    advance: (ms: number) => environment.advance(ms),
    waitForQuiet: () => environment.waitForQuiet(),
    query,
    /** A live guide that names no place. */
    async createUbicacionRequest(
      comercio: Comercio,
      cambios: Partial<GuiaIndividual> = {},
    ): Promise<SentUbicacionRequest> {
      const telefono = cambios.telefono?.replace(/\D/g, '') ?? createTelefono()
      const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ ...cambios, telefono: `+${telefono}` }))
      return { guia, telefono }
    },
    /** One whose request the provider took, with the wamid that it gave. */
    async requested(comercio: Comercio, cambios: Partial<GuiaIndividual> = {}) {
      const sentRequest = await canal.createUbicacionRequest(comercio, cambios)
      const { id, proveedor_id } = await canal.esperar(sentRequest, 'enviado')
      return { ...sentRequest, id, wamid: proveedor_id! }
    },
    mensajes: ({ guia }: { guia: string }) =>
      query<MensajeRow>('select * from mensaje where guia = $1 order by numero', [guia]),
    /** Waits until a message of the guide is so. */
    esperar: (sentRequest: { guia: string }, expectedEstado: string, number = 1) =>
      waitUntil(async () =>
        (await canal.mensajes(sentRequest)).find((row) => row.numero === number && row.estado === expectedEstado),
      ).catch(async (error) => {
        const foundMensajes = (await canal.mensajes(sentRequest)).map(
          (m) => `${m.numero} ${m.tipo} ${m.estado} ${m.codigo}`,
        )
        throw new Error(
          `${sentRequest.guia}: no message ${number} ${expectedEstado}, but ${foundMensajes.join(', ')}`,
          { cause: error },
        )
      }),
    /** What the provider took for that phone. */
    listAcceptedMensajes: ({ telefono }: { telefono: string }) =>
      provider.acceptedMensajes.filter(({ recipient }) => recipient === telefono),
    requests: ({ telefono }: { telefono: string }) => provider.requests.filter(({ json }) => json.to === telefono),
    read: (comercio: Comercio, { guia }: { guia: string }) => comercio.api.guias.obtener(guia, { limite: 100 }),
    async tipos(comercio: Comercio, sentRequest: { guia: string }) {
      const { eventos, secuencia } = await canal.read(comercio, sentRequest)
      expect(eventos.datos.map((evento) => evento.secuencia)).toEqual(eventos.datos.map((_, i) => i + 1))
      expect(secuencia).toBe(eventos.datos.length)
      return eventos.datos.map(({ tipo }) => tipo as string)
    },
    /** A webhook of a live merchant, paused so that its deliveries stay where they are. */
    async createComercioWithWebhook(comercio: Comercio) {
      await query(
        `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
         values ($1, 'live', $2, $3, '{ubicacion.*}', 'pausado', now(), now(), now(), now())`,
        [comercio.id, `wh_${comercio.comercio.slice(4)}`, `https://${comercio.comercio.slice(4)}.ejemplo.com/`],
      )
      return async () =>
        (
          await query<{ tipo: string }>('select tipo from webhook_aviso where comercio_id = $1 order by secuencia', [
            comercio.id,
          ])
        ).map(({ tipo }) => tipo)
    },
    /** Sends those bytes, signed unless told otherwise. */
    postSigned(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
      const rawBody = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const firma = signAsMeta(Buffer.from(rawBody), provider.config.appSecret)
      return environment.request('POST', WHATSAPP_PATH, {
        raw: rawBody,
        headers: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': firma, ...headers },
      })
    },
    /** Sends a signed webhook around those things. */
    async notify(value: Parameters<typeof aviso>[0]) {
      expect(await provider.notify(environment.url + WHATSAPP_PATH, aviso(value, provider.config.phoneNumberId))).toBe(
        200,
      )
    },
    /** Sends it and waits until it was understood. */
    async notifyAndWait(value: Parameters<typeof aviso>[0]) {
      await canal.notify(value)
      await canal.waitUntilProcessed()
    },
    estado: (status: string, datos: StatusData) => canal.notifyAndWait({ statuses: [estado(status, datos)] }),
    reply: (tipo: string, contenido: unknown, { telefono, inReplyTo }: { telefono: string; inReplyTo?: string }) =>
      canal.notifyAndWait({
        messages: [mensaje(tipo, contenido, { de: telefono, ...(inReplyTo && { inReplyTo }) })],
      }),
    waitUntilProcessed: () =>
      waitUntil(async () => (await query('select from entrante where hecho_en is null')).length === 0),
    /** Takes errors that belong to the test out of the log, where any other fails it. */
    takeExpectedErrors(pattern: RegExp) {
      const matchingLines = environment.log.filter((line) => line.includes('"level":50') && pattern.test(line))
      for (const line of matchingLines) environment.log.splice(environment.log.indexOf(line), 1)
      expectedLines.push(...matchingLines)
      return matchingLines
    },
    /** One more process over the same database. */
    async startOtherService() {
      const config = readConfig(
        {
          DATABASE_URL: environment.databaseUrl,
          MASTER_KEYS: MASTER_KEY,
          PORT: '0',
          ...buildProviderVariables(provider),
        },
        process.cwd(),
      )
      const log = createLog('info', { write: (line) => environment.log.push(line) })
      const other = await startService(config, log, undefined, { clock: canal.clock, farewellMs: 0 })
      otherServices.push(other)
      return other
    },
  }
  return canal
}

/** Variables of a service that sends its messages to that provider. */
export const buildProviderVariables = ({ config }: TestProvider) => ({
  MESSAGING: 'whatsapp',
  WHATSAPP_BASE_URL: config.baseUrl,
  WHATSAPP_API_VERSION: config.version,
  WHATSAPP_PHONE_NUMBER_ID: config.phoneNumberId,
  WHATSAPP_TOKEN: config.token,
  WHATSAPP_APP_SECRET: config.appSecret,
  WHATSAPP_VERIFY_TOKEN: config.verifyToken,
  WHATSAPP_TEMPLATE: config.template,
  WHATSAPP_TEMPLATE_LANGUAGE: config.language,
})

/** Nothing of that stands in the log. */
export function checkLog(
  { environment, expectedLines }: { environment: TestEnvironment; expectedLines: string[] },
  secrets: string[],
) {
  const log = [...environment.log, ...expectedLines].join('')
  expect(log.length).toBeGreaterThan(1_000)
  expect(secrets.length).toBeGreaterThan(3)
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(4)
    if (log.includes(secret))
      throw new Error(`the log has ${secret}: ${log.split('\n').find((line) => line.includes(secret))}`)
  }
}
