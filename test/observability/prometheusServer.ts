/** A real Prometheus: Debian's package `prometheus`. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Path of the repository's alerting rules. */
export const ALERT_RULES_PATH = 'despliegue/observabilidad/alertas.yml'

/** True if Debian's package `prometheus` is installed. */
export const HAS_PROMETHEUS = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
)

/** Shortens every time range in rules or in an expression to a few seconds, so that a test can wait for them. */
export const shortenRanges = (rules: string): string =>
  rules.replaceAll(/\[\d+[mh]\]/g, '[6s]').replaceAll(/^( +for: )\d+[mh]$/gm, '$11s')

/** Answer of Prometheus's HTTP API. */
interface Respuesta<T> {
  status: string
  error?: string
  data: T
}

/** Prometheus server that scrapes a process once a second. */
export interface Prometheus {
  /** Returns the names of the alerts that fire now. */
  firingAlerts(): Promise<string[]>
  /** Returns the number of series that an expression yields now. */
  series(expression: string): Promise<number>
  close(): Promise<void>
}

async function writeConfig(folder: string, metricsPort: number): Promise<string> {
  const rulesPath = join(folder, 'alertas.yml')
  const configPath = join(folder, 'prometheus.yml')
  const scrapeTarget = { targets: [`127.0.0.1:${metricsPort}`], labels: { instance: 'api-1' } }
  await writeFile(rulesPath, shortenRanges(await readFile(ALERT_RULES_PATH, 'utf8')))
  await writeFile(
    configPath,
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [rulesPath],
      scrape_configs: [{ job_name: 'guias', static_configs: [scrapeTarget] }],
    }),
  )
  return configPath
}

/**
 * Starts a Prometheus that scrapes the process on one port, with the repository's rules shortened.
 * @param port free port for Prometheus itself
 */
export async function abrirPrometheus(metricsPort: number, port: number): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'))
  const prometheusProcess = spawn(
    'prometheus',
    [
      `--config.file=${await writeConfig(folder, metricsPort)}`,
      `--storage.tsdb.path=${join(folder, 'datos')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  )
  const exited = new Promise((resolve) => prometheusProcess.once('exit', resolve))
  const queryApi = async <T>(path: string, datos: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(datos)}`)
    const { status, error, data } = (await response.json()) as Respuesta<T>
    if (status !== 'success') throw new Error(`${datos.query}: ${error}`)
    return data
  }
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (prometheusProcess.exitCode === null && !(await isReady())) await sleep(50)
  return {
    async firingAlerts() {
      const { alerts } = await queryApi<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts')
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
    },
    series: async (query) => (await queryApi<{ result: unknown[] }>('query', { query })).result.length,
    async close() {
      prometheusProcess.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
