import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Request } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { demasiadas } from '../errores.ts'
import type { ClaseDeRed, Limites } from '../limites/limites.ts'
import { CABECERAS } from './cabeceras.ts'
import type { Testigo } from './problemas.ts'
import { redDe } from './red.ts'
import type { RefusalLog } from './refusalLog.ts'
import { segunAccept, tipoSegunAccept } from './rfc9457.ts'

/** Refusals on one connection after which the connection is closed. */
const MAX_REFUSALS_PER_CONNECTION = 3

interface NetworkGateOptions {
  operaciones: readonly Operacion[]
  limites: Limites
  /** Reverse proxies before the service, as `TRUST_PROXY` has them. */
  proxies: number
  /** Base of every link given out. */
  urlPublica: string
  /** Whether this process has seen the request's credential be valid. */
  isKnown(req: IncomingMessage, inCookie: boolean): boolean
  refusals: RefusalLog
  /** Answer to browsers for a page that is refused. */
  page: (retryAfter: number) => Readonly<{ texto: string; cabeceras: Readonly<Record<string, string>> }>
  testigo?: Testigo | undefined
}

const charged = new WeakSet<IncomingMessage>()

/** Whether the network of a request was charged for it when it arrived. */
export const wasCharged = (req: IncomingMessage): boolean => charged.has(req)

/**
 * Charges requests without a known credential to their network before Express, logging and pages see them. A network
 * that has nothing left gets a 429 that costs next to nothing. Its connection is closed after repeated refusals; unless
 * a proxy stands before the service, its new connections are then refused for a second.
 */
export function guardNetwork(next: RequestListener, options: NetworkGateOptions): RequestListener {
  const { limites, proxies, refusals } = options
  const classify = crearClasificador(options)
  const refusalsOf = new WeakMap<Socket, number>()
  const refuse = crearNegativa(options)
  return (req, res) => {
    const red = redDe(addressOf(req, proxies))
    const clase = classify(req, red)
    if (clase !== undefined) {
      const retryAfter = limites.gastarDeRed(red, clase)
      if (retryAfter > 0) {
        const times = (refusalsOf.get(req.socket) ?? 0) + 1
        refusalsOf.set(req.socket, times)
        // Behind a proxy the connection is the proxy's and carries everybody's requests.
        const close = proxies === 0 && times >= MAX_REFUSALS_PER_CONNECTION
        if (close) limites.vetar(red)
        refuse(req, res, { red, clase, retryAfter, close, id: refusals.note({ red, motivo: `network ${clase}` }) })
        return
      }
      charged.add(req)
    }
    next(req, res)
  }
}

/**
 * Address of the client: the one that the outermost trusted proxy saw. Same rule as Express's `trust proxy` with a
 * number (https://expressjs.com/en/guide/behind-proxies.html).
 */
export function addressOf({ socket, headers }: IncomingMessage, proxies: number): string {
  const own = socket.remoteAddress ?? ''
  const forwarded = headers['x-forwarded-for']
  if (proxies === 0 || typeof forwarded !== 'string') return own
  const hops = [own, ...forwarded.split(',').toReversed()]
  return hops[Math.min(proxies, hops.length - 1)]!.trim()
}

/** First segments of a path that tell operations from pages: `/repartidor/v1`, where `/repartidor` is a page. */
const raizDe = (ruta: string) => /^\/\w+\/v1(?=\/)|^\/[^/?]*/.exec(ruta)?.[0] ?? ruta

/** Tells as which class a request is charged to its network; undefined: it is charged to its credential. */
function crearClasificador({ operaciones, limites, isKnown }: NetworkGateOptions) {
  const raices = Map.groupBy(operaciones, ({ ruta }) => raizDe(ruta))
  const porRaiz = new Map(
    [...raices].map(([raiz, suyas]) => {
      const protegidas = suyas.flatMap(({ seguridad }) => seguridad ?? [])
      // Where every operation wants a credential, a request without one can only be refused.
      const sinCredencial: ClaseDeRed = protegidas.length < suyas.length ? 'operaciones' : 'paginas'
      return [raiz, { conLlave: protegidas.length > 0, enCookie: protegidas[0]?.enCookie === true, sinCredencial }]
    }),
  )
  return (req: IncomingMessage, red: string): ClaseDeRed | undefined => {
    const raiz = porRaiz.get(raizDe(req.url ?? '/'))
    if (!raiz) return 'paginas'
    const { conLlave, enCookie, sinCredencial } = raiz
    const { authorization, cookie } = req.headers
    if (!conLlave || (enCookie ? cookie : authorization) === undefined) return sinCredencial
    // An unknown credential costs a look-up: it is charged to the network once too many of them were invalid.
    return isKnown(req, enCookie) || limites.quedanIntentos(red) ? undefined : sinCredencial
  }
}

interface Refusal {
  red: string
  clase: ClaseDeRed
  retryAfter: number
  close: boolean
  id: string
}

/** Stands for a request's id in the bodies that are made once. */
const ID = randomUUID()

/** Body around the places of the request's id, and the headers that go with it. */
interface Made {
  parts: readonly string[]
  headers: Readonly<Record<string, string>>
}

/** Writes the 429 from bodies that are made once for each number of seconds to wait. */
function crearNegativa({ limites, urlPublica, page, testigo }: NetworkGateOptions) {
  const made = new Map<string, Made>()
  const make = (tipo: string, retryAfter: number): Made => {
    if (tipo === HTML) {
      const { texto, cabeceras } = page(retryAfter)
      return { parts: [texto], headers: { ...CABECERAS, ...cabeceras } }
    }
    const problema = demasiadas(limites.motivoDeRed, retryAfter).presentar(ID, urlPublica)
    return {
      parts: JSON.stringify(segunAccept(problema, tipo).cuerpo).split(ID),
      headers: { ...CABECERAS, 'Cache-Control': 'no-store', 'Content-Type': tipo },
    }
  }
  return (req: IncomingMessage, res: ServerResponse, { red, clase, retryAfter, close, id }: Refusal): void => {
    const tipo = tipoPara(req.headers.accept, clase)
    const key = `${tipo} ${retryAfter}`
    let template = made.get(key)
    if (!template) {
      template = make(tipo, retryAfter)
      made.set(key, template)
    }
    const body = template.parts.join(id)
    const headers = {
      ...template.headers,
      'X-Request-Id': id,
      ...limites.cabecerasDeRed(red, clase),
      'Retry-After': String(retryAfter),
      'Content-Length': String(Buffer.byteLength(body)),
      // Node would read the rest of a body that nobody wants.
      ...(close || bringsBody(req) ? { Connection: 'close' } : {}),
    }
    res.writeHead(429, headers).end(body)
    testigo?.(req as Request, { status: 429, cabeceras: headers, cuerpo: tipo === HTML ? body : JSON.parse(body) })
  }
}

const HTML = 'text/html; charset=utf-8'

function tipoPara(accept = '', clase: ClaseDeRed): string {
  if (clase === 'paginas' && accept.includes('text/html')) return HTML
  return tipoSegunAccept(accept)
}

/** Whether a request announces a body. */
export const bringsBody = ({ headers: { 'content-length': length, 'transfer-encoding': coding } }: IncomingMessage) =>
  coding !== undefined || (length !== undefined && length !== '0')
