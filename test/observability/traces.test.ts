import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { findCanaries } from '../canaries.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { answerWith, type ReceivedWebhook, useReceivers } from '../webhooks/receiver.ts'
import { openCollector, type ReceivedSpan } from './collector.ts'

// The SDK reads its variables from the environment of the process. The tests of this file share one process.
let colector: Awaited<ReturnType<typeof openCollector>>
let puerto: number
// Before the environment, so that the service has stopped and sent its last spans when this runs.
afterAll(async () => {
  vi.unstubAllEnvs()
  await colector.close()
})
const entorno = useEnvironment(undefined, async () => {
  colector = await openCollector()
  puerto = await findFreePort()
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: colector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  }
  for (const [nombre, valor] of Object.entries(variables)) vi.stubEnv(nombre, valor)
  return { ...variables, METRICS_PORT: `${puerto}` }
})
const nuevoReceptor = useReceivers()

const TRAZA = '4bf92f3577b34da6a3ce929d0e0e4736'
const PADRE = '00f067aa0ba902b7'
const deTraza = (traza: string) => colector.spans.filter(({ traceId }) => traceId === traza)
const buscar = (traza: string, nombre: string) => hasta(async () => deTraza(traza).find(({ name }) => name === nombre))
const valorDe = ({ attributes }: ReceivedSpan, clave: string) =>
  Object.values(attributes.find(({ key }) => key === clave)?.value ?? {})[0]

/** Creates a guide in a trace of the merchant's own, with an endpoint that answers this. */
async function crear(traza: string, responder = answerWith(204), cuerpo: object = buildGuia()) {
  const comercio = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor(responder)
  const { webhook } = await comercio.api.webhooks.crear({ url: receptor.url })
  await entorno.waitForQuiet(comercio)
  const creada = await entorno.request('POST', '/api/v1/guias', {
    llave: comercio.llave,
    cuerpo,
    cabeceras: { traceparent: `00-${traza}-${PADRE}-01` },
  })
  expect(creada.status).toBe(201)
  const guia = creada.cuerpo.guia as string
  const recibidos = () => receptor.receivedWebhooks.filter(({ cuerpo }) => cuerpo.includes(guia))
  return { ...comercio, webhook, guia, receptor, recibidos }
}

describe('a trace', () => {
  it('leads from the request over statement, event and lease to the merchant’s server', async () => {
    const { guia, recibidos } = await crear(TRAZA)
    const [recibido] = await hasta(async () => recibidos().length > 0 && recibidos())
    const [solicitud, evento, sentencia, arriendo, intento] = [
      await buscar(TRAZA, 'crearGuia'),
      await buscar(TRAZA, 'event'),
      await buscar(TRAZA, 'guias.insertarTrazadas'),
      await buscar(TRAZA, 'webhook lease'),
      await buscar(TRAZA, 'webhook attempt'),
    ]
    expect(solicitud.parentSpanId).toBe(PADRE)
    expect(evento.parentSpanId).toBe(solicitud.spanId)
    expect(sentencia.parentSpanId).toBe(evento.spanId)
    expect(arriendo.parentSpanId).toBe(evento.spanId)
    expect(intento.parentSpanId).toBe(arriendo.spanId)
    expect(recibido!.cabeceras.traceparent).toBe(`00-${TRAZA}-${intento.spanId}-01`)
    expect(valorDe(solicitud, 'guias.guia')).toBe(guia)
    expect(valorDe(intento, 'http.response.status_code')).toBe(204)
  })

  it('has the retry that comes three days later, also after a restart', async () => {
    const traza = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
    const { recibidos, receptor, webhook } = await crear(traza, answerWith(500))
    await hasta(async () => recibidos().length > 0)
    await hasta(async () => {
      const { rows } = await entorno.db.pool.query(
        `select from webhook_aviso where webhook = $1 and estado = 'pendiente' and intentos > 0`,
        [webhook],
      )
      return rows.length
    })
    const antes = recibidos().length
    receptor.responder = answerWith(204)
    entorno.advance(3 * 86_400_000)
    await entorno.reset()
    await hasta(async () => recibidos().length > antes)
    const intentos = await hasta(async () => {
      const suyos = deTraza(traza).filter(({ name }) => name === 'webhook attempt')
      return suyos.length > antes && suyos
    })
    expect(recibidos().at(-1)!.cabeceras.traceparent).toBe(`00-${traza}-${intentos.at(-1)!.spanId}-01`)
  })

  it('has later events of a guide, each in the trace of its own request', async () => {
    const { guia, llave } = await crear('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb')
    const traza = 'cccccccccccccccccccccccccccccccc'
    await entorno.request('POST', `/api/v1/guias/${guia}/cancelar`, {
      llave,
      cuerpo: {},
      cabeceras: { traceparent: `00-${traza}-${PADRE}-01` },
    })
    expect(valorDe(await buscar(traza, 'event'), 'guias.tipo')).toBe('guia.cancelado')
    await buscar(traza, 'webhook attempt')
  })

  describe('has what workers do with the messages of a guide', () => {
    /** Span of an event of this type, with its lease, its attempt and what the merchant's server got. */
    async function cadenaDe(tipo: string, traza: string, recibidos: () => ReceivedWebhook[]) {
      const evento = await hasta(async () => deTraza(traza).find((span) => valorDe(span, 'guias.tipo') === tipo))
      const hijo = (padre: ReceivedSpan, nombre: string) =>
        hasta(async () => deTraza(traza).find((una) => una.name === nombre && una.parentSpanId === padre.spanId))
      const intento = await hijo(await hijo(evento, 'webhook lease'), 'webhook attempt')
      const recibido = await hasta(async () => recibidos().find(({ cuerpo }) => cuerpo.includes(tipo)))
      expect(recibido.cabeceras.traceparent).toBe(`00-${traza}-${intento.spanId}-01`)
      return { evento, child: hijo }
    }

    it('the request for a location that is sent, and expires days later', async () => {
      const traza = 'ffffffffffffffffffffffffffffffff'
      const { recibidos } = await crear(traza, answerWith(204), buildGuiaWithoutDestino())
      const { evento, child: hijo } = await cadenaDe('ubicacion.solicitada', traza, recibidos)
      const creada = deTraza(traza).find((span) => valorDe(span, 'guias.tipo') === 'guia.aceptado')!
      expect(evento.parentSpanId).toBe(creada.spanId)
      await hijo(evento, 'mensajes.marcarEnviados')
      entorno.advance(4 * 86_400_000)
      const vencida = await cadenaDe('ubicacion.vencida', traza, recibidos)
      expect(vencida.evento.parentSpanId).toBe(creada.spanId)
      await hijo(vencida.evento, 'mensajes.vencer')
    })

    it('the message that fails in a request of its own', async () => {
      const { api, llave, guia, recibidos } = await crear(
        '12121212121212121212121212121212',
        answerWith(204),
        buildGuiaWithoutDestino(),
      )
      await hasta(async () => (await api.guias.obtener(guia)).ubicacion.estado === 'solicitada')
      const traza = '34343434343434343434343434343434'
      const { status } = await entorno.request('POST', `/api/v1/simulador/guias/${guia}/confirmar-ubicacion`, {
        llave,
        cuerpo: { resultado: 'fallida' },
        cabeceras: { traceparent: `00-${traza}-${PADRE}-01` },
      })
      expect(status).toBe(200)
      await cadenaDe('ubicacion.fallida', traza, recibidos)
    })
  })

  it('is named by the log and by the exemplars of histograms', async () => {
    const traza = 'dddddddddddddddddddddddddddddddd'
    await crear(traza)
    await hasta(async () => entorno.log.some((linea) => linea.includes(`"traza":"${traza}"`)))
    const texto = await (await fetch(`http://127.0.0.1:${puerto}/metrics`)).text()
    expect(texto).toMatch(
      /guias_solicitud_segundos_bucket\{le="[\d.]+",operacion="crearGuia"\} \d+ # \{trace_id="[0-9a-f]{32}"\}/,
    )
  })

  it('ignores a traceparent that is none', async () => {
    const { llave } = await entorno.nuevoComercio()
    const antes = colector.spans.length
    await entorno.request('GET', '/api/v1/cuenta', { llave, cabeceras: { traceparent: '00-zz-Juana-01' } })
    await hasta(async () => colector.spans.slice(antes).some(({ name }) => name === 'obtenerCuenta'))
  })

  it('has no personal or secret value', () => {
    expect(colector.spans.length).toBeGreaterThan(20)
    expect(findCanaries(colector.raw().replaceAll(/"\w*[tT]imeUnixNano":"?\d+"?/g, ''))).toEqual([])
  })
})

describe('without a variable OTEL_*', () => {
  /** Packages of OpenTelemetry that a process loads until it serves, and who loads them. */
  const cargados = (env: Record<string, string>) => {
    const gancho = `import { registerHooks } from 'node:module'
      registerHooks({ resolve(nombre, contexto, siguiente) {
        if (nombre.startsWith('@opentelemetry/')) process.stderr.write('LOADED ' + nombre + ' by ' + contexto.parentURL + '\\n')
        return siguiente(nombre, contexto)
      } })`
    const programa = `
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
      ['--import', `data:text/javascript,${encodeURIComponent(gancho)}`, '--input-type=module', '-e', programa],
      {
        encoding: 'utf8',
        env: {
          ...Object.fromEntries(Object.entries(process.env).filter(([nombre]) => !nombre.startsWith('OTEL_'))),
          DATABASE_URL: entorno.databaseUrl,
          MASTER_KEYS: Buffer.alloc(32, 7).toString('base64'),
          MESSAGING: 'buzon',
          DATA_DIR: entorno.dataDir,
          PORT: '0',
          LOG_LEVEL: 'silent',
          ...env,
        },
      },
    )
    expect(stdout, stderr.slice(0, 2_000)).toContain('STATUS 200')
    return stderr.split('\n').filter((linea) => linea.startsWith('LOADED '))
  }

  it(
    'no module of OpenTelemetry is loaded but the API that prom-client loads, and with one they are',
    FULL_RUN_ONLY,
    () => {
      const PROM_CLIENT = /^LOADED @opentelemetry\/api by \S*\/prom-client\//
      const nuestros = (env: Record<string, string>) => cargados(env).filter((linea) => !PROM_CLIENT.test(linea))
      expect(nuestros({})).toEqual([])
      expect(nuestros({ OTEL_TRACES_EXPORTER: 'none' }).length).toBeGreaterThan(5)
    },
  )
})
