// A seeded burst of requests about one guide after another, through several processes of the service.

import { Pool } from 'undici'
import { tokenDe } from '../../server/domain/ubicacion/ubicacion.ts'
import { conClave, type TestEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { createRandom } from '../random.ts'
import { SECRETOS } from '../ubicacion/requests.ts'
import { CON_ROSA, OTHER_DAY_CHOICE, REFUSAL_CHOICE } from './questions.ts'

/** Fields that the burst corrects. Each request has values of its own, so that an event names its request. */
export interface BurstFields {
  telefono?: string
  direccion?: string
}

/** Request of the burst: its kind, and the process that gets it. */
type Acto = { proceso: number } & (
  | {
      kind: 'correccion' | 'reintento'
      campos: BurstFields
      /** Sequence that the guide must have, counted from the last one seen; undefined: any. */
      desfase?: number | undefined
    }
  | { kind: 'lectura'; estado: string; clave?: string | undefined }
  | { kind: 'lugar' }
  | { kind: 'devolucion'; razon: string }
  | { kind: 'destinatario'; respuesta: Record<string, string> }
)

/** Request that was answered. */
export type AnsweredRequest = Acto & {
  /** True if the request required a sequence. */
  condicionada: boolean
  status: number
  /** Problem code of a refusal. */
  codigo: string | null
  /** The guide's sequence and state in the answer, and the id of a scan's event. */
  secuencia: number
  estado: string
  evento: string
}

/** Deciders of a guide's first failed attempt: all at once, the policy alone, or none. */
type Destino = 'todos' | 'politica' | 'nadie'

/** Guide of the burst, with everything that was asked about it. */
export interface BurstCase {
  guia: string
  modo: 'test' | 'live'
  destino: Destino
  /** True if its creation confirmed the location. */
  hasPlace: boolean
  createdFields: Required<BurstFields>
  deliveries: AnsweredRequest[]
  /** Sequences of the guide at which its deadline was moved to the past. */
  deadlines: number[]
}

/** Methods and paths of the merchant's requests, below the guide's own path. */
const METODO_Y_RUTA = {
  correccion: ['PATCH', ''],
  reintento: ['POST', '/reintentar'],
  devolucion: ['POST', '/devolver'],
  lugar: ['POST', '/ubicacion'],
} as const
const AHI = { lat: 14.71889, lng: -90.64417 }
/** Guides in one request of the creation. */
const POR_LOTE = 100
/** Guides in the burst at the same time. */
const CASES_AT_ONCE = 24

interface Opciones {
  entorno: TestEnvironment
  /** Addresses of the processes. */
  urls: readonly string[]
  llaves: Record<BurstCase['modo'], string>
  semilla: number
}

/**
 * Opens connections to the processes; returns what creates guides, and what fires the burst at them. One function, because
 * its parts share the connections and the seed.
 */
export function prepareBurst({ entorno, urls, llaves, semilla }: Opciones) {
  const procesos = urls.map((url) => new Pool(url, { connections: 40, pipelining: 1 }))

  async function pedir(
    proceso: number,
    method: 'POST' | 'PATCH',
    path: string,
    llave: string | null,
    cuerpo: object,
    clave?: string,
  ) {
    const deFormulario = llave === null
    const { statusCode, body } = await procesos[proceso]!.request({
      path,
      method,
      headers: {
        'content-type': deFormulario ? 'application/x-www-form-urlencoded' : 'application/json',
        ...(deFormulario ? {} : { authorization: `Bearer ${llave}` }),
        ...conClave(clave),
      },
      body: deFormulario ? new URLSearchParams(cuerpo as Record<string, string>).toString() : JSON.stringify(cuerpo),
    })
    const texto = await body.text()
    // biome-ignore lint/suspicious/noExplicitAny: the raw answer of a raw request
    return { status: statusCode, json: (texto.startsWith('{') ? JSON.parse(texto) : {}) as any }
  }

  /** Creates guides in groups, each group in another process. Half of the guides name no place. */
  async function crear(guiaCount: number, modo: BurstCase['modo'], primera: number): Promise<BurstCase[]> {
    const lotes = Array.from({ length: Math.ceil(guiaCount / POR_LOTE) }, async (_, lote) => {
      const desde = lote * POR_LOTE
      const newCases = Array.from({ length: Math.min(POR_LOTE, guiaCount - desde) }, (_, i) =>
        nuevo(primera + desde + i, createRandom(semilla + primera + desde + i)),
      )
      const guias = newCases.map(({ hasPlace: conLugar, createdFields }) =>
        (conLugar ? buildGuia : buildGuiaWithoutDestino)(createdFields),
      )
      const { status, json } = await pedir(lote % urls.length, 'POST', '/api/v1/guias/bulk', llaves[modo], { guias })
      if (status !== 200 || !json.ok) throw new Error(`${status} ${JSON.stringify(json).slice(0, 500)}`)
      return newCases.map(
        (newCase, i): BurstCase => ({ ...newCase, guia: json.resultados[i].guia, modo, deliveries: [], deadlines: [] }),
      )
    })
    return (await Promise.all(lotes)).flat()
  }

  /** Sends a request, and writes down its answer. */
  async function hacer(burstCase: BurstCase, acto: Acto, lastSequence: number): Promise<AnsweredRequest> {
    const { guia, modo } = burstCase
    const enviar = async () => {
      switch (acto.kind) {
        case 'lectura': {
          const { estado, clave } = acto
          const ruta = `/operaciones/v1/guias/${guia}/eventos`
          return pedir(acto.proceso, 'POST', ruta, entorno.llaveDeOperacion, buildEstadoReport(estado), clave)
        }
        case 'destinatario': {
          const enlace = await enlaceDe(guia)
          return enlace ? pedir(acto.proceso, 'POST', enlace, null, acto.respuesta) : { status: 404, json: {} }
        }
        default: {
          const [metodo, ruta] = METODO_Y_RUTA[acto.kind]
          const cuerpo = cuerpoDe(acto, lastSequence)
          return pedir(acto.proceso, metodo, `/api/v1/guias/${guia}${ruta}`, llaves[modo], cuerpo)
        }
      }
    }
    const { status, json } = await enviar()
    const answeredRequest: AnsweredRequest = {
      ...acto,
      condicionada: 'desfase' in acto && acto.desfase !== undefined,
      status,
      codigo: json.codigo ?? null,
      secuencia: json.secuencia ?? 0,
      estado: json.estado ?? '',
      evento: json.id ?? '',
    }
    burstCase.deliveries.push(answeredRequest)
    return answeredRequest
  }

  /** Returns the path of the recipient's newest link; undefined if its message was dropped, or there is none. */
  async function enlaceDe(guia: string): Promise<string | undefined> {
    const mensaje = await hasta(async () => {
      const { rows } = await entorno.db.pool.query<{ id: string; kid: string | null; estado: string }>(
        `select id, kid, estado from mensaje where guia = $1 and tipo = 'solicitud_decision' order by numero desc limit 1`,
        [guia],
      )
      return rows[0]?.estado === 'pendiente' ? undefined : (rows[0] ?? { id: '', kid: null, estado: 'descartado' })
    })
    return mensaje.estado === 'descartado' ? undefined : `/d/${tokenDe(SECRETOS, mensaje.id, mensaje.kid)!.token}`
  }

  /** Moves the deadline of a guide's open decision to the past. */
  async function vencer(burstCase: BurstCase) {
    const { rows } = await entorno.db.pool.query<{ secuencia: number }>(
      `update guia set decision_vence = now() - interval '1 second'
       where guia = $1 and decision ->> 'estado' = 'pendiente' and decision_vence > now() returning secuencia`,
      [burstCase.guia],
    )
    burstCase.deadlines.push(...rows.map(({ secuencia }) => secuencia))
  }

  /** Fires the rounds of one guide. The requests of a round are under way at the same time. */
  async function correr(burstCase: BurstCase, indice: number) {
    const rounds = planear(burstCase, indice, createRandom(semilla + indice + 1_000_000))
    const readLastSequence = () => Math.max(1, ...burstCase.deliveries.map(({ secuencia }) => secuencia))
    const sendRound = (actos: readonly Acto[]) => {
      const ultima = readLastSequence()
      return Promise.all(actos.map((acto) => hacer(burstCase, acto, ultima)))
    }
    /** Repeats a request until no race is the reason of its refusal; returns true if it succeeded. */
    const insistir = async (acto: Acto): Promise<boolean> => {
      const { status, codigo } = await hacer(burstCase, acto, 0)
      return codigo === 'carrera_perdida' ? insistir({ ...acto, proceso: 1 - acto.proceso }) : status < 300
    }
    const leer = (estado: string) => insistir({ kind: 'lectura', estado, proceso: indice % 2 })
    const hasScan = (estado: string, minCount = 1) =>
      burstCase.deliveries.filter(
        (answeredRequest) =>
          answeredRequest.kind === 'lectura' && answeredRequest.estado === estado && answeredRequest.status === 201,
      ).length >= minCount
    const ubicada = () =>
      burstCase.hasPlace || burstCase.deliveries.some(({ kind, status }) => kind === 'lugar' && status < 300)
    await sendRound(rounds.aceptada)
    if (!hasScan('recolectado')) await leer('recolectado')
    await sendRound(rounds.recolectada)
    if (!ubicada()) await insistir({ kind: 'lugar', proceso: indice % 2 })
    await leer('en_ruta')
    await sendRound(rounds.en_ruta)
    if (!hasScan('intento_fallido')) await leer('intento_fallido')
    if (rounds.timeout === 'antes') await vencer(burstCase)
    await Promise.all([sendRound(rounds.fallida), rounds.timeout === 'durante' && vencer(burstCase)])
    if (burstCase.destino !== 'todos' || !(await leer('en_ruta'))) return
    await sendRound(rounds.other)
    if (!hasScan('intento_fallido', 2)) await leer('intento_fallido')
  }

  return {
    create: crear,
    /** Fires the burst at all guides, so many at a time. */
    async sendBurst(casos: readonly BurstCase[]) {
      const cola = [...casos.entries()]
      const runQueue = async () => {
        for (let queued = cola.shift(); queued; queued = cola.shift()) await correr(queued[1], queued[0])
      }
      await Promise.all(Array.from({ length: CASES_AT_ONCE }, runQueue))
    },
    close: () => Promise.all(procesos.map((proceso) => proceso.close())),
  }
}

type DeComercio = Exclude<Acto, { kind: 'lectura' | 'destinatario' }>

/** Returns the body of a merchant's request about a guide whose last seen sequence is `vista`. */
function cuerpoDe(acto: DeComercio, lastSequence: number): object {
  if (acto.kind === 'lugar') return AHI
  if (acto.kind === 'devolucion') return { razon: acto.razon }
  return { ...acto.campos, ...(acto.desfase === undefined ? {} : { secuencia: lastSequence + acto.desfase }) }
}

const telefonoDe = (indice: number, serie: number) => `+5024${1_000_000 + 100 * indice + serie}`
const direccionDe = (indice: number, serie: number) => `${serie} calle, casa ${indice}`

/** Returns a guide to create. Of ten guides, six are for all deciders, and three for the policy. */
function nuevo(indice: number, azar: () => number): Pick<BurstCase, 'destino' | 'hasPlace' | 'createdFields'> {
  const suerte = azar()
  return {
    destino: suerte < 0.6 ? 'todos' : suerte < 0.9 ? 'politica' : 'nadie',
    hasPlace: azar() < 0.5,
    createdFields: { telefono: telefonoDe(indice, 0), direccion: direccionDe(indice, 0) },
  }
}

/** Draws all requests of a guide. They depend on the seed alone, and not on the answers. */
function planear({ destino, hasPlace: conLugar }: BurstCase, indice: number, azar: () => number) {
  let serie = 0
  const entero = (hasta: number) => Math.floor(azar() * hasta)
  const proceso = () => entero(2)
  const campos = (): BurstFields => {
    serie++
    const choice = azar()
    return {
      ...(choice < 0.6 ? { telefono: telefonoDe(indice, serie) } : {}),
      ...(choice > 0.5 ? { direccion: direccionDe(indice, serie) } : {}),
    }
  }
  const drawOffset = () => (azar() < 0.4 ? entero(3) : undefined)
  const corregir = (): Acto => ({ kind: 'correccion', campos: campos(), desfase: drawOffset(), proceso: proceso() })
  const reintentar = (): Acto => ({
    kind: 'reintento',
    desfase: drawOffset(),
    proceso: proceso(),
    campos: azar() < 0.3 ? campos() : {},
  })
  const devolver = (): Acto => ({ kind: 'devolucion', razon: `Razón ${++serie} de ${indice}`, proceso: proceso() })
  const leer = (estado: string): Acto => ({ kind: 'lectura', estado, proceso: proceso() })
  /** The same scan in both processes, as one report or as two. */
  const leerDosVeces = (estado: string): Acto[] => {
    const clave = azar() < 0.5 ? `${estado}-${++serie}` : undefined
    return [0, 1].map((proceso) => ({ kind: 'lectura', estado, clave, proceso }))
  }
  const buildAnswer = (): Acto => ({
    kind: 'destinatario',
    proceso: proceso(),
    respuesta: [OTHER_DAY_CHOICE, REFUSAL_CHOICE, CON_ROSA][entero(3)]!,
  })
  const decidedByAll = destino === 'todos'
  const quiza = (parte: number, acto: () => Acto) => (azar() < parte ? [acto()] : [])
  const barajar = (actos: Acto[]) =>
    actos
      .map((acto) => [azar(), acto] as const)
      .sort(([firstRank], [otro]) => firstRank - otro)
      .map(([, acto]) => acto)
  const suerte = azar()
  return {
    aceptada: barajar([
      corregir(),
      corregir(),
      ...leerDosVeces('recolectado'),
      ...(conLugar ? [] : quiza(0.5, () => ({ kind: 'lugar', proceso: proceso() }))),
    ]),
    recolectada: barajar([...quiza(0.7, corregir), ...quiza(0.6, () => leer('en_bodega'))]),
    en_ruta: barajar([
      corregir(),
      ...leerDosVeces('intento_fallido'),
      ...(decidedByAll ? [...quiza(0.1, devolver), ...quiza(0.3, reintentar)] : []),
    ]),
    timeout:
      destino === 'nadie' ? 'nunca' : suerte < 0.4 ? 'antes' : suerte < 0.6 || !decidedByAll ? 'durante' : 'nunca',
    fallida: barajar([
      corregir(),
      ...(decidedByAll
        ? [
            reintentar(),
            ...quiza(0.6, reintentar),
            ...quiza(0.5, devolver),
            ...quiza(0.4, buildAnswer),
            ...quiza(0.2, buildAnswer),
            ...quiza(0.3, () => leer('en_bodega')),
            ...quiza(0.1, () => leer('en_ruta')),
          ]
        : []),
    ]),
    other: barajar([...quiza(0.6, corregir), ...leerDosVeces('intento_fallido'), ...quiza(0.4, devolver)]),
  } as const
}
