import { PUMP_LIFE_SECONDS } from '../../../../server/domain/webhooks/sending/leases.ts'
import { EXCHANGE_TIMEOUT_MS } from '../../../../server/domain/webhooks/sending/sender.ts'
import { createRandom } from '../../../random.ts'
import { Bomba, type EntregaSimulada, type ProcessCosts, type Punto, type ReceiverModel } from './pump.ts'
import { Machine, Tiempo } from './virtualTime.ts'

/** Connections to PostgreSQL of one sending process. */
const POSTGRES_CONNECTIONS = 4

/** Parameters of a simulation. Instants and durations are in milliseconds. */
export interface SimulationCase {
  seed: number
  /** Cores of the one machine that holds everything. */
  cores: number
  processes: number
  endpoints: number
  comercios: number
  costs: ProcessCosts
  responder: (endpoint: number) => ReceiverModel
  /** Deliveries of each guide, in sequence. Default: 6. */
  eventos?: number
  /** Deliveries that are due at the start. Default: 0. */
  backlog?: number
  /** Average of deliveries per second that become due at random times during the simulation, until `durationMs`. */
  perSecond?: number
  durationMs?: number
  /** Processes to kill, and the instants. */
  deaths?: readonly { processIndex: number; en: number }[]
}

/** Result of a simulation. */
export interface SimulationReport {
  /** Distinct deliveries received per second, from the first arrival to the last. */
  perSecond: number
  deliveredCount: number
  /** Deliveries that have neither succeeded nor failed for good at the end. */
  lost: number
  /** Deliveries received more than once. */
  repetidas: number
  /** Deliveries received after a later event of the same guide, by a receiver that never failed. */
  disorderedCount: number
  /** Longest wait of a delivery of each endpoint, by endpoint. */
  delays: readonly number[]
}

/** Runs a simulation to its end. The same seed gives the same report. */
export function simular(simulationCase: SimulationCase): SimulationReport {
  const tiempo = new Tiempo()
  const random = createRandom(simulationCase.seed)
  const machine = new Machine(tiempo, simulationCase.cores)
  const puntos: Punto[] = Array.from({ length: simulationCase.endpoints }, (_, i) => ({
    comercio: `com_${i % simulationCase.comercios}`,
    host: `tienda-${i}`,
    responder: simulationCase.responder(i),
    due: [],
    fallas: 0,
    brakedUntil: 0,
    hasFailed: false,
  }))
  const { eventos = 6 } = simulationCase
  const todas: EntregaSimulada[] = []
  const pointOfEntrega = new Map<EntregaSimulada, number>()
  const lastSequences = new Map<string, number>()
  let disorderedCount = 0
  const onReceived = ({ guia_id, secuencia, times }: EntregaSimulada, { hasFailed }: Punto) => {
    const last = lastSequences.get(guia_id) ?? 0
    if (times === 1 && !hasFailed && secuencia < last) disorderedCount++
    lastSequences.set(guia_id, Math.max(last, secuencia))
  }
  const addEntrega = (i: number): Punto => {
    const n = todas.length
    const guia = Math.floor(n / (eventos * simulationCase.endpoints)) * simulationCase.endpoints + i
    const secuencia = 1 + (Math.floor(n / simulationCase.endpoints) % eventos)
    const entrega = {
      evento: `evt_${n}`,
      guia_id: `${guia}`,
      secuencia,
      desde: 0,
      createdAt: tiempo.now,
      intentos: 0,
      times: 0,
    }
    todas.push(entrega)
    pointOfEntrega.set(entrega, i)
    puntos[i]!.due.push(entrega)
    return puntos[i]!
  }
  for (let n = 0; n < (simulationCase.backlog ?? 0); n++) addEntrega(n % simulationCase.endpoints)

  const createWorld = () => {
    const connections = Array.from({ length: POSTGRES_CONNECTIONS }, () => machine.thread())
    const postgres = () => connections.reduce((best, candidate) => (candidate.delay < best.delay ? candidate : best))
    return { tiempo, random, costs: simulationCase.costs, postgres, receptor: machine.thread(), onReceived }
  }
  const pumps = Array.from({ length: simulationCase.processes }, () => new Bomba(createWorld(), machine))
  for (const [i, point] of puntos.entries()) pumps[i % pumps.length]!.take(point)

  const addArrival = () => {
    addEntrega(todas.length % simulationCase.endpoints).owner?.notifyDue(
      puntos[(todas.length - 1) % simulationCase.endpoints]!,
    )
    scheduleArrival()
  }
  const scheduleArrival = () => {
    const wait = (-Math.log(1 - random()) * 1_000) / simulationCase.perSecond!
    if (tiempo.now + wait < simulationCase.durationMs!) tiempo.after(wait, addArrival)
  }
  if (simulationCase.perSecond) scheduleArrival()
  for (const { processIndex, en } of simulationCase.deaths ?? [])
    tiempo.after(en, () => {
      const bomba = pumps[processIndex]!
      if (!bomba.isAlive) return
      const orphans = bomba.die()
      pumps[processIndex] = new Bomba(createWorld(), machine)
      tiempo.after(PUMP_LIFE_SECONDS * 1_000, () => {
        for (const [i, point] of orphans.entries()) pumps[i % pumps.length]!.take(point)
      })
    })
  tiempo.run(Number.POSITIVE_INFINITY)
  return buildReport(simulationCase, { todas, pointOfEntrega, disorderedCount })
}

interface SimulationRun {
  todas: readonly EntregaSimulada[]
  pointOfEntrega: ReadonlyMap<EntregaSimulada, number>
  disorderedCount: number
}

function buildReport(
  { endpoints }: SimulationCase,
  { todas, pointOfEntrega, disorderedCount }: SimulationRun,
): SimulationReport {
  const receivedEntregas = todas.filter(({ receivedAt }) => receivedAt !== undefined)
  const instants = receivedEntregas.map(({ receivedAt }) => receivedAt!)
  const [first, last] = [
    instants.reduce((a, b) => Math.min(a, b), Infinity),
    instants.reduce((a, b) => Math.max(a, b), 0),
  ]
  const byPoint = new Array<number>(endpoints).fill(0)
  for (const entrega of receivedEntregas) {
    const i = pointOfEntrega.get(entrega)!
    byPoint[i] = Math.max(byPoint[i]!, entrega.receivedAt! - entrega.createdAt)
  }
  return {
    perSecond: ((receivedEntregas.length - 1) * 1_000) / (last - first),
    deliveredCount: todas.filter(({ outcome }) => outcome === 'entregada').length,
    lost: todas.filter(({ outcome }) => outcome === undefined).length,
    repetidas: todas.filter(({ times }) => times > 1).length,
    disorderedCount,
    delays: byPoint,
  }
}

/** Receiver that answers after `ms` milliseconds, always with success. */
export const answerAfter =
  (ms: number): ReceiverModel =>
  () => ({ ms, succeeded: true })

/** Receiver that reads requests and never answers. */
export const neverAnswer: ReceiverModel = () => ({ ms: EXCHANGE_TIMEOUT_MS, succeeded: false })
