import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { REHEARSAL_SCENARIOS } from '../deployment/rehearsal.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { useProcesses } from '../processes.ts'
import { SCENARIOS } from '../resilience/webhooks.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { ALERT_FAULTS } from './breakdowns.ts'
import { usePrometheus } from './prometheus.ts'
import { ALERT_RULES_PATH, HAS_PROMETHEUS } from './prometheusServer.ts'

const rules = readFileSync(ALERT_RULES_PATH, 'utf8')
const all = (pattern: RegExp) => [...rules.matchAll(pattern)].map(([, value]) => value!)
const read = (page: string) => readFileSync(`docs/operacion/alertas/${page}`, 'utf8')
const names = all(/- alert: (\w+)/g)
const alertPages = all(/pagina: docs\/operacion\/alertas\/([\w-]+\.md)/g)

describe('the alerts', () => {
  it('have a page each', () => {
    expect(alertPages).toHaveLength(names.length)
    const index = read('README.md')
    for (const name of names) expect(index).toContain(`| \`${name}\` |`)
    for (const [, expr, page] of rules.matchAll(/expr: ([^\n]+)\n.*?pagina: (\S+)/gs)) {
      expect(existsSync(page!)).toBe(true)
      expect(readFileSync(page!, 'utf8')).toContain(expr)
    }
  })

  it('and the dashboards name operations of the contract alone', () => {
    const dashboards = readdirSync('despliegue/observabilidad').filter((one) => one.endsWith('.json'))
    const texts = [rules, ...dashboards.map((one) => readFileSync(`despliegue/observabilidad/${one}`, 'utf8'))]
    const mentionedNames = texts
      .flatMap((text) => [...text.matchAll(/guias_solicitudes_total\{operacion=~?\\?"([\w|]+)\\?"/g)])
      .flatMap(([, cuales]) => cuales!.split('|'))
    expect(mentionedNames.length).toBeGreaterThan(5)
    const knownNames = [
      ...readOperations(readDocument()).map(({ id }) => id as string),
      'pagina',
      'en_vivo',
      'saturada',
    ]
    expect(mentionedNames.filter((one) => !knownNames.includes(one))).toEqual([])
  })

  it.skipIf(!HAS_PROMETHEUS)('pass promtool, and fire after the time that they name', () => {
    execFileSync('promtool', ['check', 'rules', ALERT_RULES_PATH])
    const pruebas = 'test/observability/alerts.prueba.yml'
    for (const name of names) expect(readFileSync(pruebas, 'utf8')).toContain(`alertname: ${name}\n`)
    execFileSync('promtool', ['test', 'rules', pruebas])
  })
})

describe('the faults of the fault suites', () => {
  const suites = { webhooks: SCENARIOS, despliegue: REHEARSAL_SCENARIOS }
  const rows = [...read('README.md').matchAll(/^\| `(\w+) ([\w-]+)` \|.*\]\(([\w-]+\.md)\) \|$/gm)].map(
    ([, suite = '', key = '', pagina = '']) => ({ suite, clave: key, pagina }),
  )

  it('have a row each in the index, and a page that names them', () => {
    const faults = Object.entries(suites).flatMap(([suite, items]) => items.map(({ clave: key }) => `${suite} ${key}`))
    expect(rows.map(({ suite, clave: key }) => `${suite} ${key}`).sort()).toEqual(faults.sort())
    for (const { suite, clave: key, pagina } of rows) {
      expect(read(pagina), pagina).toMatch(new RegExp(`test:faults -- ${suite}[^\`]* ${key}[ \`]`))
      expect(read(pagina), pagina).toContain('\n## What is lost\n')
    }
  })

  it('leave no page without an alert or a fault', () => {
    const pages = new Set([...alertPages, ...rows.map(({ pagina }) => pagina), 'README.md'])
    expect([...pages].sort()).toEqual(readdirSync('docs/operacion/alertas').sort())
  })
})

describe.skipIf(!HAS_PROMETHEUS)('each alert', FULL_RUN_ONLY, () => {
  const { environment, monitoring } = usePrometheus()
  const openReceiver = useReceivers()
  const processes = useProcesses()
  const tiempos: string[] = []
  afterAll(() => console.log(['alert: seconds to fire, and to clear', ...tiempos].join('\n')))

  it('has a fault', () => {
    expect(Object.keys(ALERT_FAULTS).sort()).toEqual([...names].sort())
  })

  it.each(Object.entries(ALERT_FAULTS))('%s fires when its fault is caused, and clears', async (name, provoke) => {
    const isFiring = async () => (await monitoring.prometheus.firingAlerts()).includes(name)
    const secondsSince = (start: number) => ((performance.now() - start) / 1_000).toFixed(1)
    await waitUntil(async () => !(await isFiring()))
    const brokenAt = performance.now()
    const repair = await provoke({
      environment,
      isFiring,
      metricsPort: monitoring.metricsPort,
      openReceiver,
      processes,
    })
    let firingAfter = ''
    try {
      await waitUntil(isFiring)
      firingAfter = secondsSince(brokenAt)
    } finally {
      await repair()
    }
    const repairedAt = performance.now()
    await waitUntil(async () => !(await isFiring()))
    tiempos.push(`${name}: ${firingAfter}, ${secondsSince(repairedAt)}`)
  })
})
