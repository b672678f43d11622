// Several processes of the API on one port, as an operator starts and renews them: real processes, real signals.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { openCollector } from '../observability/collector.ts'
import { findFreePort } from '../ports.ts'
import { findProcesses, requestSeparately, type TestProcess, useProcesses } from '../processes.ts'

const procesos = useProcesses()
const CUANTOS = 2

describe('two processes on one port', FULL_RUN_ONLY, () => {
  let principal: TestProcess
  let colector: Awaited<ReturnType<typeof openCollector>>
  let dataDir: string
  let url: string
  let metricas: string
  let demo: { llave: string; llave_operaciones: string; comercio: string }

  async function empezar() {
    const [PORT, METRICS_PORT] = [`${await findFreePort()}`, `${await findFreePort()}`]
    url = `http://127.0.0.1:${PORT}`
    metricas = `http://127.0.0.1:${METRICS_PORT}`
    const variables = {
      DATA_DIR: dataDir,
      PORT,
      METRICS_PORT,
      API_PROCESSES: `${CUANTOS}`,
      LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: colector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    }
    principal = procesos.startService(variables)
    await hasta(async () => principal.output.includes(`Guías está listo con ${CUANTOS} procesos`))
  }

  beforeAll(async () => {
    colector = await openCollector()
    dataDir = procesos.nextFolder()
    await empezar()
    demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  })
  afterAll(() => colector.close())

  /** Those that serve, without the one that looks after them. */
  const deApi = () =>
    [...findProcesses(dataDir)]
      .filter(([pid, orden]) => orden.includes('server/generated/main.mjs') && pid !== principal.pid)
      .map(([pid]) => pid)
  const vueltas = () => principal.output.match(/"msg":"rolling restart finished"/g)?.length ?? 0
  const completos = () =>
    hasta(async () => deApi().length === CUANTOS && (await requestSeparately(`${metricas}/readyz`)).status === 200)

  /** Creates guides over kept connections while something happens; what each was answered. */
  async function creandoMientras(hacer: () => Promise<unknown>): Promise<number[]> {
    const pool = new Pool(url, { connections: 6 })
    const respuestas: number[] = []
    let sigue = true
    const cliente = async () => {
      while (sigue) {
        const { statusCode, body } = await pool.request({
          path: '/api/v1/guias',
          method: 'POST',
          headers: { authorization: `Bearer ${demo.llave}`, 'content-type': 'application/json' },
          body: JSON.stringify(buildGuia({ lat: 14.63077, lng: -90.60711 })),
        })
        await body.dump()
        respuestas.push(statusCode)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const clientes = Promise.all(Array.from({ length: 6 }, cliente))
    try {
      await hacer()
    } finally {
      sigue = false
    }
    await clientes
    await pool.close()
    return respuestas
  }

  it('serve both, and are looked after by one', async () => {
    await completos()
    const { texto } = await requestSeparately(`${metricas}/metrics`)
    expect(texto).toMatch(/^guias_webhook_intento_segundos_count 0$/m)
    // What all say of one database is said once; each one's own is added up.
    expect(texto.match(/^guias_webhook_avisos_pendientes \d+$/gm)).toHaveLength(1)
  })

  it('have the trace of a request in its bucket, also after the process that answered has ended', async () => {
    await completos()
    const traza = 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
    const cabeceras = { traceparent: `00-${traza}-00f067aa0ba902b7-01` }
    await requestSeparately(`${url}/api/v1/cuenta`, { llave: demo.llave, cabeceras })
    const EN_SU_CUBETA = new RegExp(
      `^guias_solicitud_segundos_bucket\\{le="[\\d.]+",operacion="obtenerCuenta"\\} 1 # \\{trace_id="${traza}"\\}`,
      'm',
    )
    const leer = () => requestSeparately(`${metricas}/metrics`)
    const { texto, cabeceras: suyas } = await leer()
    expect(suyas['content-type']).toContain('application/openmetrics-text')
    expect(texto).toMatch(EN_SU_CUBETA)
    expect(texto).toMatch(/^guias_solicitudes_total\{operacion="obtenerCuenta",status="200"\} 1$/m)
    process.kill(principal.pid, 'SIGHUP')
    await hasta(async () => vueltas() === 1)
    expect((await leer()).texto).toMatch(EN_SU_CUBETA)
  })

  it('are renewed on SIGHUP one after the other, and refuse nothing meanwhile', async () => {
    await completos()
    // So that a slow renewal has no more requests than the merchant may make.
    const cambiado = await requestSeparately(`${url}/operaciones/v1/comercios/${demo.comercio}`, {
      llave: demo.llave_operaciones,
      method: 'PATCH',
      cuerpo: { ritmos: { solicitudes: 1_000, guias: 1_000 } },
    })
    expect(cambiado.status, cambiado.texto).toBe(200)
    const antes = deApi()
    const respuestas = await creandoMientras(async () => {
      const antes = vueltas()
      process.kill(principal.pid, 'SIGHUP')
      await hasta(async () => vueltas() > antes)
    })
    expect(respuestas.length).toBeGreaterThan(50)
    expect(new Set(respuestas)).toEqual(new Set([201]))
    await completos()
    for (const pid of antes) expect(deApi()).not.toContain(pid)
  })

  it('are replaced when they die', async () => {
    await completos()
    const [uno, otro] = deApi() as [number, number]
    process.kill(uno, 'SIGKILL')
    await hasta(async () => principal.output.includes('API process exited unexpectedly'))
    expect((await requestSeparately(`${url}/readyz`)).status).toBe(200)
    await completos()
    expect(deApi()).toContain(otro)
  })

  it('know within a second that a key was revoked, all of them', async () => {
    await completos()
    const operador = { llave: demo.llave_operaciones }
    const creada = await requestSeparately(`${url}/operaciones/v1/comercios/${demo.comercio}/llaves`, {
      ...operador,
      method: 'POST',
      cuerpo: { modo: 'test', alcances: ['guias:leer'] },
    })
    expect(creada.status, creada.texto).toBe(201)
    const { llave, id } = creada.cuerpo
    const pedirVarias = async () => {
      const todas = await Promise.all(
        Array.from({ length: 8 }, () => requestSeparately(`${url}/api/v1/guias`, { llave })),
      )
      return new Set(todas.map(({ status }) => status))
    }
    expect(await pedirVarias()).toEqual(new Set([200]))
    const revocada = await requestSeparately(`${url}/operaciones/v1/llaves/${id}/revocar`, {
      ...operador,
      method: 'POST',
    })
    expect(revocada.status, revocada.texto).toBeLessThan(300)
    await hasta(async () => (await pedirVarias()).size === 1 && (await pedirVarias()).has(401))
  })

  it('end with the one that looks after them, whether it is asked to or killed', async () => {
    await completos()
    process.kill(principal.pid, 'SIGTERM')
    expect(await principal.waitForEnd()).toEqual({ codigo: 0, signal: null })
    await hasta(async () => findProcesses(dataDir).size === 0)
    await empezar()
    principal.child.kill('SIGKILL')
    await hasta(async () => deApi().length === 0)
  })
})

it('a process that can not start says why, and nothing is left', FULL_RUN_ONLY, async () => {
  const dataDir = procesos.nextFolder()
  const ocupado = procesos.startService({ DATA_DIR: procesos.nextFolder() })
  const puerto = await hasta(async () => /127\.0\.0\.1:(\d+)\/api/.exec(ocupado.output)?.[1])
  const proceso = procesos.startService({ DATA_DIR: dataDir, PORT: puerto, API_PROCESSES: '2' })
  expect(await proceso.waitForEnd()).toEqual({ codigo: 1, signal: null })
  expect(proceso.errores).toContain(`El puerto ${puerto} de 127.0.0.1 ya está en uso`)
  await hasta(async () => findProcesses(dataDir).size === 0)
})
