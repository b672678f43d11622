import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { REHEARSAL_SCENARIOS } from '../deployment/rehearsal.ts'
import { FULL_RUN_ONLY, hasta } from '../factories.ts'
import { useProcesses } from '../processes.ts'
import { SCENARIOS } from '../resilience/webhooks.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { ALERT_FAULTS } from './breakdowns.ts'
import { usePrometheus } from './prometheus.ts'
import { ALERT_RULES_PATH, HAS_PROMETHEUS } from './prometheusServer.ts'

const reglas = readFileSync(ALERT_RULES_PATH, 'utf8')
const todas = (patron: RegExp) => [...reglas.matchAll(patron)].map(([, valor]) => valor!)
const leer = (pagina: string) => readFileSync(`docs/operacion/alertas/${pagina}`, 'utf8')
const nombres = todas(/- alert: (\w+)/g)
const paginasDeAlertas = todas(/pagina: docs\/operacion\/alertas\/([\w-]+\.md)/g)

describe('the alerts', () => {
  it('have a page each', () => {
    expect(paginasDeAlertas).toHaveLength(nombres.length)
    const indice = leer('README.md')
    for (const nombre of nombres) expect(indice).toContain(`| \`${nombre}\` |`)
    for (const [, expr, pagina] of reglas.matchAll(/expr: ([^\n]+)\n.*?pagina: (\S+)/gs)) {
      expect(existsSync(pagina!)).toBe(true)
      expect(readFileSync(pagina!, 'utf8')).toContain(expr)
    }
  })

  it('and the dashboards name operations of the contract alone', () => {
    const tableros = readdirSync('despliegue/observabilidad').filter((uno) => uno.endsWith('.json'))
    const textos = [reglas, ...tableros.map((uno) => readFileSync(`despliegue/observabilidad/${uno}`, 'utf8'))]
    const nombradas = textos
      .flatMap((texto) => [...texto.matchAll(/guias_solicitudes_total\{operacion=~?\\?"([\w|]+)\\?"/g)])
      .flatMap(([, cuales]) => cuales!.split('|'))
    expect(nombradas.length).toBeGreaterThan(5)
    const conocidas = [...readOperations(readDocument()).map(({ id }) => id as string), 'pagina', 'en_vivo', 'saturada']
    expect(nombradas.filter((una) => !conocidas.includes(una))).toEqual([])
  })

  it.skipIf(!HAS_PROMETHEUS)('pass promtool, and fire after the time that they name', () => {
    execFileSync('promtool', ['check', 'rules', ALERT_RULES_PATH])
    const pruebas = 'test/observability/alerts.prueba.yml'
    for (const nombre of nombres) expect(readFileSync(pruebas, 'utf8')).toContain(`alertname: ${nombre}\n`)
    execFileSync('promtool', ['test', 'rules', pruebas])
  })
})

describe('the faults of the fault suites', () => {
  const suites = { webhooks: SCENARIOS, despliegue: REHEARSAL_SCENARIOS }
  const filas = [...leer('README.md').matchAll(/^\| `(\w+) ([\w-]+)` \|.*\]\(([\w-]+\.md)\) \|$/gm)].map(
    ([, suite = '', clave = '', pagina = '']) => ({ suite, clave, pagina }),
  )

  it('have a row each in the index, and a page that names them', () => {
    const fallas = Object.entries(suites).flatMap(([suite, unos]) => unos.map(({ clave }) => `${suite} ${clave}`))
    expect(filas.map(({ suite, clave }) => `${suite} ${clave}`).sort()).toEqual(fallas.sort())
    for (const { suite, clave, pagina } of filas) {
      expect(leer(pagina), pagina).toMatch(new RegExp(`test:faults -- ${suite}[^\`]* ${clave}[ \`]`))
      expect(leer(pagina), pagina).toContain('\n## What is lost\n')
    }
  })

  it('leave no page without an alert or a fault', () => {
    const paginas = new Set([...paginasDeAlertas, ...filas.map(({ pagina }) => pagina), 'README.md'])
    expect([...paginas].sort()).toEqual(readdirSync('docs/operacion/alertas').sort())
  })
})

describe.skipIf(!HAS_PROMETHEUS)('each alert', FULL_RUN_ONLY, () => {
  const { environment, monitoring } = usePrometheus()
  const nuevoReceptor = useReceivers()
  const procesos = useProcesses()
  const tiempos: string[] = []
  afterAll(() => console.log(['alert: seconds to fire, and to clear', ...tiempos].join('\n')))

  it('has a fault', () => {
    expect(Object.keys(ALERT_FAULTS).sort()).toEqual([...nombres].sort())
  })

  it.each(Object.entries(ALERT_FAULTS))('%s fires when its fault is caused, and clears', async (nombre, causar) => {
    const suena = async () => (await monitoring.prometheus.firingAlerts()).includes(nombre)
    const segundosDesde = (inicio: number) => ((performance.now() - inicio) / 1_000).toFixed(1)
    await hasta(async () => !(await suena()))
    const averiado = performance.now()
    const reparar = await causar({
      environment,
      isFiring: suena,
      metricsPort: monitoring.metricsPort,
      nuevoReceptor,
      processes: procesos,
    })
    let sonando = ''
    try {
      await hasta(suena)
      sonando = segundosDesde(averiado)
    } finally {
      await reparar()
    }
    const reparado = performance.now()
    await hasta(async () => !(await suena()))
    tiempos.push(`${nombre}: ${sonando}, ${segundosDesde(reparado)}`)
  })
})
