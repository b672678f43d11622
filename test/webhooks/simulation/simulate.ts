import { PUMP_LIFE_SECONDS } from '../../../server/domain/webhooks/pumps.ts'
import { EXCHANGE_TIMEOUT } from '../../../server/domain/webhooks/sender.ts'
import { createRandom } from '../../azar.ts'
import { Bomba, type Comportamiento, type Costos, type EntregaSimulada, type Punto } from './pump.ts'
import { Maquina, Tiempo } from './virtualTime.ts'

/** Connections to PostgreSQL of one sending process. */
const CONEXIONES = 4

/** Parameters of a simulation. Instants and durations are in milliseconds. */
export interface Caso {
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
  durante?: number
  /** Processes to kill, and the instants. */
  muertes?: readonly { proceso: number; en: number }[]
}

/** Result of a simulation. */
export interface InformeDeSimulacion {
  /** Distinct deliveries received per second, from the first arrival to the last. */
  perSecond: number
  entregadas: number
  /** Deliveries that have neither succeeded nor failed for good at the end. */
  perdidas: number
  /** Deliveries received more than once. */
  repetidas: number
  /** Deliveries received after a later event of the same guide, by a receiver that never failed. */
  desordenadas: number
  /** Longest wait of a delivery of each endpoint, by endpoint. */
  delays: readonly number[]
}

/** Runs a simulation to its end. The same seed gives the same report. */
export function simular(caso: Caso): InformeDeSimulacion {
  const tiempo = new Tiempo()
  const azar = createRandom(caso.semilla)
  const maquina = new Maquina(tiempo, caso.nucleos)
  const puntos: Punto[] = Array.from({ length: caso.endpoints }, (_, i) => ({
    comercio: `com_${i % caso.comercios}`,
    host: `tienda-${i}`,
    responder: caso.responder(i),
    due: [],
    fallas: 0,
    frenadoHasta: 0,
    haFallado: false,
  }))
  const { eventos = 6 } = caso
  const todas: EntregaSimulada[] = []
  const delPunto = new Map<EntregaSimulada, number>()
  const deLaGuia = new Map<string, number>()
  let desordenadas = 0
  const alRecibir = ({ guia_id, secuencia, times: veces }: EntregaSimulada, { haFallado }: Punto) => {
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
      times: 0,
    }
    todas.push(entrega)
    delPunto.set(entrega, i)
    puntos[i]!.due.push(entrega)
    return puntos[i]!
  }
  for (let n = 0; n < (caso.enCola ?? 0); n++) nueva(n % caso.endpoints)

  const mundoDe = () => {
    const conexiones = Array.from({ length: CONEXIONES }, () => maquina.thread())
    const postgres = () => conexiones.reduce((mejor, otra) => (otra.delay < mejor.delay ? otra : mejor))
    return { tiempo, random: azar, costs: caso.costs, postgres, receptor: maquina.thread(), alRecibir }
  }
  const bombas = Array.from({ length: caso.processes }, () => new Bomba(mundoDe(), maquina))
  for (const [i, punto] of puntos.entries()) bombas[i % bombas.length]!.take(punto)

  const llegar = () => {
    nueva(todas.length % caso.endpoints).duena?.mirar(puntos[(todas.length - 1) % caso.endpoints]!)
    programar()
  }
  const programar = () => {
    const espera = (-Math.log(1 - azar()) * 1_000) / caso.perSecond!
    if (tiempo.ahora + espera < caso.durante!) tiempo.after(espera, llegar)
  }
  if (caso.perSecond) programar()
  for (const { proceso, en } of caso.muertes ?? [])
    tiempo.after(en, () => {
      const bomba = bombas[proceso]!
      if (!bomba.viva) return
      const huerfanos = bomba.morir()
      bombas[proceso] = new Bomba(mundoDe(), maquina)
      tiempo.after(PUMP_LIFE_SECONDS * 1_000, () => {
        for (const [i, punto] of huerfanos.entries()) bombas[i % bombas.length]!.take(punto)
      })
    })
  tiempo.correr(Number.POSITIVE_INFINITY)
  return informar(caso, { todas, delPunto, desordenadas })
}

interface Jugada {
  todas: readonly EntregaSimulada[]
  delPunto: ReadonlyMap<EntregaSimulada, number>
  desordenadas: number
}

function informar({ endpoints }: Caso, { todas, delPunto, desordenadas }: Jugada): InformeDeSimulacion {
  const recibidas = todas.filter(({ recibida }) => recibida !== undefined)
  const instantes = recibidas.map(({ recibida }) => recibida!)
  const [primera, ultima] = [
    instantes.reduce((a, b) => Math.min(a, b), Infinity),
    instantes.reduce((a, b) => Math.max(a, b), 0),
  ]
  const porPunto = new Array<number>(endpoints).fill(0)
  for (const entrega of recibidas) {
    const i = delPunto.get(entrega)!
    porPunto[i] = Math.max(porPunto[i]!, entrega.recibida! - entrega.creada)
  }
  return {
    perSecond: ((recibidas.length - 1) * 1_000) / (ultima - primera),
    entregadas: todas.filter(({ terminada }) => terminada === 'entregada').length,
    perdidas: todas.filter(({ terminada }) => terminada === undefined).length,
    repetidas: todas.filter(({ times: veces }) => veces > 1).length,
    desordenadas,
    delays: porPunto,
  }
}

/** Receiver that answers after `ms` milliseconds, always with success. */
export const tras =
  (ms: number): Comportamiento =>
  () => ({ ms, succeeded: true })

/** Receiver that reads requests and never answers. */
export const cuelga: Comportamiento = () => ({ ms: EXCHANGE_TIMEOUT, succeeded: false })
