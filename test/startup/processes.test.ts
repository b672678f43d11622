// Several processes of the API on one port, as an operator starts and renews them: real processes, real signals.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { openCollector } from '../observability/collector.ts'
import { findFreePort } from '../ports.ts'
import { findProcesses, requestSeparately, type TestProcess, useProcesses } from '../processes.ts'

const processes = useProcesses()
const COUNT = 2

describe('two processes on one port', FULL_RUN_ONLY, () => {
  let principal: TestProcess
  let collector: Awaited<ReturnType<typeof openCollector>>
  let dataDir: string
  let url: string
  let metrics: string
  let demo: { llave: string; llave_operaciones: string; comercio: string }

  async function start() {
    const [PORT, METRICS_PORT] = [`${await findFreePort()}`, `${await findFreePort()}`]
    url = `http://127.0.0.1:${PORT}`
    metrics = `http://127.0.0.1:${METRICS_PORT}`
    const variables = {
      DATA_DIR: dataDir,
      PORT,
      METRICS_PORT,
      API_PROCESSES: `${COUNT}`,
      LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    }
    principal = processes.startService(variables)
    await waitUntil(async () => principal.output.includes(`Guías está listo con ${COUNT} procesos`))
  }

  beforeAll(async () => {
    collector = await openCollector()
    dataDir = processes.nextFolder()
    await start()
    demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  })
  afterAll(() => collector.close())

  /** Those that serve, without the one that looks after them. */
  const ofApi = () =>
    [...findProcesses(dataDir)]
      .filter(([pid, command]) => command.includes('server/generated/main.mjs') && pid !== principal.pid)
      .map(([pid]) => pid)
  const turns = () => principal.output.match(/"msg":"rolling restart finished"/g)?.length ?? 0
  const waitForAllProcesses = () =>
    waitUntil(async () => ofApi().length === COUNT && (await requestSeparately(`${metrics}/readyz`)).status === 200)

  /** Creates guides over kept connections while something happens; what each was answered. */
  async function createDuring(act: () => Promise<unknown>): Promise<number[]> {
    const pool = new Pool(url, { connections: 6 })
    const responses: number[] = []
    let isRunning = true
    const client = async () => {
      while (isRunning) {
        const { statusCode, body } = await pool.request({
          path: '/api/v1/guias',
          method: 'POST',
          headers: { authorization: `Bearer ${demo.llave}`, 'content-type': 'application/json' },
          body: JSON.stringify(buildGuia({ lat: 14.63077, lng: -90.60711 })),
        })
        await body.dump()
        responses.push(statusCode)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const clientes = Promise.all(Array.from({ length: 6 }, client))
    try {
      await act()
    } finally {
      isRunning = false
    }
    await clientes
    await pool.close()
    return responses
  }

  it('serve both, and are looked after by one', async () => {
    await waitForAllProcesses()
    const { texto: text } = await requestSeparately(`${metrics}/metrics`)
    expect(text).toMatch(/^guias_webhook_intento_segundos_count 0$/m)
    // What all say of one database is said once; each one's own is added up.
    expect(text.match(/^guias_webhook_avisos_pendientes \d+$/gm)).toHaveLength(1)
  })

  it('have the trace of a request in its bucket, also after the process that answered has ended', async () => {
    await waitForAllProcesses()
    const traza = 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
    const headers = { traceparent: `00-${traza}-00f067aa0ba902b7-01` }
    await requestSeparately(`${url}/api/v1/cuenta`, { llave: demo.llave, headers })
    const IN_ITS_BUCKET = new RegExp(
      `^guias_solicitud_segundos_bucket\\{le="[\\d.]+",operacion="obtenerCuenta"\\} 1 # \\{trace_id="${traza}"\\}`,
      'm',
    )
    const read = () => requestSeparately(`${metrics}/metrics`)
    const { texto: text, headers: metricsHeaders } = await read()
    expect(metricsHeaders['content-type']).toContain('application/openmetrics-text')
    expect(text).toMatch(IN_ITS_BUCKET)
    expect(text).toMatch(/^guias_solicitudes_total\{operacion="obtenerCuenta",status="200"\} 1$/m)
    process.kill(principal.pid, 'SIGHUP')
    await waitUntil(async () => turns() === 1)
    expect((await read()).texto).toMatch(IN_ITS_BUCKET)
  })

  it('are renewed on SIGHUP one after the other, and refuse nothing meanwhile', async () => {
    await waitForAllProcesses()
    // So that a slow renewal has no more requests than the merchant may make.
    const changedResult = await requestSeparately(`${url}/operaciones/v1/comercios/${demo.comercio}`, {
      llave: demo.llave_operaciones,
      method: 'PATCH',
      body: { ritmos: { solicitudes: 1_000, guias: 1_000 } },
    })
    expect(changedResult.status, changedResult.texto).toBe(200)
    const before = ofApi()
    const responses = await createDuring(async () => {
      const before = turns()
      process.kill(principal.pid, 'SIGHUP')
      await waitUntil(async () => turns() > before)
    })
    expect(responses.length).toBeGreaterThan(50)
    expect(new Set(responses)).toEqual(new Set([201]))
    await waitForAllProcesses()
    for (const pid of before) expect(ofApi()).not.toContain(pid)
  })

  it('are replaced when they die', async () => {
    await waitForAllProcesses()
    const [one, other] = ofApi() as [number, number]
    process.kill(one, 'SIGKILL')
    await waitUntil(async () => principal.output.includes('API process exited unexpectedly'))
    expect((await requestSeparately(`${url}/readyz`)).status).toBe(200)
    await waitForAllProcesses()
    expect(ofApi()).toContain(other)
  })

  it('know within a second that a key was revoked, all of them', async () => {
    await waitForAllProcesses()
    const operador = { llave: demo.llave_operaciones }
    const created = await requestSeparately(`${url}/operaciones/v1/comercios/${demo.comercio}/llaves`, {
      ...operador,
      method: 'POST',
      body: { modo: 'test', alcances: ['guias:leer'] },
    })
    expect(created.status, created.texto).toBe(201)
    const { llave, id } = created.body
    const requestSeveral = async () => {
      const all = await Promise.all(
        Array.from({ length: 8 }, () => requestSeparately(`${url}/api/v1/guias`, { llave })),
      )
      return new Set(all.map(({ status }) => status))
    }
    expect(await requestSeveral()).toEqual(new Set([200]))
    const revokedLlave = await requestSeparately(`${url}/operaciones/v1/llaves/${id}/revocar`, {
      ...operador,
      method: 'POST',
    })
    expect(revokedLlave.status, revokedLlave.texto).toBeLessThan(300)
    await waitUntil(async () => (await requestSeveral()).size === 1 && (await requestSeveral()).has(401))
  })

  it('end with the one that looks after them, whether it is asked to or killed', async () => {
    await waitForAllProcesses()
    process.kill(principal.pid, 'SIGTERM')
    expect(await principal.waitForEnd()).toEqual({ codigo: 0, signal: null })
    await waitUntil(async () => findProcesses(dataDir).size === 0)
    await start()
    principal.child.kill('SIGKILL')
    await waitUntil(async () => ofApi().length === 0)
  })
})

it('a process that can not start says why, and nothing is left', FULL_RUN_ONLY, async () => {
  const dataDir = processes.nextFolder()
  const ocupado = processes.startService({ DATA_DIR: processes.nextFolder() })
  const port = await waitUntil(async () => /127\.0\.0\.1:(\d+)\/api/.exec(ocupado.output)?.[1])
  const child = processes.startService({ DATA_DIR: dataDir, PORT: port, API_PROCESSES: '2' })
  expect(await child.waitForEnd()).toEqual({ codigo: 1, signal: null })
  expect(child.errores).toContain(`El puerto ${port} de 127.0.0.1 ya está en uso`)
  await waitUntil(async () => findProcesses(dataDir).size === 0)
})
