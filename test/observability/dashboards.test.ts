import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { answerWith, useReceivers } from '../webhooks/receiver.ts'
import { usePrometheus } from './prometheus.ts'
import { HAS_PROMETHEUS, shortenRanges } from './prometheusServer.ts'
import { startTransaction } from './promises.ts'

const FOLDER = 'despliegue/observabilidad'
interface Dashboard {
  title: string
  uid: string
  panels: { title: string; targets: { expr: string }[] }[]
}
const dashboards = readdirSync(FOLDER)
  .filter((name) => name.startsWith('tablero-'))
  .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Dashboard)
const expressions = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel) => panel.targets.map(({ expr }) => [`${title}: ${panel.title}`, expr] as const)),
)

describe('the dashboards', () => {
  it('have names of their own, and no expression that makes up a value', () => {
    expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length)
    expect(expressions.filter(([, expr]) => /\bvector\b|\babsent\b/.test(expr))).toEqual([])
  })

  it('show each metric of the service', () => {
    const [, manual = ''] = /\n## Metrics\n(.*?)\n## /s.exec(readFileSync('docs/operacion/metrics.md', 'utf8')) ?? []
    const all = expressions.map(([, expr]) => expr).join('\n')
    const mentionedNames = [...manual.matchAll(/^\| `(guias_\w+)[`{]/gm)].map(([, name]) => name!)
    expect(mentionedNames.filter((name) => !all.includes(name))).toEqual([])
  })
})

describe.skipIf(!HAS_PROMETHEUS)('each expression', () => {
  const { environment, monitoring } = usePrometheus()
  const openReceiver = useReceivers()

  /** Does once what the dashboards show. */
  async function exercise() {
    const comercio = await environment.createComercio()
    const { url } = await openReceiver(answerWith(204))
    await comercio.api.webhooks.crear({ url })
    await createDeliveredGuia(environment, comercio)
    await environment.request('POST', '/repartidor/v1/sesion', { body: { codigo: 'AAAA-AAAA-AA' } })
    const { llave } = await environment.createComercio('test', { solicitudes: 1, guias: 1 })
    await waitUntil(async () => (await environment.request('GET', '/api/v1/guias', { llave })).status === 429)
    // A request that waits for a locked table ends with 503.
    const release = await startTransaction(environment, 'lock table repartidor in access exclusive mode')
    try {
      expect((await environment.asOperador('GET', '/repartidores')).status).toBe(503)
    } finally {
      await release()
    }
    await comercio.api.guias.crear(buildGuia())
  }

  it('returns a series', async () => {
    const seen = new Set<string>()
    const missing = () => expressions.filter(([, expr]) => !seen.has(expr))
    await exercise()
    await waitUntil(async () => {
      for (const [, expr] of missing())
        if ((await monitoring.prometheus.series(shortenRanges(expr))) > 0) seen.add(expr)
      if (missing().length > 0) await environment.request('GET', '/healthz')
      return missing().length === 0
    }).catch(() => expect(missing()).toEqual([]))
  })
})
