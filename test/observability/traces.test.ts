import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { findCanaries } from '../canaries.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { answerWith, type ReceivedWebhook, useReceivers } from '../webhooks/receiver.ts'
import { openCollector, type ReceivedSpan } from './collector.ts'

// The SDK reads its variables from the environment of the process. The tests of this file share one process.
let collector: Awaited<ReturnType<typeof openCollector>>
let port: number
// Before the environment, so that the service has stopped and sent its last spans when this runs.
afterAll(async () => {
  vi.unstubAllEnvs()
  await collector.close()
})
const environment = useEnvironment(undefined, async () => {
  collector = await openCollector()
  port = await findFreePort()
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  return { ...variables, METRICS_PORT: `${port}` }
})
const openReceiver = useReceivers()

const TRAZA = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const spansOfTrace = (traza: string) => collector.spans.filter(({ traceId }) => traceId === traza)
const search = (traza: string, nombre: string) =>
  waitUntil(async () => spansOfTrace(traza).find(({ name }) => name === nombre))
const valueIn = ({ attributes }: ReceivedSpan, clave: string) =>
  Object.values(attributes.find(({ key }) => key === clave)?.value ?? {})[0]

/** Creates a guide in a trace of the merchant's own, with an endpoint that answers this. */
async function create(traza: string, responder = answerWith(204), body: object = buildGuia()) {
  const comercio = await environment.createComercio()
  const receptor = await openReceiver(responder)
  const { webhook } = await comercio.api.webhooks.crear({ url: receptor.url })
  await environment.waitForQuiet(comercio)
  const created = await environment.request('POST', '/api/v1/guias', {
    llave: comercio.llave,
    body,
    headers: { traceparent: `00-${traza}-${PARENT_ID}-01` },
  })
  expect(created.status).toBe(201)
  const guia = created.body.guia as string
  const recibidos = () => receptor.receivedWebhooks.filter(({ body }) => body.includes(guia))
  return { ...comercio, webhook, guia, receptor, recibidos }
}

describe('a trace', () => {
  it('leads from the request over statement, event and lease to the merchant’s server', async () => {
    const { guia, recibidos } = await create(TRAZA)
    const [received] = await waitUntil(async () => recibidos().length > 0 && recibidos())
    const [solicitud, evento, sql, arriendo, intento] = [
      await search(TRAZA, 'crearGuia'),
      await search(TRAZA, 'event'),
      await search(TRAZA, 'guias.insertTraced'),
      await search(TRAZA, 'webhook lease'),
      await search(TRAZA, 'webhook attempt'),
    ]
    expect(solicitud.parentSpanId).toBe(PARENT_ID)
    expect(evento.parentSpanId).toBe(solicitud.spanId)
    expect(sql.parentSpanId).toBe(evento.spanId)
    expect(arriendo.parentSpanId).toBe(evento.spanId)
    expect(intento.parentSpanId).toBe(arriendo.spanId)
    expect(received!.headers.traceparent).toBe(`00-${TRAZA}-${intento.spanId}-01`)
    expect(valueIn(solicitud, 'guias.guia')).toBe(guia)
    expect(valueIn(intento, 'http.response.status_code')).toBe(204)
  })

  it('has the retry that comes three days later, also after a restart', async () => {
    const traza = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
    const { recibidos, receptor, webhook } = await create(traza, answerWith(500))
    await waitUntil(async () => recibidos().length > 0)
    await waitUntil(async () => {
      const { rows } = await environment.db.pool.query(
        `select from webhook_aviso where webhook = $1 and estado = 'pendiente' and intentos > 0`,
        [webhook],
      )
      return rows.length
    })
    const before = recibidos().length
    receptor.responder = answerWith(204)
    environment.advance(3 * 86_400_000)
    await environment.reset()
    await waitUntil(async () => recibidos().length > before)
    const intentos = await waitUntil(async () => {
      const attempts = spansOfTrace(traza).filter(({ name }) => name === 'webhook attempt')
      return attempts.length > before && attempts
    })
    expect(recibidos().at(-1)!.headers.traceparent).toBe(`00-${traza}-${intentos.at(-1)!.spanId}-01`)
  })

  it('has later events of a guide, each in the trace of its own request', async () => {
    const { guia, llave } = await create('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb')
    const traza = 'cccccccccccccccccccccccccccccccc'
    await environment.request('POST', `/api/v1/guias/${guia}/cancelar`, {
      llave,
      body: {},
      headers: { traceparent: `00-${traza}-${PARENT_ID}-01` },
    })
    expect(valueIn(await search(traza, 'event'), 'guias.tipo')).toBe('guia.cancelado')
    await search(traza, 'webhook attempt')
  })

  describe('has what workers do with the messages of a guide', () => {
    /** Span of an event of this type, with its lease, its attempt and what the merchant's server got. */
    async function chainOf(tipo: string, traza: string, recibidos: () => ReceivedWebhook[]) {
      const evento = await waitUntil(async () =>
        spansOfTrace(traza).find((span) => valueIn(span, 'guias.tipo') === tipo),
      )
      const child = (parent: ReceivedSpan, name: string) =>
        waitUntil(async () =>
          spansOfTrace(traza).find((one) => one.name === name && one.parentSpanId === parent.spanId),
        )
      const intento = await child(await child(evento, 'webhook lease'), 'webhook attempt')
      const received = await waitUntil(async () => recibidos().find(({ body }) => body.includes(tipo)))
      expect(received.headers.traceparent).toBe(`00-${traza}-${intento.spanId}-01`)
      return { evento, child }
    }

    it('the request for a location that is sent, and expires days later', async () => {
      const traza = 'ffffffffffffffffffffffffffffffff'
      const { recibidos } = await create(traza, answerWith(204), buildGuiaWithoutDestino())
      const { evento, child } = await chainOf('ubicacion.solicitada', traza, recibidos)
      const created = spansOfTrace(traza).find((span) => valueIn(span, 'guias.tipo') === 'guia.aceptado')!
      expect(evento.parentSpanId).toBe(created.spanId)
      await child(evento, 'mensajes.markSent')
      environment.advance(4 * 86_400_000)
      const expired = await chainOf('ubicacion.vencida', traza, recibidos)
      expect(expired.evento.parentSpanId).toBe(created.spanId)
      await child(expired.evento, 'mensajes.expire')
    })

    it('the message that fails in a request of its own', async () => {
      const { api, llave, guia, recibidos } = await create(
        '12121212121212121212121212121212',
        answerWith(204),
        buildGuiaWithoutDestino(),
      )
      await waitUntil(async () => (await api.guias.obtener(guia)).ubicacion.estado === 'solicitada')
      const traza = '34343434343434343434343434343434'
      const { status } = await environment.request('POST', `/api/v1/simulador/guias/${guia}/confirmar-ubicacion`, {
        llave,
        body: { resultado: 'fallida' },
        headers: { traceparent: `00-${traza}-${PARENT_ID}-01` },
      })
      expect(status).toBe(200)
      await chainOf('ubicacion.fallida', traza, recibidos)
    })
  })

  it('is named by the log and by the exemplars of histograms', async () => {
    const traza = 'dddddddddddddddddddddddddddddddd'
    await create(traza)
    await waitUntil(async () => environment.log.some((line) => line.includes(`"traza":"${traza}"`)))
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(text).toMatch(
      /guias_solicitud_segundos_bucket\{le="[\d.]+",operacion="crearGuia"\} \d+ # \{trace_id="[0-9a-f]{32}"\}/,
    )
  })

  it('ignores a traceparent that is none', async () => {
    const { llave } = await environment.createComercio()
    const before = collector.spans.length
    await environment.request('GET', '/api/v1/cuenta', { llave, headers: { traceparent: '00-zz-Juana-01' } })
    await waitUntil(async () => collector.spans.slice(before).some(({ name }) => name === 'obtenerCuenta'))
  })

  it('has no personal or secret value', () => {
    expect(collector.spans.length).toBeGreaterThan(20)
    expect(findCanaries(collector.raw().replaceAll(/"\w*[tT]imeUnixNano":"?\d+"?/g, ''))).toEqual([])
  })
})

describe('without a variable OTEL_*', () => {
  /** Packages of OpenTelemetry that a process loads until it serves, and who loads them. */
  const loadedModules = (env: Record<string, string>) => {
    const hook = `import { registerHooks } from 'node:module'
      registerHooks({ resolve(nombre, contexto, siguiente) {
        if (nombre.startsWith('@opentelemetry/')) process.stderr.write('LOADED ' + nombre + ' by ' + contexto.parentURL + '\\n')
        return siguiente(nombre, contexto)
      } })`
    const program = `
      const { startService } = await import(${JSON.stringify(new URL('../../server/startup/service.ts', import.meta.url).href)})
      const { readConfig } = await import(${JSON.stringify(new URL('../../server/platform/config/config.ts', import.meta.url).href)})
      const { createLog } = await import(${JSON.stringify(new URL('../../server/platform/log.ts', import.meta.url).href)})
      const servicio = await startService(readConfig(process.env, process.cwd()), createLog('silent'))
      const respuesta = await fetch(servicio.url + '/healthz')
      console.log('STATUS ' + respuesta.status)
      await servicio.stop()
      process.exit(0)`
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, '--input-type=module', '-e', program],
      {
        encoding: 'utf8',
        env: {
          ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('OTEL_'))),
          DATABASE_URL: environment.databaseUrl,
          MASTER_KEYS: Buffer.alloc(32, 7).toString('base64'),
          MESSAGING: 'buzon',
          DATA_DIR: environment.dataDir,
          PORT: '0',
          LOG_LEVEL: 'silent',
          ...env,
        },
      },
    )
    expect(stdout, stderr.slice(0, 2_000)).toContain('STATUS 200')
    return stderr.split('\n').filter((line) => line.startsWith('LOADED '))
  }

  it(
    'no module of OpenTelemetry is loaded but the API that prom-client loads, and with one they are',
    FULL_RUN_ONLY,
    () => {
      const PROM_CLIENT = /^LOADED @opentelemetry\/api by \S*\/prom-client\//
      const projectFiles = (env: Record<string, string>) => loadedModules(env).filter((line) => !PROM_CLIENT.test(line))
      expect(projectFiles({})).toEqual([])
      expect(projectFiles({ OTEL_TRACES_EXPORTER: 'none' }).length).toBeGreaterThan(5)
    },
  )
})
