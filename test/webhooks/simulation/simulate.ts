import { PUMP_LIFE_SECONDS } from '../../../server/domain/webhooks/pumps.ts'
import { EXCHANGE_TIMEOUT } from '../../../server/domain/webhooks/sender.ts'
import { createRandom } from '../../random.ts'
import { Bomba, type Comportamiento, type Costos, type EntregaSimulada, type Punto } from './pump.ts'
import { Maquina, Tiempo } from './virtualTime.ts'

/** Connections to PostgreSQL of one sending process. */
const POSTGRES_CONNECTIONS = 4

/** Parameters of a simulation. Instants and durations are in milliseconds. */
export interface SimulationCase {
  semilla: number
  /** Cores of the one machine that holds everything. */
  nucleos: number
  processes: number
  endpoints: number
  comercios: number
  costs: Costos
  responder: (endpoint: number) => Comportamiento
  /** Deliveries of each guide, in sequence. Default: 6. */
  eventos?: number
  /** Deliveries that are due at the start. Default: 0. */
  enCola?: number
  /** Average of deliveries per second that become due at random times during the simulation, until `durante`. */
  perSecond?: number
  durationMs?: number
  /** Processes to kill, and the instants. */
  muertes?: readonly { proceso: number; en: number }[]
}

/** Result of a simulation. */
export interface InformeDeSimulacion {
  /** Distinct deliveries received per second, from the first arrival to the last. */
  perSecond: number
  entregadas: number
  /** Deliveries that have neither succeeded nor failed for good at the end. */
  lost: number
  /** Deliveries received more than once. */
  repetidas: number
  /** Deliveries received after a later event of the same guide, by a receiver that never failed. */
  desordenadas: number
  /** Longest wait of a delivery of each endpoint, by endpoint. */
  delays: readonly number[]
}

/** Runs a simulation to its end. The same seed gives the same report. */
export function simular(simulationCase: SimulationCase): InformeDeSimulacion {
  const tiempo = new Tiempo()
  const azar = createRandom(simulationCase.semilla)
  const maquina = new Maquina(tiempo, simulationCase.nucleos)
  const puntos: Punto[] = Array.from({ length: simulationCase.endpoints }, (_, i) => ({
    comercio: `com_${i % simulationCase.comercios}`,
    host: `tienda-${i}`,
    responder: simulationCase.responder(i),
    due: [],
    fallas: 0,
    frenadoHasta: 0,
    hasFailed: false,
  }))
  const { eventos = 6 } = simulationCase
  const todas: EntregaSimulada[] = []
  const pointOfEntrega = new Map<EntregaSimulada, number>()
  const lastSequences = new Map<string, number>()
  let desordenadas = 0
  const onReceived = ({ guia_id, secuencia, times: veces }: EntregaSimulada, { hasFailed }: Punto) => {
    const ultima = lastSequences.get(guia_id) ?? 0
    if (veces === 1 && !hasFailed && secuencia < ultima) desordenadas++
    lastSequences.set(guia_id, Math.max(ultima, secuencia))
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
      createdAt: tiempo.ahora,
      intentos: 0,
      times: 0,
    }
    todas.push(entrega)
    pointOfEntrega.set(entrega, i)
    puntos[i]!.due.push(entrega)
    return puntos[i]!
  }
  for (let n = 0; n < (simulationCase.enCola ?? 0); n++) addEntrega(n % simulationCase.endpoints)

  const mundoDe = () => {
    const connections = Array.from({ length: POSTGRES_CONNECTIONS }, () => maquina.thread())
    const postgres = () => connections.reduce((mejor, candidate) => (candidate.delay < mejor.delay ? candidate : mejor))
    return { tiempo, random: azar, costs: simulationCase.costs, postgres, receptor: maquina.thread(), onReceived }
  }
  const bombas = Array.from({ length: simulationCase.processes }, () => new Bomba(mundoDe(), maquina))
  for (const [i, punto] of puntos.entries()) bombas[i % bombas.length]!.take(punto)

  const addArrival = () => {
    addEntrega(todas.length % simulationCase.endpoints).duena?.mirar(
      puntos[(todas.length - 1) % simulationCase.endpoints]!,
    )
    programar()
  }
  const programar = () => {
    const espera = (-Math.log(1 - azar()) * 1_000) / simulationCase.perSecond!
    if (tiempo.ahora + espera < simulationCase.durationMs!) tiempo.after(espera, addArrival)
  }
  if (simulationCase.perSecond) programar()
  for (const { proceso, en } of simulationCase.muertes ?? [])
    tiempo.after(en, () => {
      const bomba = bombas[proceso]!
      if (!bomba.isAlive) return
      const huerfanos = bomba.die()
      bombas[proceso] = new Bomba(mundoDe(), maquina)
      tiempo.after(PUMP_LIFE_SECONDS * 1_000, () => {
        for (const [i, punto] of huerfanos.entries()) bombas[i % bombas.length]!.take(punto)
      })
    })
  tiempo.correr(Number.POSITIVE_INFINITY)
  return informar(simulationCase, { todas, pointOfEntrega, desordenadas })
}

interface Jugada {
  todas: readonly EntregaSimulada[]
  pointOfEntrega: ReadonlyMap<EntregaSimulada, number>
  desordenadas: number
}

function informar({ endpoints }: SimulationCase, { todas, pointOfEntrega, desordenadas }: Jugada): InformeDeSimulacion {
  const receivedEntregas = todas.filter(({ receivedAt }) => receivedAt !== undefined)
  const instantes = receivedEntregas.map(({ receivedAt }) => receivedAt!)
  const [primera, ultima] = [
    instantes.reduce((a, b) => Math.min(a, b), Infinity),
    instantes.reduce((a, b) => Math.max(a, b), 0),
  ]
  const porPunto = new Array<number>(endpoints).fill(0)
  for (const entrega of receivedEntregas) {
    const i = pointOfEntrega.get(entrega)!
    porPunto[i] = Math.max(porPunto[i]!, entrega.receivedAt! - entrega.createdAt)
  }
  return {
    perSecond: ((receivedEntregas.length - 1) * 1_000) / (ultima - primera),
    entregadas: todas.filter(({ terminada }) => terminada === 'entregada').length,
    lost: todas.filter(({ terminada }) => terminada === undefined).length,
    repetidas: todas.filter(({ times: veces }) => veces > 1).length,
    desordenadas,
    delays: porPunto,
  }
}

/** Receiver that answers after `ms` milliseconds, always with success. */
export const answerAfter =
  (ms: number): Comportamiento =>
  () => ({ ms, succeeded: true })

/** Receiver that reads requests and never answers. */
export const cuelga: Comportamiento = () => ({ ms: EXCHANGE_TIMEOUT, succeeded: false })
