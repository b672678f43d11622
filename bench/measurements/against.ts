import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildPrevious } from '../../scripts/previous/migration.ts'
import { git } from '../../scripts/previous/tag.ts'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { buildGuiaJson, buildLoteJson } from '../harness/data.ts'
import { type Bench, FLAGS, nodeArgsOf, ROOT_PATH, startProgram, variablesOf } from '../harness/environment.ts'
import { formatNumber } from '../harness/number.ts'
import { OptionsError } from '../harness/options.ts'
import { waitForIdle } from '../harness/process.ts'
import type { MeasurementResult, ReportRow } from '../harness/report.ts'
import { interleave, summarize, summarizeRatios } from '../harness/rounds.ts'
import { type Case, cpuOf, cpuSince, type Figures, measureCase, type Side } from '../harness/sides.ts'
import { type BenchReceiver, startReceiver } from '../harness/webhooks.ts'
import { GUIAS } from './batch.ts'
import { analyzeDatabase } from './create.ts'

/** Two builds are compared by their contract alone, because tables and modules of another commit may differ. */
interface Build extends Side {
  /** Key of a merchant in production, and key of a merchant with one webhook in test mode. */
  key: string
  testKey: string
  guides: readonly string[]
  receiver: BenchReceiver
  /** Starts one more process of the service on the same database. */
  start: () => ReturnType<typeof startProgram>
}

/** Batches that each build has before the first cell. */
const BATCHES = 20

const run = promisify(execFile)

async function post<T>(url: string, key: string, body: string): Promise<T> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

/** Starts the service of a tree on a database of its own, which this service migrates, and fills it with guides. */
async function openBuild(bench: Bench, root: string): Promise<Build> {
  const { folder, masterKeys, postgresPid } = bench
  const database = await bench.createDatabase()
  const env = variablesOf(database, masterKeys)
  const start = () => startProgram(process.execPath, nodeArgsOf('start', root), env, folder, { cwd: root })
  const service = await start()
  const admin = async <T>(...args: readonly string[]): Promise<T> => {
    const console = [...nodeArgsOf('admin', root), ...args, '--json']
    const { stdout } = await run(process.execPath, console, { cwd: root, env: { ...process.env, ...env } })
    return JSON.parse(stdout) as T
  }
  const merchantKey = async (mode: string) => {
    const limits = ['--ritmos', '100000,100000']
    const { comercio } = await admin<{ comercio: string }>('comercios', 'crear', '--nombre', 'Banco', ...limits)
    const created = await admin<{ llave: string }>('llaves', 'crear', '--comercio', comercio, '--modo', mode)
    return created.llave
  }
  const [key, testKey] = [await merchantKey('live'), await merchantKey('test')]
  const receiver = await startReceiver({
    program: (file) => startProgram(process.execPath, [...FLAGS, join(ROOT_PATH, 'bench', file)], {}, folder),
  })
  await post(`${service.url}/api/v1/webhooks`, testKey, JSON.stringify({ url: `${receiver.url}/r` }))
  const guides: string[] = []
  for (let n = 0; n < BATCHES; n++) {
    const batch = await post<{ resultados: { guia: string }[] }>(
      `${service.url}/api/v1/guias/bulk`,
      key,
      buildLoteJson(GUIAS),
    )
    guides.push(...batch.resultados.map(({ guia }) => guia))
  }
  await analyzeDatabase(database)
  await waitForIdle(service.pid)
  const processes = { servicio: [service.pid], PostgreSQL: [postgresPid] }
  return { service, processes, key, testKey, guides, receiver, start }
}

const create = (name: string, connections: number): Case<Build> => ({
  name,
  connections,
  status: 201,
  next: ({ key }) => ({ method: 'POST', path: '/api/v1/guias', llave: key, body: buildGuiaJson() }),
})
const read = (name: string, path: (build: Build) => string, connections = 16): Case<Build> => ({
  name,
  connections,
  status: 200,
  next: (build) => ({ method: 'GET', path: path(build), llave: build.key }),
})
const anyGuide = ({ guides }: Build) => guides[Math.floor(Math.random() * guides.length)]!

/** Cases by the key that `--solo` accepts if `--contra` is given. */
const CASES: Readonly<Record<string, Case<Build>>> = {
  crear32: create('crear, 32 conexiones', 32),
  crear1: create('crear, 1 conexión', 1),
  lote: {
    name: `crear en lotes de ${GUIAS}, 8 conexiones`,
    connections: 8,
    status: 200,
    items: GUIAS,
    next: ({ key }) => ({ method: 'POST', path: '/api/v1/guias/bulk', llave: key, body: buildLoteJson(GUIAS) }),
  },
  detalle: read('detalle', (build) => `/api/v1/guias/${anyGuide(build)}`, 32),
  paginas: read('página de 50 guías', () => '/api/v1/guias?limite=50'),
  eventos: read('página de 50 eventos', () => '/api/v1/eventos?limite=50'),
  webhooks: {
    ...create('crear con un webhook, enviado y asentado', 16),
    next: ({ testKey }) => ({ method: 'POST', path: '/api/v1/guias', llave: testKey, body: buildGuiaJson() }),
    async settle({ receiver, service }, requests) {
      await receiver.waitFor(requests, MINUTE_MS)
      await receiver.reset()
      await waitForIdle(service.pid)
    },
  },
}
const START = 'arranque'

/** Keys that `--solo` accepts if `--contra` is given. */
export const CASES_OF_COMPARISON: readonly string[] = [...Object.keys(CASES), START]

/** Starts one more process of a build, and waits until the process is idle. */
async function measureStart(build: Build): Promise<Figures> {
  const before = cpuOf({ processes: { PostgreSQL: build.processes.PostgreSQL! } })
  const started = await build.start()
  await waitForIdle(started.pid)
  const cpu = cpuSince<string>(
    { processes: { ...build.processes, servicio: [started.pid] } },
    { servicio: 0, ...before },
    1,
  )
  await started.finish()
  return { rate: 1 / started.secondsUntilReady, cpu }
}

/** Figures of one case in each round, of the other commit and of the present tree. */
export interface Compared {
  name: string
  before: readonly Figures[]
  now: readonly Figures[]
}

/** Smallest loss that counts, as a ratio: two copies of one build differed by 3 to 7 %. */
const NOISE = 1.05
/**
 * Rounds from which the report omits its warning about chance. For equal builds, chance alone gives a loss in 1 of 20
 * figures with 3 rounds, and in 1 of 252 with 5.
 */
const ROUNDS = 5

const figuresOf = ({ before, now }: Compared) => [
  { figure: 'ritmo', unit: 'por s', better: 'more', of: (one: Figures) => one.rate },
  ...Object.keys({ ...before[0]?.cpu, ...now[0]?.cpu }).map((part) => ({
    figure: `CPU: ${part}`,
    unit: 'µs',
    better: 'less',
    of: (one: Figures) => one.cpu[part] ?? Number.NaN,
  })),
]

/** Returns the rows of the report for one case. */
const rowsOf = (one: Compared): ReportRow[] =>
  figuresOf(one).map(({ figure, unit, of }) => ({
    measurement: `${one.name}, ${figure}`,
    unit,
    program: summarize(one.now.map(of)),
    reference: { name: 'antes', series: summarize(one.before.map(of)) },
    ratio: summarizeRatios(one.now.map(of), one.before.map(of)),
  }))

/**
 * Lists, in Spanish, the cases with a figure that is worse beyond noise: the ranges of the rounds do not overlap, and the
 * medians differ by more than {@link NOISE}. Each line has the CPU per operation of both sides.
 */
export function losses(compared: readonly Compared[]): string[] {
  return compared.flatMap((one) => {
    const worse = figuresOf(one).filter(({ better, of }) => {
      const [before, now] = [summarize(one.before.map(of)), summarize(one.now.map(of))]
      const [good, bad] = better === 'more' ? [now, before] : [before, now]
      return bad.min > good.max && bad.median > good.median * NOISE
    })
    if (worse.length === 0) return []
    const texts = figuresOf(one).map(({ figure, unit, of }) => {
      const [before, now] = [one.before, one.now].map((side) => formatNumber(summarize(side.map(of)).median))
      return `${figure} ${before} → ${now} ${unit}`
    })
    return [`${one.name} (${worse.map(({ figure }) => figure).join(', ')}): ${texts.join('; ')}`]
  })
}

/** Builds a commit, and compares it with the present tree in alternating rounds of the present load generator. */
export async function compareWithCommit(bench: Bench, commit: string): Promise<MeasurementResult> {
  const { rounds, seconds, selectedKeys } = bench.options
  const found = await git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`).catch(() => '')
  if (!found) throw new OptionsError(`--contra: git no conoce el commit «${commit}».`)
  const sides = {
    before: await openBuild(bench, await buildPrevious({ commit: found.trim() })),
    now: await openBuild(bench, ROOT_PATH),
  }
  const compared: Compared[] = []
  for (const key of CASES_OF_COMPARISON.filter((one) => selectedKeys.length === 0 || selectedKeys.includes(one))) {
    const one = CASES[key]
    const measure = (build: Build) => (one ? measureCase(build, one, seconds) : measureStart(build))
    const cells = { before: () => measure(sides.before), now: () => measure(sides.now) }
    await interleave(1, cells) // warms both builds up
    compared.push({ name: one?.name ?? 'arranque', ...(await interleave(rounds, cells)) })
  }
  return {
    rows: compared.flatMap(rowsOf),
    notas: [
      `antes: ${found.slice(0, 12)}; cada uno con su propia base, por turnos`,
      ...(rounds < ROUNDS ? [`con menos de ${ROUNDS} rondas, el azar basta para una pérdida`] : []),
    ],
    losses: losses(compared),
  }
}
