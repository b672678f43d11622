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

const reglas = readFileSync(ALERT_RULES_PATH, 'utf8')
const all = (pattern: RegExp) => [...reglas.matchAll(pattern)].map(([, value]) => value!)
const read = (page: string) => readFileSync(`docs/operacion/alertas/${page}`, 'utf8')
const names = all(/- alert: (\w+)/g)
const paginasDeAlertas = all(/pagina: docs\/operacion\/alertas\/([\w-]+\.md)/g)

describe('the alerts', () => {
  it('have a page each', () => {
    expect(paginasDeAlertas).toHaveLength(names.length)
    const index = read('README.md')
    for (const name of names) expect(index).toContain(`| \`${name}\` |`)
    for (const [, expr, page] of reglas.matchAll(/expr: ([^\n]+)\n.*?pagina: (\S+)/gs)) {
      expect(existsSync(page!)).toBe(true)
      expect(readFileSync(page!, 'utf8')).toContain(expr)
    }
  })

  it('and the dashboards name operations of the contract alone', () => {
    const tableros = readdirSync('despliegue/observabilidad').filter((one) => one.endsWith('.json'))
    const texts = [reglas, ...tableros.map((one) => readFileSync(`despliegue/observabilidad/${one}`, 'utf8'))]
    const nombradas = texts
      .flatMap((text) => [...text.matchAll(/guias_solicitudes_total\{operacion=~?\\?"([\w|]+)\\?"/g)])
      .flatMap(([, cuales]) => cuales!.split('|'))
    expect(nombradas.length).toBeGreaterThan(5)
    const conocidas = [...readOperations(readDocument()).map(({ id }) => id as string), 'pagina', 'en_vivo', 'saturada']
    expect(nombradas.filter((one) => !conocidas.includes(one))).toEqual([])
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
    ([, suite = '', clave = '', pagina = '']) => ({ suite, clave, pagina }),
  )

  it('have a row each in the index, and a page that names them', () => {
    const faults = Object.entries(suites).flatMap(([suite, unos]) => unos.map(({ clave }) => `${suite} ${clave}`))
    expect(rows.map(({ suite, clave }) => `${suite} ${clave}`).sort()).toEqual(faults.sort())
    for (const { suite, clave, pagina } of rows) {
      expect(read(pagina), pagina).toMatch(new RegExp(`test:faults -- ${suite}[^\`]* ${clave}[ \`]`))
      expect(read(pagina), pagina).toContain('\n## What is lost\n')
    }
  })

  it('leave no page without an alert or a fault', () => {
    const pages = new Set([...paginasDeAlertas, ...rows.map(({ pagina }) => pagina), 'README.md'])
    expect([...pages].sort()).toEqual(readdirSync('docs/operacion/alertas').sort())
  })
})

describe.skipIf(!HAS_PROMETHEUS)('each alert', FULL_RUN_ONLY, () => {
  const { environment, monitoring } = usePrometheus()
  const nuevoReceptor = useReceivers()
  const processes = useProcesses()
  const tiempos: string[] = []
  afterAll(() => console.log(['alert: seconds to fire, and to clear', ...tiempos].join('\n')))

  it('has a fault', () => {
    expect(Object.keys(ALERT_FAULTS).sort()).toEqual([...names].sort())
  })

  it.each(Object.entries(ALERT_FAULTS))('%s fires when its fault is caused, and clears', async (name, causar) => {
    const suena = async () => (await monitoring.prometheus.firingAlerts()).includes(name)
    const segundosDesde = (start: number) => ((performance.now() - start) / 1_000).toFixed(1)
    await waitUntil(async () => !(await suena()))
    const averiado = performance.now()
    const reparar = await causar({
      environment,
      isFiring: suena,
      metricsPort: monitoring.metricsPort,
      nuevoReceptor,
      processes,
    })
    let sonando = ''
    try {
      await waitUntil(suena)
      sonando = segundosDesde(averiado)
    } finally {
      await reparar()
    }
    const reparado = performance.now()
    await waitUntil(async () => !(await suena()))
    tiempos.push(`${name}: ${sonando}, ${segundosDesde(reparado)}`)
  })
})
