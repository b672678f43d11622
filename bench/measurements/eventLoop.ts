import sharp from 'sharp'
import { saveOperadorWithLlave } from '../../server/domain/operadores/operador.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { buildLoteJson } from '../harness/data.ts'
import { type Bench, type BenchComercio, type BenchInstallation, findFreePort } from '../harness/environment.ts'
import { type LoadRequest, runLoad } from '../harness/load.ts'
import type { Measurement } from '../harness/report.ts'
import { interleave, summarize } from '../harness/rounds.ts'

const GUIAS = 100

/** Setup of an event loop measurement: a service with metrics, and the data for the requests. */
interface LoopScene {
  url: string
  metrics: string
  comercio: BenchComercio
  /** Path of a signed link to a hundred labels. */
  etiquetas: string
  /** Guides for the uploads. A hundred, because each guide accepts only a few pictures. */
  guias: readonly string[]
  /** API key of an operator. */
  llave: string
  /** JPEG of twelve megapixels of noise, like a photo from a phone. */
  foto: Uint8Array<ArrayBuffer>
}

async function prepareScene({ db, service, createComercios }: BenchInstallation): Promise<LoopScene> {
  const metricsPort = await findFreePort()
  const [comercio] = await createComercios(1)
  const { llave } = await saveOperadorWithLlave({ db, newId: createIdGenerator(() => new Date()) }, 'Banco')
  const { url } = await service({ METRICS_PORT: `${metricsPort}` })
  const postJson = async <T>(path: string, body: string): Promise<T> => {
    const headers = { Authorization: `Bearer ${comercio!.llave}`, 'Content-Type': 'application/json' }
    const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body })
    return (await response.json()) as T
  }
  const { resultados } = await postJson<{ resultados: { guia: string }[] }>('guias/bulk', buildLoteJson(GUIAS))
  const guias = resultados.map(({ guia }) => guia)
  const link = new URL((await postJson<{ url: string }>('etiquetas', JSON.stringify({ guias }))).url)
  const foto = await sharp({
    create: {
      width: 4_000,
      height: 3_000,
      channels: 3,
      background: '#888888',
      noise: { type: 'gaussian', mean: 128, sigma: 20 },
    },
  })
    .jpeg({ quality: 60 })
    .toBuffer()
  return {
    url,
    metrics: `http://127.0.0.1:${metricsPort}/metrics`,
    comercio: comercio!,
    etiquetas: link.pathname + link.search,
    guias,
    llave,
    foto: new Uint8Array(foto),
  }
}

/**
 * Uploads photos on two connections, so that the service decodes one while the other arrives.
 * @returns photos per second
 */
async function uploadFotos({ url, guias, llave, foto }: LoopScene, seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1_000
  let itemsPerRequest = 0
  const headers = { Authorization: `Bearer ${llave}`, 'Content-Type': 'image/jpeg' }
  const uploadUntilDeadline = async () => {
    while (performance.now() < deadline) {
      // A guide takes few: those of all cells are spread.
      const guia = guias[Math.floor(Math.random() * guias.length)]
      const destino = `${url}/operaciones/v1/guias/${guia}/archivos?tipo=foto`
      const response = await fetch(destino, { method: 'POST', headers, body: foto })
      if (response.status !== 201) throw new Error(`foto: ${response.status} ${await response.text()}`)
      await response.body?.cancel()
      itemsPerRequest++
    }
  }
  await Promise.all([uploadUntilDeadline(), uploadUntilDeadline()])
  return itemsPerRequest / seconds
}

/**
 * Reads the event loop delay that the service measured since the previous scrape (`perf_hooks.monitorEventLoopDelay`),
 * in milliseconds.
 */
async function readLoopDelays(metrics: string): Promise<{ p99: number; max: number }> {
  const text = await (await fetch(metrics)).text()
  const read = (name: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(text)?.[1]) * 1_000
  return { p99: read('p99'), max: read('max') }
}

type SceneLoad = (scene: LoopScene, seconds: number) => Promise<string>

/** Returns a load of requests on two connections, each for `uploadedCount` items. */
const onTwoConnections =
  (unit: string, itemsPerRequest: number, toRequest: (scene: LoopScene) => LoadRequest): SceneLoad =>
  async (scene, segundos) => {
    const next = () => ({ ...toRequest(scene), llave: scene.comercio.llave })
    const { perSecond } = await runLoad({ url: scene.url, connections: 2, segundos, expectedStatus: 200, next })
    return `${(perSecond * itemsPerRequest).toFixed(0)} ${unit}/s`
  }
const etiquetas = onTwoConnections('etiquetas', GUIAS, (scene) => ({ method: 'GET', path: scene.etiquetas }))
const fotos: SceneLoad = async (scene, seconds) => `${(await uploadFotos(scene, seconds)).toFixed(1)} fotos/s`
const lote = () => ({ method: 'POST', path: '/api/v1/guias/bulk', body: buildLoteJson(GUIAS) }) as const
const lotes = onTwoConnections('guías', GUIAS, lote)
const pagesLoad = onTwoConnections('páginas', 1, () => ({ method: 'GET', path: '/api/v1/guias?limite=100' }))

const AT_REST = 'en reposo'
const SCENE_LOADS: Readonly<Record<string, SceneLoad>> = {
  [AT_REST]: async (_scene, seconds) => {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
    return 'nada'
  },
  'con etiquetas de 100 en 100, 2 conexiones': etiquetas,
  'con fotos de 12 megapíxeles, 2 conexiones': fotos,
  'con lotes de 100, 2 conexiones': lotes,
  'con páginas de 100, 2 conexiones': pagesLoad,
  'con todo a la vez': async (...loadArgs) =>
    (await Promise.all([etiquetas, fotos, lotes, pagesLoad].map((sceneLoad) => sceneLoad(...loadArgs)))).join(', '),
}

const measureLoop = (bench: Bench) =>
  bench.withDatabase(async (base) => {
    const { rounds, seconds } = bench.options
    const scene = await prepareScene(base)
    // A first, unmeasured round loads modules and compiles code.
    for (const sceneLoad of Object.values(SCENE_LOADS)) await sceneLoad(scene, seconds)
    const notas = ['De cada retraso, 10 ms son lo que espera el propio reloj que lo mide.']
    const measure = (name: string, sceneLoad: SceneLoad) => async () => {
      await readLoopDelays(scene.metrics)
      const loadText = await sceneLoad(scene, seconds)
      const { p99, max } = await readLoopDelays(scene.metrics)
      notas.push(`${name}: ${loadText}; el mayor retraso, ${max.toFixed(0)} ms`)
      return p99
    }
    const values = await interleave(
      rounds,
      Object.fromEntries(Object.entries(SCENE_LOADS).map(([name, sceneLoad]) => [name, measure(name, sceneLoad)])),
    )
    const rows = Object.keys(SCENE_LOADS).map((name) => ({
      measurement: `retraso del bucle de eventos ${name}, p99`,
      unit: 'ms',
      program: summarize(values[name]!),
      reference: { name: AT_REST, series: summarize(values[AT_REST]!) },
      target: { comparison: '≤' as const, value: 20, isAbsolute: true },
    }))
    return { rows, notas }
  })

export const eventLoopMeasurements: Measurement[] = [
  { clave: 'bucle', descripcion: 'retraso del bucle de eventos con etiquetas, fotos y lotes', measure: measureLoop },
]
