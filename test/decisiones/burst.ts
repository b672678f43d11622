// A seeded burst of requests about one guide after another, through several processes of the service.

import { Pool } from 'undici'
import { tokenOf } from '../../server/domain/ubicacion/ubicacion.ts'
import { type TestEnvironment, withKey } from '../environment.ts'
import { buildEstadoReport, buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { createRandom } from '../random.ts'
import { SECRETOS } from '../ubicacion/requests.ts'
import { CON_ROSA, OTHER_DAY_CHOICE, REFUSAL_CHOICE } from './questions.ts'

/** Fields that the burst corrects. Each request has values of its own, so that an event names its request. */
export interface BurstFields {
  telefono?: string
  direccion?: string
}

/** Request of the burst: its kind, and the process that gets it. */
type BurstRequest = { processIndex: number } & (
  | {
      kind: 'correccion' | 'reintento'
      campos: BurstFields
      /** Sequence that the guide must have, counted from the last one seen; undefined: any. */
      sequenceOffset?: number | undefined
    }
  | { kind: 'lectura'; estado: string; clave?: string | undefined }
  | { kind: 'lugar' }
  | { kind: 'devolucion'; razon: string }
  | { kind: 'destinatario'; respuesta: Record<string, string> }
)

/** Request that was answered. */
export type AnsweredRequest = BurstRequest & {
  /** True if the request required a sequence. */
  isConditional: boolean
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
const CONFIRMED_PLACE = { lat: 14.71889, lng: -90.64417 }
/** Guides in one request of the creation. */
const POR_LOTE = 100
/** Guides in the burst at the same time. */
const CASES_AT_ONCE = 24

interface Opciones {
  environment: TestEnvironment
  /** Addresses of the processes. */
  urls: readonly string[]
  llaves: Record<BurstCase['modo'], string>
  seed: number
}

/**
 * Opens connections to the processes; returns what creates guides, and what fires the burst at them. One function, because
 * its parts share the connections and the seed.
 */
export function prepareBurst({ environment, urls, llaves, seed }: Opciones) {
  const pools = urls.map((url) => new Pool(url, { connections: 40, pipelining: 1 }))

  async function request(
    processIndex: number,
    method: 'POST' | 'PATCH',
    path: string,
    llave: string | null,
    cuerpo: object,
    key?: string,
  ) {
    const isForm = llave === null
    const { statusCode, body } = await pools[processIndex]!.request({
      path,
      method,
      headers: {
        'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        ...(isForm ? {} : { authorization: `Bearer ${llave}` }),
        ...withKey(key),
      },
      body: isForm ? new URLSearchParams(cuerpo as Record<string, string>).toString() : JSON.stringify(cuerpo),
    })
    const text = await body.text()
    // biome-ignore lint/suspicious/noExplicitAny: the raw answer of a raw request
    return { status: statusCode, json: (text.startsWith('{') ? JSON.parse(text) : {}) as any }
  }

  /** Creates guides in groups, each group in another process. Half of the guides name no place. */
  async function create(guiaCount: number, modo: BurstCase['modo'], first: number): Promise<BurstCase[]> {
    const lotes = Array.from({ length: Math.ceil(guiaCount / POR_LOTE) }, async (_, lote) => {
      const from = lote * POR_LOTE
      const newCases = Array.from({ length: Math.min(POR_LOTE, guiaCount - from) }, (_, i) =>
        drawCase(first + from + i, createRandom(seed + first + from + i)),
      )
      const guias = newCases.map(({ hasPlace, createdFields }) =>
        (hasPlace ? buildGuia : buildGuiaWithoutDestino)(createdFields),
      )
      const { status, json } = await request(lote % urls.length, 'POST', '/api/v1/guias/bulk', llaves[modo], { guias })
      if (status !== 200 || !json.ok) throw new Error(`${status} ${JSON.stringify(json).slice(0, 500)}`)
      return newCases.map(
        (newCase, i): BurstCase => ({ ...newCase, guia: json.resultados[i].guia, modo, deliveries: [], deadlines: [] }),
      )
    })
    return (await Promise.all(lotes)).flat()
  }

  /** Sends a request, and writes down its answer. */
  async function sendRequest(
    burstCase: BurstCase,
    burstRequest: BurstRequest,
    lastSequence: number,
  ): Promise<AnsweredRequest> {
    const { guia, modo } = burstCase
    const send = async () => {
      switch (burstRequest.kind) {
        case 'lectura': {
          const { estado, clave: key } = burstRequest
          const path = `/operaciones/v1/guias/${guia}/eventos`
          return request(
            burstRequest.processIndex,
            'POST',
            path,
            environment.llaveDeOperacion,
            buildEstadoReport(estado),
            key,
          )
        }
        case 'destinatario': {
          const link = await linkOf(guia)
          return link
            ? request(burstRequest.processIndex, 'POST', link, null, burstRequest.respuesta)
            : { status: 404, json: {} }
        }
        default: {
          const [method, path] = METODO_Y_RUTA[burstRequest.kind]
          const body = bodyOf(burstRequest, lastSequence)
          return request(burstRequest.processIndex, method, `/api/v1/guias/${guia}${path}`, llaves[modo], body)
        }
      }
    }
    const { status, json } = await send()
    const answeredRequest: AnsweredRequest = {
      ...burstRequest,
      isConditional: 'sequenceOffset' in burstRequest && burstRequest.sequenceOffset !== undefined,
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
  async function linkOf(guia: string): Promise<string | undefined> {
    const mensaje = await waitUntil(async () => {
      const { rows } = await environment.db.pool.query<{ id: string; kid: string | null; estado: string }>(
        `select id, kid, estado from mensaje where guia = $1 and tipo = 'solicitud_decision' order by numero desc limit 1`,
        [guia],
      )
      return rows[0]?.estado === 'pendiente' ? undefined : (rows[0] ?? { id: '', kid: null, estado: 'descartado' })
    })
    return mensaje.estado === 'descartado' ? undefined : `/d/${tokenOf(SECRETOS, mensaje.id, mensaje.kid)!.token}`
  }

  /** Moves the deadline of a guide's open decision to the past. */
  async function expireAll(burstCase: BurstCase) {
    const { rows } = await environment.db.pool.query<{ secuencia: number }>(
      `update guia set decision_vence = now() - interval '1 second'
       where guia = $1 and decision ->> 'estado' = 'pendiente' and decision_vence > now() returning secuencia`,
      [burstCase.guia],
    )
    burstCase.deadlines.push(...rows.map(({ secuencia }) => secuencia))
  }

  /** Fires the rounds of one guide. The requests of a round are under way at the same time. */
  async function runCase(burstCase: BurstCase, index: number) {
    const rounds = drawRounds(burstCase, index, createRandom(seed + index + 1_000_000))
    const readLastSequence = () => Math.max(1, ...burstCase.deliveries.map(({ secuencia }) => secuencia))
    const sendRound = (burstRequests: readonly BurstRequest[]) => {
      const last = readLastSequence()
      return Promise.all(burstRequests.map((burstRequest) => sendRequest(burstCase, burstRequest, last)))
    }
    /** Repeats a request until no race is the reason of its refusal; returns true if it succeeded. */
    const retryRaces = async (burstRequest: BurstRequest): Promise<boolean> => {
      const { status, codigo } = await sendRequest(burstCase, burstRequest, 0)
      return codigo === 'carrera_perdida'
        ? retryRaces({ ...burstRequest, processIndex: 1 - burstRequest.processIndex })
        : status < 300
    }
    const read = (estado: string) => retryRaces({ kind: 'lectura', estado, processIndex: index % 2 })
    const hasScan = (estado: string, minCount = 1) =>
      burstCase.deliveries.filter(
        (answeredRequest) =>
          answeredRequest.kind === 'lectura' && answeredRequest.estado === estado && answeredRequest.status === 201,
      ).length >= minCount
    const hasLocation = () =>
      burstCase.hasPlace || burstCase.deliveries.some(({ kind, status }) => kind === 'lugar' && status < 300)
    await sendRound(rounds.accepted)
    if (!hasScan('recolectado')) await read('recolectado')
    await sendRound(rounds.collected)
    if (!hasLocation()) await retryRaces({ kind: 'lugar', processIndex: index % 2 })
    await read('en_ruta')
    await sendRound(rounds.onRoute)
    if (!hasScan('intento_fallido')) await read('intento_fallido')
    if (rounds.timeout === 'antes') await expireAll(burstCase)
    await Promise.all([sendRound(rounds.failed), rounds.timeout === 'durante' && expireAll(burstCase)])
    if (burstCase.destino !== 'todos' || !(await read('en_ruta'))) return
    await sendRound(rounds.other)
    if (!hasScan('intento_fallido', 2)) await read('intento_fallido')
  }

  return {
    create,
    /** Fires the burst at all guides, so many at a time. */
    async sendBurst(burstCases: readonly BurstCase[]) {
      const queue = [...burstCases.entries()]
      const runQueue = async () => {
        for (let queued = queue.shift(); queued; queued = queue.shift()) await runCase(queued[1], queued[0])
      }
      await Promise.all(Array.from({ length: CASES_AT_ONCE }, runQueue))
    },
    close: () => Promise.all(pools.map((pool) => pool.close())),
  }
}

type DeComercio = Exclude<BurstRequest, { kind: 'lectura' | 'destinatario' }>

/** Returns the body of a merchant's request about a guide whose last seen sequence is `lastSequence`. */
function bodyOf(burstRequest: DeComercio, lastSequence: number): object {
  if (burstRequest.kind === 'lugar') return CONFIRMED_PLACE
  if (burstRequest.kind === 'devolucion') return { razon: burstRequest.razon }
  return {
    ...burstRequest.campos,
    ...(burstRequest.sequenceOffset === undefined ? {} : { secuencia: lastSequence + burstRequest.sequenceOffset }),
  }
}

const telefonoOf = (index: number, serial: number) => `+5024${1_000_000 + 100 * index + serial}`
const addressOf = (index: number, serial: number) => `${serial} calle, casa ${index}`

/** Returns a guide to create. Of ten guides, six are for all deciders, and three for the policy. */
function drawCase(index: number, random: () => number): Pick<BurstCase, 'destino' | 'hasPlace' | 'createdFields'> {
  const destinoDraw = random()
  return {
    destino: destinoDraw < 0.6 ? 'todos' : destinoDraw < 0.9 ? 'politica' : 'nadie',
    hasPlace: random() < 0.5,
    createdFields: { telefono: telefonoOf(index, 0), direccion: addressOf(index, 0) },
  }
}

/** Draws all requests of a guide. They depend on the seed alone, and not on the answers. */
function drawRounds({ destino, hasPlace }: BurstCase, index: number, random: () => number) {
  let serial = 0
  const drawInteger = (hasta: number) => Math.floor(random() * hasta)
  const drawProcess = () => drawInteger(2)
  const fields = (): BurstFields => {
    serial++
    const choice = random()
    return {
      ...(choice < 0.6 ? { telefono: telefonoOf(index, serial) } : {}),
      ...(choice > 0.5 ? { direccion: addressOf(index, serial) } : {}),
    }
  }
  const drawOffset = () => (random() < 0.4 ? drawInteger(3) : undefined)
  const corregir = (): BurstRequest => ({
    kind: 'correccion',
    campos: fields(),
    sequenceOffset: drawOffset(),
    processIndex: drawProcess(),
  })
  const reintentar = (): BurstRequest => ({
    kind: 'reintento',
    sequenceOffset: drawOffset(),
    processIndex: drawProcess(),
    campos: random() < 0.3 ? fields() : {},
  })
  const devolver = (): BurstRequest => ({
    kind: 'devolucion',
    razon: `Razón ${++serial} de ${index}`,
    processIndex: drawProcess(),
  })
  const read = (estado: string): BurstRequest => ({ kind: 'lectura', estado, processIndex: drawProcess() })
  /** The same scan in both processes, as one report or as two. */
  const buildRepeatedScans = (estado: string): BurstRequest[] => {
    const key = random() < 0.5 ? `${estado}-${++serial}` : undefined
    return [0, 1].map((processIndex) => ({ kind: 'lectura', estado, clave: key, processIndex }))
  }
  const buildAnswer = (): BurstRequest => ({
    kind: 'destinatario',
    processIndex: drawProcess(),
    respuesta: [OTHER_DAY_CHOICE, REFUSAL_CHOICE, CON_ROSA][drawInteger(3)]!,
  })
  const decidedByAll = destino === 'todos'
  const withProbability = (probability: number, drawRequest: () => BurstRequest) =>
    random() < probability ? [drawRequest()] : []
  const shuffle = (burstRequests: BurstRequest[]) =>
    burstRequests
      .map((burstRequest) => [random(), burstRequest] as const)
      .sort(([firstRank], [secondRank]) => firstRank - secondRank)
      .map(([, burstRequest]) => burstRequest)
  const timeoutDraw = random()
  return {
    accepted: shuffle([
      corregir(),
      corregir(),
      ...buildRepeatedScans('recolectado'),
      ...(hasPlace ? [] : withProbability(0.5, () => ({ kind: 'lugar', processIndex: drawProcess() }))),
    ]),
    collected: shuffle([...withProbability(0.7, corregir), ...withProbability(0.6, () => read('en_bodega'))]),
    onRoute: shuffle([
      corregir(),
      ...buildRepeatedScans('intento_fallido'),
      ...(decidedByAll ? [...withProbability(0.1, devolver), ...withProbability(0.3, reintentar)] : []),
    ]),
    timeout:
      destino === 'nadie'
        ? 'nunca'
        : timeoutDraw < 0.4
          ? 'antes'
          : timeoutDraw < 0.6 || !decidedByAll
            ? 'durante'
            : 'nunca',
    failed: shuffle([
      corregir(),
      ...(decidedByAll
        ? [
            reintentar(),
            ...withProbability(0.6, reintentar),
            ...withProbability(0.5, devolver),
            ...withProbability(0.4, buildAnswer),
            ...withProbability(0.2, buildAnswer),
            ...withProbability(0.3, () => read('en_bodega')),
            ...withProbability(0.1, () => read('en_ruta')),
          ]
        : []),
    ]),
    other: shuffle([
      ...withProbability(0.6, corregir),
      ...buildRepeatedScans('intento_fallido'),
      ...withProbability(0.4, devolver),
    ]),
  } as const
}
