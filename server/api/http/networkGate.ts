import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Request } from 'express'
import { tooMany } from '../../platform/errors.ts'
import { type Operation, rootOf } from '../contract/contract.ts'
import type { Limits, NetworkClass } from '../limits/limits.ts'
import { SECURITY_HEADERS } from './headers.ts'
import { networkOf } from './network.ts'
import type { ResponseWitness } from './problems.ts'
import type { RefusalLog } from './refusalLog.ts'
import type { RequestMetrics } from './requestMetrics.ts'
import { byAccept, typeByAccept } from './rfc9457.ts'

/** Maximum refusals on one connection; then the connection is closed. */
const MAX_REFUSALS_PER_CONNECTION = 3

interface NetworkGateOptions {
  operaciones: readonly Operation[]
  limits: Limits
  /** Number of reverse proxies in front of the service, as in `TRUST_PROXY`. */
  proxies: number
  /** Base URL of all links that the service gives out. */
  publicUrl: string
  /** Reports whether this process has already looked up the request's credential and found it. */
  isKnown(req: IncomingMessage, inCookie: boolean): boolean
  refusals: RefusalLog
  metrics: RequestMetrics
  /** Returns the HTML answer to browsers for a refused page. */
  page: (retryAfter: number) => Readonly<{ texto: string; headers: Readonly<Record<string, string>> }>
  witness?: ResponseWitness | undefined
}

const charged = new WeakSet<IncomingMessage>()

/**
 * Reports whether the network gate counted a request against the rate of the client's network when the request arrived.
 */
export const wasCharged = (req: IncomingMessage): boolean => charged.has(req)

/**
 * Counts requests without a known credential against the rate of the client's network, before Express, logging and
 * pages see the requests. A network without tokens gets a 429 that costs next to nothing. Without a proxy in front of
 * the service, {@link MAX_REFUSALS_PER_CONNECTION} refusals close a connection; `Limits.ban` then refuses new
 * connections for a second.
 */
export function guardNetwork(next: RequestListener, options: NetworkGateOptions): RequestListener {
  const { limits, proxies, refusals, metrics } = options
  const classify = createClassifier(options)
  const refusalsOf = new WeakMap<Socket, number>()
  const refuse = createRefusal(options)
  return (req, res) => {
    const red = networkOf(addressOf(req, proxies))
    const networkClass = classify(req, red)
    if (networkClass !== undefined) {
      const retryAfter = limits.chargeNetwork(red, networkClass)
      if (retryAfter > 0) {
        const times = (refusalsOf.get(req.socket) ?? 0) + 1
        refusalsOf.set(req.socket, times)
        // Behind a proxy, a connection belongs to the proxy and carries the requests of many clients.
        const close = proxies === 0 && times >= MAX_REFUSALS_PER_CONNECTION
        if (close) limits.ban(red)
        metrics.rechazo(networkClass)
        refuse(req, res, {
          red,
          networkClass,
          retryAfter,
          close,
          id: refusals.note({ red, motivo: `network ${networkClass}` }),
        })
        return
      }
      charged.add(req)
    }
    next(req, res)
  }
}

/**
 * Address of the client, as the outermost trusted proxy saw it. Same rule as Express's `trust proxy` with a number
 * (https://expressjs.com/en/guide/behind-proxies.html).
 */
export function addressOf({ socket, headers }: IncomingMessage, proxies: number): string {
  const own = socket.remoteAddress ?? ''
  const forwarded = headers['x-forwarded-for']
  if (proxies === 0 || typeof forwarded !== 'string') return own
  const hops = [own, ...forwarded.split(',').toReversed()]
  return hops[Math.min(proxies, hops.length - 1)]!.trim()
}

/** Pages that require an API key and accept no session. Their requests count against the rates of the key. */
const LLAVE_PATHS: readonly string[] = ['/mcp']

/**
 * Creates the function that returns the class of a request that counts against the network's rates. Returns undefined
 * for a request that counts against the rates of its credential.
 */
function createClassifier({ operaciones, limits, isKnown }: NetworkGateOptions) {
  const operationsByRoot = Map.groupBy(operaciones, ({ path }) => rootOf(path))
  const rulesByRoot = new Map(
    [...operationsByRoot].map(([rootPath, rootOperations]) => {
      const securedSchemes = rootOperations.flatMap(({ security }) => security ?? [])
      // If every operation under a path root needs a credential, requests without one are always refused. They count
      // against the network's rate for web pages, and never use up the rate for operations.
      const anonymousClass: NetworkClass = securedSchemes.length < rootOperations.length ? 'operaciones' : 'paginas'
      return [
        rootPath,
        { needsLlave: securedSchemes.length > 0, inCookie: securedSchemes[0]?.inCookie === true, anonymousClass },
      ]
    }),
  )
  for (const rootPath of LLAVE_PATHS)
    rulesByRoot.set(rootPath, { needsLlave: true, inCookie: false, anonymousClass: 'paginas' })
  return (req: IncomingMessage, network: string): NetworkClass | undefined => {
    const rules = rulesByRoot.get(rootOf(req.url ?? '/'))
    if (!rules) return 'paginas'
    const { needsLlave, inCookie, anonymousClass } = rules
    const { authorization, cookie } = req.headers
    // For operations under this path root, a person's session may be sent in place of a key.
    const presented = inCookie ? cookie : (authorization ?? cookie)
    if (!needsLlave || presented === undefined) return anonymousClass
    // An unknown credential costs a look-up in the database. After too many invalid credentials, the request counts
    // against the network's rate.
    return isKnown(req, inCookie) || limits.attemptsLeft(network) ? undefined : anonymousClass
  }
}

interface Refusal {
  red: string
  networkClass: NetworkClass
  retryAfter: number
  close: boolean
  id: string
}

/** Placeholder for the request's id in prebuilt bodies. */
const ID = randomUUID()

/** Prebuilt answer: the body split where the request's id goes, and the headers that belong to the body. */
interface Made {
  parts: readonly string[]
  headers: Readonly<Record<string, string>>
}

/** Creates the function that writes the 429. A body is built once for each media type and number of seconds to wait. */
function createRefusal({ limits, publicUrl, page, witness }: NetworkGateOptions) {
  const made = new Map<string, Made>()
  const make = (type: string, retryAfter: number): Made => {
    if (type === HTML) {
      const { texto, headers } = page(retryAfter)
      return { parts: [texto], headers: { ...SECURITY_HEADERS, ...headers } }
    }
    const problema = tooMany(limits.networkReason, retryAfter).present(ID, publicUrl)
    return {
      parts: JSON.stringify(byAccept(problema, type).body).split(ID),
      headers: { ...SECURITY_HEADERS, 'Cache-Control': 'no-store', 'Content-Type': type },
    }
  }
  return (req: IncomingMessage, res: ServerResponse, { red, networkClass, retryAfter, close, id }: Refusal): void => {
    const type = typeFor(req.headers.accept, networkClass)
    const key = `${type} ${retryAfter}`
    let template = made.get(key)
    if (!template) {
      template = make(type, retryAfter)
      made.set(key, template)
    }
    const body = template.parts.join(id)
    const headers = {
      ...template.headers,
      'X-Request-Id': id,
      ...limits.networkHeaders(red, networkClass),
      'Retry-After': String(retryAfter),
      'Content-Length': String(Buffer.byteLength(body)),
      // `Connection: close` keeps Node from reading the rest of a request body that no code needs.
      ...(close || bringsBody(req) ? { Connection: 'close' } : {}),
    }
    res.writeHead(429, headers).end(body)
    witness?.(req as Request, { status: 429, headers, body: type === HTML ? body : JSON.parse(body) })
  }
}

const HTML = 'text/html; charset=utf-8'

function typeFor(accept = '', networkClass: NetworkClass): string {
  if (networkClass === 'paginas' && accept.includes('text/html')) return HTML
  return typeByAccept(accept)
}

/** Reports whether a request announces a body. */
export const bringsBody = ({ headers: { 'content-length': length, 'transfer-encoding': coding } }: IncomingMessage) =>
  coding !== undefined || (length !== undefined && length !== '0')
