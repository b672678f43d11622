import { PUMP_LIFE_SECONDS } from '../../../server/domain/webhooks/pumps.ts'
import { EXCHANGE_TIMEOUT } from '../../../server/domain/webhooks/sender.ts'
import { azarDe } from '../../azar.ts'
import { Bomba, type Comportamiento, type Costos, type EntregaSimulada, type Punto } from './pump.ts'
import { Maquina, Tiempo } from './virtualTime.ts'

/** Connections to PostgreSQL of one sending process. */
const CONEXIONES = 4

/** Parameters of a simulation. Instants and durations are in milliseconds. */
export interface Caso {
  semilla: number
  /** Cores of the one machine that holds everything. */
  nucleos: number
  procesos: number
  endpoints: number
  comercios: number
  costos: Costos
  responder: (endpoint: number) => Comportamiento
  /** Deliveries of each guide, in sequence. Default: 6. */
  eventos?: number
  /** Deliveries that are due at the start. Default: 0. */
  enCola?: number
  /** Average of deliveries per second that become due at random times during the simulation, until `durante`. */
  porSegundo?: number
  durante?: number
  /** Processes to kill, and the instants. */
  muertes?: readonly { proceso: number; en: number }[]
}

/** Result of a simulation. */
export interface InformeDeSimulacion {
  /** Distinct deliveries received per second, from the first arrival to the last. */
  porSegundo: number
  entregadas: number
  /** Deliveries that have neither succeeded nor failed for good at the end. */
  perdidas: number
  /** Deliveries received more than once. */
  repetidas: number
  /** Deliveries received after a later event of the same guide, by a receiver that never failed. */
  desordenadas: number
  /** Longest wait of a delivery of each endpoint, by endpoint. */
  esperas: readonly number[]
}

/** Runs a simulation to its end. The same seed gives the same report. */
export function simular(caso: Caso): InformeDeSimulacion {
  const tiempo = new Tiempo()
  const azar = azarDe(caso.semilla)
  const maquina = new Maquina(tiempo, caso.nucleos)
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
    const conexiones = Array.from({ length: CONEXIONES }, () => maquina.hilo())
    const postgres = () => conexiones.reduce((mejor, otra) => (otra.espera < mejor.espera ? otra : mejor))
    return { tiempo, azar, costos: caso.costos, postgres, receptor: maquina.hilo(), alRecibir }
  }
  const bombas = Array.from({ length: caso.procesos }, () => new Bomba(mundoDe(), maquina))
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
      bombas[proceso] = new Bomba(mundoDe(), maquina)
      tiempo.tras(PUMP_LIFE_SECONDS * 1_000, () => {
        for (const [i, punto] of huerfanos.entries()) bombas[i % bombas.length]!.tomar(punto)
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
    porSegundo: ((recibidas.length - 1) * 1_000) / (ultima - primera),
    entregadas: todas.filter(({ terminada }) => terminada === 'entregada').length,
    perdidas: todas.filter(({ terminada }) => terminada === undefined).length,
    repetidas: todas.filter(({ veces }) => veces > 1).length,
    desordenadas,
    esperas: porPunto,
  }
}

/** Receiver that answers after `ms` milliseconds, always with success. */
export const tras =
  (ms: number): Comportamiento =>
  () => ({ ms, buena: true })

/** Receiver that reads requests and never answers. */
export const cuelga: Comportamiento = () => ({ ms: EXCHANGE_TIMEOUT, buena: false })
