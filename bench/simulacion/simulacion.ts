import { VIGENCIA_S } from '../../server/webhooks/bombas.ts'
import { PLAZO_DE_INTERCAMBIO } from '../../server/webhooks/envio.ts'
import { Bomba, type Costos, type Entrega, type Punto, type Respuesta } from './bomba.ts'
import { azarDe, Maquina, Tiempo } from './tiempo.ts'

/** PostgreSQL's connections of one process that sends. */
const CONEXIONES = 4

/** What is simulated; instants and times in milliseconds. */
export interface Caso {
  semilla: number
  /** Cores of the one machine that holds everything; with `aparte`, of each process's own, and of PostgreSQL's. */
  nucleos: number
  /** Whether processes and PostgreSQL have machines of their own. */
  aparte?: { postgres: number }
  procesos: number
  endpoints: number
  comercios: number
  costos: Costos
  responder: (endpoint: number) => Respuesta
  /** Whose waits are told; all endpoints', if it isn't said. */
  cuenta?: (endpoint: number) => boolean
  /** Deliveries of each guide, one after the other. */
  eventos?: number
  /** Deliveries that wait at the beginning. */
  enCola?: number
  /** Deliveries that become due meanwhile, by chance, and for how long. */
  porSegundo?: number
  durante?: number
  /** When it is over; if it isn't said, when nothing is left to do. */
  hasta?: number
  /** Which process is killed when. */
  muertes?: readonly { proceso: number; en: number }[]
}

export interface Informe {
  /** Distinct deliveries taken in a second, from the first to the last. */
  porSegundo: number
  p50: number
  p99: number
  entregadas: number
  fallidas: number
  /** Neither taken nor given up. */
  perdidas: number
  /** Taken more than once. */
  repetidas: number
  /** Taken after a later event of the same guide, by a receiver that never failed. */
  desordenadas: number
  /** The share of PostgreSQL's cores, or of the machine's, that was used. */
  ocupacion: number
  /** By endpoint: the longest that one of it waited. */
  esperas: readonly number[]
}

/** Plays a case to its end: the same seed gives the same report. */
export function simular(caso: Caso): Informe {
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
  const todas: Entrega[] = []
  const delPunto = new Map<Entrega, number>()
  const deLaGuia = new Map<string, number>()
  let desordenadas = 0
  const alRecibir = ({ guia_id, secuencia, veces }: Entrega, { haFallado }: Punto) => {
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
  // Receivers are elsewhere, unless everything is on one machine: then one process answers for all, as the bench's does.
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
      tiempo.tras(VIGENCIA_S * 1_000, () => {
        for (const [i, punto] of huerfanos.entries()) bombas[i % bombas.length]!.tomar(punto)
      })
    })
  tiempo.correr(caso.hasta ?? Number.POSITIVE_INFINITY)
  return informar(caso, { todas, delPunto, desordenadas, usado: comun.usado / (caso.aparte?.postgres ?? caso.nucleos) })
}

interface Jugada {
  todas: readonly Entrega[]
  delPunto: ReadonlyMap<Entrega, number>
  desordenadas: number
  usado: number
}

function informar({ endpoints, cuenta = () => true }: Caso, { todas, delPunto, desordenadas, usado }: Jugada): Informe {
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
  const cuantas = (fin: Entrega['terminada']) => todas.filter(({ terminada }) => terminada === fin).length
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

/** Answers after so many milliseconds, always well. */
export const tras =
  (ms: number): Respuesta =>
  () => ({ ms, buena: true })

/** Answers after so many milliseconds on average, as Node's timers do: at whole ones, so that some answer together. */
export const enPunto =
  (ms: number): Respuesta =>
  (_azar, ahora) => ({ ms: Math.ceil(ahora + ms - 0.5) - ahora, buena: true })

/** Takes everything and never answers. */
export const cuelga: Respuesta = () => ({ ms: PLAZO_DE_INTERCAMBIO, buena: false })
