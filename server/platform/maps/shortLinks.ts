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
  | { tipo: 'coordenadas'; coordenadas: Point }
  | { tipo: 'sin_coordenadas' }
  /**
   * Failure. `pasajera`: the same link may work later. `motivo` is a Spanish text for an operator; it names hosts,
   * never whole links.
   */
  | { tipo: 'falla'; pasajera: boolean; motivo: string }

/** Resolver of short map links. */
export interface ShortLinkResolver {
  /** Follows a link to its coordinates. Never rejects. */
  resolver(enlace: string): Promise<ResolvedLink>
  /** Ends all resolutions in progress at once. Each of them returns a temporary failure. */
  cerrar(): Promise<void>
}

interface OpcionesDeResolutor {
  resolver: HostResolver
  /** Time limit in milliseconds for all steps of a link together. Default: 10,000. */
  plazo?: number
  hosts?: readonly string[]
  /** Certificate authorities in PEM, which replace the well-known ones. */
  ca?: string
}

const SALTOS_MAXIMOS = 5
const BYTES_DE_PAGINA = 65_536

/** Error that ends the resolution of a link. Its Spanish message becomes the failure's `motivo`. */
class CaminoCortado extends Error {
  override readonly name = 'CaminoCortado'
  readonly pasajera: boolean
  constructor(pasajera: boolean, motivo: string) {
    super(motivo)
    this.pasajera = pasajera
  }
}

const AGOTADO = new CaminoCortado(true, 'El mapa no respondió dentro del plazo: se volverá a intentar.')
const CERRADO = new CaminoCortado(true, 'La consulta se interrumpió porque el servicio se detuvo: se repetirá.')

export function createShortLinkResolver(opciones: OpcionesDeResolutor): ShortLinkResolver {
  const { resolver, plazo = 10_000, hosts = MAP_HOSTS, ca } = opciones
  const contexto = tls.createSecureContext({ ca })
  const enCurso = new Set<AbortController>()
  let cerrado = false

  async function resolverEnlace(enlace: string): Promise<ResolvedLink> {
    if (cerrado) return contar(CERRADO)
    const control = new AbortController()
    const reloj = setTimeout(() => control.abort(AGOTADO), plazo)
    enCurso.add(control)
    try {
      const camino = { resolver, hosts, contexto, signal: control.signal }
      // A DNS lookup cannot be cancelled and ignores the signal. The race keeps the caller from waiting for it.
      return await Promise.race([recorrer(enlace, camino), interrupcion(control.signal)])
    } catch (error) {
      return contar(control.signal.aborted ? control.signal.reason : error)
    } finally {
      clearTimeout(reloj)
      enCurso.delete(control)
    }
  }

  return {
    resolver: resolverEnlace,
    async cerrar() {
      cerrado = true
      for (const control of enCurso) control.abort(CERRADO)
    },
  }
}

const interrupcion = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

// --- Steps from a short link to its target ---

interface Camino {
  resolver: HostResolver
  hosts: readonly string[]
  contexto: tls.SecureContext
  signal: AbortSignal
}

async function recorrer(enlace: string, camino: Camino): Promise<ResolvedLink> {
  const vistos = new Set<string>()
  let actual = enlace
  for (let saltos = 0; saltos <= SALTOS_MAXIMOS; saltos++) {
    const consentimiento = trasConsentimiento(actual)
    if (!consentimiento) {
      const leido = readLinkedPlace(actual, camino.hosts)
      if (leido.tipo === 'coordenadas') return leido
    }
    const url = new URL(actual)
    if (url.protocol !== 'https:') return { tipo: 'sin_coordenadas' }
    // The fragment is never sent, so links that differ only in their fragment are the same step.
    url.hash = ''
    if (vistos.has(url.href)) cortar(false, `El enlace da vueltas: «${url.host}» volvió a un paso anterior.`)
    vistos.add(url.href)
    const siguiente = consentimiento ?? (await visitar(url, vistos, camino))
    if (siguiente === null) return { tipo: 'sin_coordenadas' }
    actual = siguiente
  }
  return cortar(false, `El enlace da más de ${SALTOS_MAXIMOS} saltos antes de llegar a un punto.`)
}

/** Requests one step and returns the next link; null if the step is the last one. */
async function visitar(url: URL, vistos: ReadonlySet<string>, camino: Camino): Promise<string | null> {
  const respuesta = await pedir(url, camino)
  try {
    const { statusCode = 0, headers } = respuesta
    if ([301, 302, 303, 307, 308].includes(statusCode)) return seguir(headers.location, url)
    if (statusCode < 200 || statusCode >= 300) cortarPorStatus(statusCode, url.host)
    if (!esHtml(respuesta)) return null
    const objetivos = pageTargets(await leerPagina(respuesta), url)
    return elegir(objetivos, vistos, camino.hosts)
  } finally {
    // Closes the connection without downloading the rest of the body.
    respuesta.destroy()
  }
}

/**
 * Parses a redirect target in the same way as the HTTP client. The URL that is checked is then the URL that is
 * requested.
 */
function seguir(location: string | undefined, base: URL): string {
  // Node decodes the bytes of a header as Latin-1, so UTF-8 must be restored.
  const texto = Buffer.from(location ?? '', 'latin1').toString('utf8')
  const url = location ? URL.parse(texto, base.href) : null
  if (!url) cortar(false, `«${base.host}» redirige sin decir adónde: pida otro enlace.`)
  // Google's robot check is about this server and not about the link. It ends by itself, so the failure is temporary.
  if (url.pathname.startsWith('/sorry/') && coincide(url, ['www.google.*', 'google.*'])) {
    cortar(true, 'Google pidió comprobar que no somos un robot (demasiadas consultas): se volverá a intentar.')
  }
  return url.href
}

/**
 * Chooses the next link among the targets that a page mentions. Skips visited targets and targets that are not an
 * admitted map. Prefers a target with coordinates.
 */
function elegir(objetivos: readonly string[], vistos: ReadonlySet<string>, hosts: readonly string[]): string | null {
  const nuevos = objetivos.filter((objetivo) => !vistos.has(objetivo.replace(/#.*/s, '')) && coincide(objetivo, hosts))
  return nuevos.find((objetivo) => readLinkedPlace(objetivo, hosts).tipo === 'coordenadas') ?? nuevos[0] ?? null
}

/**
 * Returns the target of Google's cookie notice, which appears in Europe; null for any other link. The link itself
 * contains the target, so no request is necessary.
 */
function trasConsentimiento(enlace: string): string | null {
  if (!/^https:/i.test(enlace) || !coincide(enlace, ['consent.google.*'])) return null
  const continua = URL.parse(new URL(enlace).searchParams.get('continue') ?? '')
  return continua?.href ?? cortar(false, 'El aviso de cookies de Google no dice adónde sigue: pida otro enlace.')
}

function coincide(enlace: string | URL, hosts: readonly string[]): boolean {
  try {
    readMapLink(String(enlace), hosts)
    return true
  } catch {
    return false
  }
}

// --- One HTTP request ---

// The headers contain no data about the merchant and no referrer. They ask for uncompressed content, because nothing
// here decompresses a body.
const CABECERAS = {
  accept: 'text/html',
  'accept-encoding': 'identity',
  'accept-language': 'es',
  'user-agent': 'guias/1.0',
}

async function pedir(url: URL, { resolver, contexto, signal }: Camino): Promise<IncomingMessage> {
  const direcciones = await resolveDestination(url, { resolver, loopback: false })
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  https
    .request(url, {
      headers: { host: url.host, ...CABECERAS },
      maxHeaderSize: 16_384,
      signal,
      // Each step opens its own connection, so that it uses only the addresses that were checked for this step.
      createConnection: () => conectar(hostOf(url), direcciones, contexto),
    })
    // An `error` event before the body is read would otherwise have no listener.
    .on('response', (respuesta: IncomingMessage) => resolve(respuesta.on('error', () => {})))
    .on('error', reject)
    .end()
  return promise
}

function conectar(nombre: string, direcciones: readonly Address[], secureContext: tls.SecureContext): tls.TLSSocket {
  // Uses only the checked addresses, because a second DNS lookup may return others.
  const lookup: LookupFunction = (_nombre, _opciones, responder) => responder(null, [...direcciones])
  const opciones = {
    host: nombre,
    servername: nombre,
    port: 443,
    lookup,
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    autoSelectFamily: true,
  }
  return tls.connect(opciones)
}

/**
 * Reports whether a response is uncompressed HTML. A compressed page counts as unreadable, because the request asks for
 * uncompressed content.
 */
const esHtml = ({ headers }: IncomingMessage): boolean =>
  /^(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '') &&
  (headers['content-encoding'] ?? 'identity') === 'identity'

async function leerPagina(respuesta: IncomingMessage): Promise<string> {
  const trozos: Buffer[] = []
  let bytes = 0
  for await (const trozo of respuesta as AsyncIterable<Buffer>) {
    trozos.push(trozo)
    bytes += trozo.length
    if (bytes >= BYTES_DE_PAGINA) break
  }
  return Buffer.concat(trozos).subarray(0, BYTES_DE_PAGINA).toString('utf8')
}

// --- Failures of a resolution ---

function cortar(pasajera: boolean, motivo: string): never {
  throw new CaminoCortado(pasajera, motivo)
}

function cortarPorStatus(status: number, host: string): never {
  if (status === 404 || status === 410) cortar(false, 'El enlace corto no existe o venció: pida otro.')
  if (status === 408 || status === 429 || status >= 500) {
    cortar(true, `«${host}» respondió ${status}: se volverá a intentar.`)
  }
  cortar(false, `«${host}» respondió ${status}: compruebe el enlace en un navegador o pida otro.`)
}

function contar(error: unknown): ResolvedLink {
  const falla = (pasajera: boolean, motivo: string): ResolvedLink => ({ tipo: 'falla', pasajera, motivo })
  if (error instanceof CaminoCortado) return falla(error.pasajera, error.message)
  if (error instanceof MapLinkError) return falla(false, `El enlace lleva adonde no se admite. ${error.message}`)
  if (error instanceof ForbiddenDestination) {
    return error.motivo === 'url_no_resuelve'
      ? falla(true, 'El nombre del mapa no se resolvió en el DNS: se volverá a intentar.')
      : falla(false, 'El nombre del mapa lleva a una dirección que no es pública: revise el DNS del servidor.')
  }
  const { code = 'sin código' } = error as NodeJS.ErrnoException
  return falla(true, `No se pudo consultar el mapa (${code}): se volverá a intentar.`)
}
