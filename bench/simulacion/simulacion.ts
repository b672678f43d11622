import { PUMP_LIFE_SECONDS } from '../../server/domain/webhooks/pumps.ts'
import { EXCHANGE_TIMEOUT } from '../../server/domain/webhooks/sender.ts'
import { azarDe } from '../../test/azar.ts'
import { Bomba, type Comportamiento, type Costos, type EntregaSimulada, type Punto } from './bomba.ts'
import { Maquina, Tiempo } from './tiempo.ts'

/** Connections to PostgreSQL of one sending process. */
const CONEXIONES = 4

/** Parameters of a simulation. Instants and durations are in milliseconds. */
export interface Caso {
  semilla: number
  /** Cores of the one machine that holds everything; with `aparte`, cores of the machine of each process. */
  nucleos: number
  /**
   * Gives each process and PostgreSQL a machine of its own; `postgres` is the number of cores of PostgreSQL's machine.
   */
  aparte?: { postgres: number }
  procesos: number
  endpoints: number
  comercios: number
  costos: Costos
  responder: (endpoint: number) => Comportamiento
  /** Selects the endpoints whose waits count for the percentiles. Default: all. */
  cuenta?: (endpoint: number) => boolean
  /** Deliveries of each guide, in sequence. Default: 6. */
  eventos?: number
  /** Deliveries that are due at the start. Default: 0. */
  enCola?: number
  /** Average of deliveries per second that become due at random times during the simulation, until `durante`. */
  porSegundo?: number
  durante?: number
  /** Instant at which the simulation ends. Default: when no work is left. */
  hasta?: number
  /** Processes to kill, and the instants. */
  muertes?: readonly { proceso: number; en: number }[]
}

/** Result of a simulation. `p50` and `p99` are waits from creation to first arrival, in milliseconds. */
export interface InformeDeSimulacion {
  /** Distinct deliveries received per second, from the first arrival to the last. */
  porSegundo: number
  p50: number
  p99: number
  entregadas: number
  fallidas: number
  /** Deliveries that have neither succeeded nor failed for good at the end. */
  perdidas: number
  /** Deliveries received more than once. */
  repetidas: number
  /** Deliveries received after a later event of the same guide, by a receiver that never failed. */
  desordenadas: number
  /** Used share, 0 to 1, of the cores of PostgreSQL's machine, or of the one machine. */
  ocupacion: number
  /** Longest wait of a delivery of each endpoint, by endpoint. */
  esperas: readonly number[]
}

/** Runs a simulation to its end. The same seed gives the same report. */
export function simular(caso: Caso): InformeDeSimulacion {
  const tiempo = new Tiempo()
  const azar = azarDe(caso.semilla)
  const comun = new Maquina(tiempo, caso.aparte?.postgres ?? caso.nucleos)
  const propia = () => (caso.aparte ? new Maquina(tiempo, caso.nucleos) : comun)
  const puntos: Punto[] = Array.from({ length: caso.endpoints }, (_, i) => ({
    comercio: `com_${i % caso.comercios}`,
    anfitrion: `tienda-${i}`,
    responder: caso.responder(i),
    vencidas: [],
    fallas: 0,
    frenadoHasta: 0,
    haFallado: false,
  }))
  const { eventos = 6 } = caso
  const todas: EntregaSimulada[] = []
  const delPunto = new Map<EntregaSimulada, number>()
  const deLaGuia = new Map<string, number>()
  let desordenadas = 0
  const alRecibir = ({ guia_id, secuencia, veces }: EntregaSimulada, { haFallado }: Punto) => {
    const ultima = deLaGuia.get(guia_id) ?? 0
    if (veces === 1 && !haFallado && secuencia < ultima) desordenadas++
    deLaGuia.set(guia_id, Math.max(ultima, secuencia))
  }
  const nueva = (i: number): Punto => {
    const n = todas.length
    const guia = Math.floor(n / (eventos * caso.endpoints)) * caso.endpoints + i
    const secuencia = 1 + (Math.floor(n / caso.endpoints) % eventos)
    const entrega = {
      evento: `evt_${n}`,
      guia_id: `${guia}`,
      secuencia,
      desde: 0,
      creada: tiempo.ahora,
      intentos: 0,
      veces: 0,
    }
    todas.push(entrega)
    delPunto.set(entrega, i)
    puntos[i]!.vencidas.push(entrega)
    return puntos[i]!
  }
  for (let n = 0; n < (caso.enCola ?? 0); n++) nueva(n % caso.endpoints)

  const mundoDe = () => {
    const conexiones = Array.from({ length: CONEXIONES }, () => comun.hilo())
    const postgres = () => conexiones.reduce((mejor, otra) => (otra.espera < mejor.espera ? otra : mejor))
    return { tiempo, azar, costos: caso.costos, postgres, receptor: receptores.hilo(), alRecibir }
  }
  // With separate machines the receivers use no core of PostgreSQL's machine. On one machine they share its cores, as
  // in the bench.
  const receptores = caso.aparte ? new Maquina(tiempo, caso.procesos) : comun
  const bombas = Array.from({ length: caso.procesos }, () => new Bomba(mundoDe(), propia()))
  for (const [i, punto] of puntos.entries()) bombas[i % bombas.length]!.tomar(punto)

  const llegar = () => {
    nueva(todas.length % caso.endpoints).duena?.mirar(puntos[(todas.length - 1) % caso.endpoints]!)
    programar()
  }
  const programar = () => {
    const espera = (-Math.log(1 - azar()) * 1_000) / caso.porSegundo!
    if (tiempo.ahora + espera < caso.durante!) tiempo.tras(espera, llegar)
  }
  if (caso.porSegundo) programar()
  for (const { proceso, en } of caso.muertes ?? [])
    tiempo.tras(en, () => {
      const bomba = bombas[proceso]!
      if (!bomba.viva) return
      const huerfanos = bomba.morir()
      bombas[proceso] = new Bomba(mundoDe(), propia())
      tiempo.tras(PUMP_LIFE_SECONDS * 1_000, () => {
        for (const [i, punto] of huerfanos.entries()) bombas[i % bombas.length]!.tomar(punto)
      })
    })
  tiempo.correr(caso.hasta ?? Number.POSITIVE_INFINITY)
  return informar(caso, { todas, delPunto, desordenadas, usado: comun.usado / (caso.aparte?.postgres ?? caso.nucleos) })
}

interface Jugada {
  todas: readonly EntregaSimulada[]
  delPunto: ReadonlyMap<EntregaSimulada, number>
  desordenadas: number
  usado: number
}

function informar(
  { endpoints, cuenta = () => true }: Caso,
  { todas, delPunto, desordenadas, usado }: Jugada,
): InformeDeSimulacion {
  const recibidas = todas.filter(({ recibida }) => recibida !== undefined)
  const instantes = recibidas.map(({ recibida }) => recibida!)
  const [primera, ultima] = [
    instantes.reduce((a, b) => Math.min(a, b), Infinity),
    instantes.reduce((a, b) => Math.max(a, b), 0),
  ]
  const esperas = recibidas
    .filter((entrega) => cuenta(delPunto.get(entrega)!))
    .map(({ creada, recibida }) => recibida! - creada)
    .sort((a, b) => a - b)
  const percentil = (p: number) => esperas[Math.min(esperas.length - 1, Math.floor(p * esperas.length))] ?? Number.NaN
  const porPunto = new Array<number>(endpoints).fill(0)
  for (const entrega of recibidas) {
    const i = delPunto.get(entrega)!
    porPunto[i] = Math.max(porPunto[i]!, entrega.recibida! - entrega.creada)
  }
  const cuantas = (fin: EntregaSimulada['terminada']) => todas.filter(({ terminada }) => terminada === fin).length
  return {
    porSegundo: ((recibidas.length - 1) * 1_000) / (ultima - primera),
    p50: percentil(0.5),
    p99: percentil(0.99),
    entregadas: cuantas('entregada'),
    fallidas: cuantas('fallida'),
    perdidas: cuantas(undefined),
    repetidas: todas.filter(({ veces }) => veces > 1).length,
    desordenadas,
    ocupacion: usado / (ultima - Math.min(primera, 0)),
    esperas: porPunto,
  }
}

/** Receiver that answers after `ms` milliseconds, always with success. */
export const tras =
  (ms: number): Comportamiento =>
  () => ({ ms, buena: true })

/**
 * Receiver that answers after `ms` milliseconds on average, at whole milliseconds as Node's timers do, so that some
 * answers coincide.
 */
export const enPunto =
  (ms: number): Comportamiento =>
  (_azar, ahora) => ({ ms: Math.ceil(ahora + ms - 0.5) - ahora, buena: true })

/** Receiver that reads requests and never answers. */
export const cuelga: Comportamiento = () => ({ ms: EXCHANGE_TIMEOUT, buena: false })
