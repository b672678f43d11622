import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import tls from 'node:tls'
import {
  type Address,
  ForbiddenDestination,
  type HostResolver,
  hostOf,
  resolveDestination,
} from '../outbound/destination.ts'
import { MAP_HOSTS, MapLinkError, readMapLink } from './links.ts'
import { pageTargets } from './pageTargets.ts'
import { readLinkedPlace } from './plusCodes.ts'
import type { Point } from './point.ts'

// Follows a short map link until a link on the way names a point.
// A merchant chooses the link, and strangers choose its redirects. Each step is therefore checked again: an admitted
// map site, https on port 443, public addresses. The number of steps, the bytes and the time are bounded.

/** Result of following a short link: its coordinates, no coordinates, or a failure. */
export type ResolvedLink =
  | { tipo: 'coordenadas'; coordinates: Point }
  | { tipo: 'sin_coordenadas' }
  /**
   * Failure. `transient`: the same link may work later. `motivo` is a Spanish text for an operator; it names hosts,
   * never whole links.
   */
  | { tipo: 'falla'; transient: boolean; motivo: string }

/** Resolver of short map links. */
export interface ShortLinkResolver {
  /** Follows a link to its coordinates. Never rejects. */
  resolver(link: string): Promise<ResolvedLink>
  /** Ends all resolutions in progress at once. Each of them returns a temporary failure. */
  close(): Promise<void>
}

interface ResolverOptions {
  resolver: HostResolver
  /** Time limit in milliseconds for all steps of a link together. Default: 10,000. */
  timeout?: number
  hosts?: readonly string[]
  /** Certificate authorities in PEM, which replace the well-known ones. */
  ca?: string
}

const MAX_HOPS = 5
const MAX_PAGE_BYTES = 65_536

/** Error that ends the resolution of a link. Its Spanish message becomes the failure's `motivo`. */
class InterruptedJourney extends Error {
  override readonly name = 'CaminoCortado'
  readonly transient: boolean
  constructor(transient: boolean, motivo: string) {
    super(motivo)
    this.transient = transient
  }
}

const TIMED_OUT = new InterruptedJourney(true, 'El mapa no respondió dentro del plazo: se volverá a intentar.')
const STOPPED = new InterruptedJourney(true, 'La consulta se interrumpió porque el servicio se detuvo: se repetirá.')

export function createShortLinkResolver(options: ResolverOptions): ShortLinkResolver {
  const { resolver, timeout = 10_000, hosts = MAP_HOSTS, ca } = options
  const context = tls.createSecureContext({ ca })
  const pendingControls = new Set<AbortController>()
  let isClosed = false

  async function resolverEnlace(link: string): Promise<ResolvedLink> {
    if (isClosed) return toResult(STOPPED)
    const control = new AbortController()
    const timer = setTimeout(() => control.abort(TIMED_OUT), timeout)
    pendingControls.add(control)
    try {
      const journey = { resolver, hosts, context, signal: control.signal }
      // A DNS lookup cannot be cancelled and ignores the signal. The race keeps the caller from waiting for it.
      return await Promise.race([followLink(link, journey), interruption(control.signal)])
    } catch (error) {
      return toResult(control.signal.aborted ? control.signal.reason : error)
    } finally {
      clearTimeout(timer)
      pendingControls.delete(control)
    }
  }

  return {
    resolver: resolverEnlace,
    async close() {
      isClosed = true
      for (const control of pendingControls) control.abort(STOPPED)
    },
  }
}

const interruption = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

// --- Steps from a short link to its target ---

interface Journey {
  resolver: HostResolver
  hosts: readonly string[]
  context: tls.SecureContext
  signal: AbortSignal
}

async function followLink(link: string, journey: Journey): Promise<ResolvedLink> {
  const visited = new Set<string>()
  let current = link
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    const consentTarget = afterConsent(current)
    if (!consentTarget) {
      const linkedPlace = readLinkedPlace(current, journey.hosts)
      if (linkedPlace.tipo === 'coordenadas') return linkedPlace
    }
    const url = new URL(current)
    if (url.protocol !== 'https:') return { tipo: 'sin_coordenadas' }
    // The fragment is never sent, so links that differ only in their fragment are the same step.
    url.hash = ''
    if (visited.has(url.href)) interrupt(false, `El enlace da vueltas: «${url.host}» volvió a un paso anterior.`)
    visited.add(url.href)
    const nextUrl = consentTarget ?? (await visit(url, visited, journey))
    if (nextUrl === null) return { tipo: 'sin_coordenadas' }
    current = nextUrl
  }
  return interrupt(false, `El enlace da más de ${MAX_HOPS} saltos antes de llegar a un punto.`)
}

/** Requests one step and returns the next link; null if the step is the last one. */
async function visit(url: URL, visited: ReadonlySet<string>, journey: Journey): Promise<string | null> {
  const response = await request(url, journey)
  try {
    const { statusCode = 0, headers } = response
    if ([301, 302, 303, 307, 308].includes(statusCode)) return followRedirect(headers.location, url)
    if (statusCode < 200 || statusCode >= 300) interruptByStatus(statusCode, url.host)
    if (!isPlainHtml(response)) return null
    const targets = pageTargets(await readPage(response), url)
    return chooseTarget(targets, visited, journey.hosts)
  } finally {
    // Closes the connection without downloading the rest of the body.
    response.destroy()
  }
}

/**
 * Parses a redirect target in the same way as the HTTP client. The URL that is checked is then the URL that is
 * requested.
 */
function followRedirect(location: string | undefined, base: URL): string {
  // Node decodes the bytes of a header as Latin-1, so UTF-8 must be restored.
  const text = Buffer.from(location ?? '', 'latin1').toString('utf8')
  const url = location ? URL.parse(text, base.href) : null
  if (!url) interrupt(false, `«${base.host}» redirige sin decir adónde: pida otro enlace.`)
  // Google's robot check is about this server and not about the link. It ends by itself, so the failure is temporary.
  if (url.pathname.startsWith('/sorry/') && matches(url, ['www.google.*', 'google.*'])) {
    interrupt(true, 'Google pidió comprobar que no somos un robot (demasiadas consultas): se volverá a intentar.')
  }
  return url.href
}

/**
 * Chooses the next link among the targets that a page mentions. Skips visited targets and targets that are not an
 * admitted map. Prefers a target with coordinates.
 */
function chooseTarget(
  targets: readonly string[],
  visited: ReadonlySet<string>,
  hosts: readonly string[],
): string | null {
  const newTargets = targets.filter((target) => !visited.has(target.replace(/#.*/s, '')) && matches(target, hosts))
  return newTargets.find((target) => readLinkedPlace(target, hosts).tipo === 'coordenadas') ?? newTargets[0] ?? null
}

/**
 * Returns the target of Google's cookie notice, which appears in Europe; null for any other link. The link itself
 * contains the target, so no request is necessary.
 */
function afterConsent(link: string): string | null {
  if (!/^https:/i.test(link) || !matches(link, ['consent.google.*'])) return null
  const continua = URL.parse(new URL(link).searchParams.get('continue') ?? '')
  return continua?.href ?? interrupt(false, 'El aviso de cookies de Google no dice adónde sigue: pida otro enlace.')
}

function matches(link: string | URL, hosts: readonly string[]): boolean {
  try {
    readMapLink(String(link), hosts)
    return true
  } catch {
    return false
  }
}

// --- One HTTP request ---

// The headers contain no data about the merchant and no referrer. They ask for uncompressed content, because nothing
// here decompresses a body.
const REQUEST_HEADERS = {
  accept: 'text/html',
  'accept-encoding': 'identity',
  'accept-language': 'es',
  'user-agent': 'guias/1.0',
}

async function request(url: URL, { resolver, context, signal }: Journey): Promise<IncomingMessage> {
  const addresses = await resolveDestination(url, { resolver, loopback: false })
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  https
    .request(url, {
      headers: { host: url.host, ...REQUEST_HEADERS },
      maxHeaderSize: 16_384,
      signal,
      // Each step opens its own connection, so that it uses only the addresses that were checked for this step.
      createConnection: () => connect(hostOf(url), addresses, context),
    })
    // An `error` event before the body is read would otherwise have no listener.
    .on('response', (response: IncomingMessage) => resolve(response.on('error', () => {})))
    .on('error', reject)
    .end()
  return promise
}

function connect(name: string, addresses: readonly Address[], secureContext: tls.SecureContext): tls.TLSSocket {
  // Uses only the checked addresses, because a second DNS lookup may return others.
  const lookup: LookupFunction = (_name, _options, responder) => responder(null, [...addresses])
  const options = {
    host: name,
    servername: name,
    port: 443,
    lookup,
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    autoSelectFamily: true,
  }
  return tls.connect(options)
}

/**
 * Reports whether a response is uncompressed HTML. A compressed page counts as unreadable, because the request asks for
 * uncompressed content.
 */
const isPlainHtml = ({ headers }: IncomingMessage): boolean =>
  /^(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '') &&
  (headers['content-encoding'] ?? 'identity') === 'identity'

async function readPage(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_PAGE_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_PAGE_BYTES).toString('utf8')
}

// --- Failures of a resolution ---

function interrupt(transient: boolean, motivo: string): never {
  throw new InterruptedJourney(transient, motivo)
}

function interruptByStatus(status: number, host: string): never {
  if (status === 404 || status === 410) interrupt(false, 'El enlace corto no existe o venció: pida otro.')
  if (status === 408 || status === 429 || status >= 500) {
    interrupt(true, `«${host}» respondió ${status}: se volverá a intentar.`)
  }
  interrupt(false, `«${host}» respondió ${status}: compruebe el enlace en un navegador o pida otro.`)
}

function toResult(error: unknown): ResolvedLink {
  const fault = (transient: boolean, motivo: string): ResolvedLink => ({ tipo: 'falla', transient, motivo })
  if (error instanceof InterruptedJourney) return fault(error.transient, error.message)
  if (error instanceof MapLinkError) return fault(false, `El enlace lleva adonde no se admite. ${error.message}`)
  if (error instanceof ForbiddenDestination) {
    return error.motivo === 'url_no_resuelve'
      ? fault(true, 'El nombre del mapa no se resolvió en el DNS: se volverá a intentar.')
      : fault(false, 'El nombre del mapa lleva a una dirección que no es pública: revise el DNS del servidor.')
  }
  const { code = 'sin código' } = error as NodeJS.ErrnoException
  return fault(true, `No se pudo consultar el mapa (${code}): se volverá a intentar.`)
}
