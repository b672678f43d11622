import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import tls from 'node:tls'
import { anfitrion, DestinoNoPermitido, type Direccion, type Resolver, resolverDestino } from '../salida/destino.ts'
import { ErrorEnlace, HOSTS_DE_MAPAS, leerEnlace } from './enlaces.ts'
import { objetivosDePagina } from './objetivosDePagina.ts'
import type { Punto } from './punto.ts'

// Follows a short map link until some link on the way names its point. A merchant chose the link and strangers choose
// where it leads, so every step is judged anew: an admitted map, over https on 443, at addresses that are public; and
// however it goes, it is bounded in steps, in bytes and in time.

/** Where a short link led to, or why it led nowhere. */
export type Resuelto =
  | { tipo: 'coordenadas'; coordenadas: Punto }
  | { tipo: 'sin_coordenadas' }
  /** `pasajera`: the same link may work later. The reason is for an operator; it names hosts, never whole links. */
  | { tipo: 'falla'; pasajera: boolean; motivo: string }

/** Follows short map links. */
export interface ResolutorDeEnlaces {
  /** Follows a link to its point; it never rejects. */
  resolver(enlace: string): Promise<Resuelto>
  /** Ends what is under way at once, as a passing failure. */
  cerrar(): Promise<void>
}

interface OpcionesDeResolutor {
  resolver: Resolver
  /** How long the whole walk may take, in milliseconds. */
  plazo?: number
  hosts?: readonly string[]
  /** The authorities, in PEM, that are trusted instead of the well-known ones. */
  ca?: string
}

const SALTOS_MAXIMOS = 5
const BYTES_DE_PAGINA = 65_536

/** What ends a walk without an answer. */
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

export function crearResolutorDeEnlaces(opciones: OpcionesDeResolutor): ResolutorDeEnlaces {
  const { resolver, plazo = 10_000, hosts = HOSTS_DE_MAPAS, ca } = opciones
  const contexto = tls.createSecureContext({ ca })
  const enCurso = new Set<AbortController>()
  let cerrado = false

  async function resolverEnlace(enlace: string): Promise<Resuelto> {
    if (cerrado) return contar(CERRADO)
    const control = new AbortController()
    const reloj = setTimeout(() => control.abort(AGOTADO), plazo)
    enCurso.add(control)
    try {
      const camino = { resolver, hosts, contexto, signal: control.signal }
      // Whoever doesn't heed the signal (a DNS lookup can't be cancelled) is not waited for.
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

// --- The walk ---

interface Camino {
  resolver: Resolver
  hosts: readonly string[]
  contexto: tls.SecureContext
  signal: AbortSignal
}

async function recorrer(enlace: string, camino: Camino): Promise<Resuelto> {
  const vistos = new Set<string>()
  let actual = enlace
  for (let saltos = 0; saltos <= SALTOS_MAXIMOS; saltos++) {
    const consentimiento = trasConsentimiento(actual)
    if (!consentimiento) {
      const leido = leerEnlace(actual, camino.hosts)
      if (leido.tipo === 'coordenadas') return leido
    }
    const url = new URL(actual)
    if (url.protocol !== 'https:') return { tipo: 'sin_coordenadas' }
    // Never sent, and so no difference.
    url.hash = ''
    if (vistos.has(url.href)) cortar(false, `El enlace da vueltas: «${url.host}» volvió a un paso anterior.`)
    vistos.add(url.href)
    const siguiente = consentimiento ?? (await visitar(url, vistos, camino))
    if (siguiente === null) return { tipo: 'sin_coordenadas' }
    actual = siguiente
  }
  return cortar(false, `El enlace da más de ${SALTOS_MAXIMOS} saltos antes de llegar a un punto.`)
}

/** Where a step leads; null where it ends. */
async function visitar(url: URL, vistos: ReadonlySet<string>, camino: Camino): Promise<string | null> {
  const respuesta = await pedir(url, camino)
  try {
    const { statusCode = 0, headers } = respuesta
    if ([301, 302, 303, 307, 308].includes(statusCode)) return seguir(headers.location, url)
    if (statusCode < 200 || statusCode >= 300) cortarPorStatus(statusCode, url.host)
    if (!esHtml(respuesta)) return null
    const objetivos = objetivosDePagina(await leerPagina(respuesta), url)
    return elegir(objetivos, vistos, camino.hosts)
  } finally {
    // Whatever wasn't read stays unread.
    respuesta.destroy()
  }
}

/** The target as the client itself will read it: what is judged is then what is connected to. */
function seguir(location: string | undefined, base: URL): string {
  // Node gives the bytes of a header as Latin-1.
  const texto = Buffer.from(location ?? '', 'latin1').toString('utf8')
  const url = location ? URL.parse(texto, base.href) : null
  if (!url) cortar(false, `«${base.host}» redirige sin decir adónde: pida otro enlace.`)
  // Google's test for robots. It is about this server, not about the link, and it ends by itself.
  if (url.pathname.startsWith('/sorry/') && coincide(url, ['www.google.*', 'google.*'])) {
    cortar(true, 'Google pidió comprobar que no somos un robot (demasiadas consultas): se volverá a intentar.')
  }
  return url.href
}

/** What a page says is a hint, and pages say much: what isn't an admitted map, or was seen, is passed over. */
function elegir(objetivos: readonly string[], vistos: ReadonlySet<string>, hosts: readonly string[]): string | null {
  const nuevos = objetivos.filter((objetivo) => !vistos.has(objetivo.replace(/#.*/s, '')) && coincide(objetivo, hosts))
  return nuevos.find((objetivo) => leerEnlace(objetivo, hosts).tipo === 'coordenadas') ?? nuevos[0] ?? null
}

/** The cookie notice, which stands between in Europe, tells where it would lead on: no need to visit it. */
function trasConsentimiento(enlace: string): string | null {
  if (!/^https:/i.test(enlace) || !coincide(enlace, ['consent.google.*'])) return null
  const continua = URL.parse(new URL(enlace).searchParams.get('continue') ?? '')
  return continua?.href ?? cortar(false, 'El aviso de cookies de Google no dice adónde sigue: pida otro enlace.')
}

function coincide(enlace: string | URL, hosts: readonly string[]): boolean {
  try {
    leerEnlace(String(enlace), hosts)
    return true
  } catch {
    return false
  }
}

// --- One request ---

// Nothing tells who asks or from where he came, and what is asked for is plain text: nothing here gets inflated.
const CABECERAS = {
  accept: 'text/html',
  'accept-encoding': 'identity',
  'accept-language': 'es',
  'user-agent': 'guias/1.0',
}

async function pedir(url: URL, { resolver, contexto, signal }: Camino): Promise<IncomingMessage> {
  const direcciones = await resolverDestino(url, { resolver, loopback: false })
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  https
    .request(url, {
      headers: { host: url.host, ...CABECERAS },
      maxHeaderSize: 16_384,
      signal,
      // A connection of its own for each step, so that what was checked now is what is used.
      createConnection: () => conectar(anfitrion(url), direcciones, contexto),
    })
    // Between here and the reading of the body no error may go unheard.
    .on('response', (respuesta: IncomingMessage) => resolve(respuesta.on('error', () => {})))
    .on('error', reject)
    .end()
  return promise
}

function conectar(nombre: string, direcciones: readonly Direccion[], secureContext: tls.SecureContext): tls.TLSSocket {
  // The addresses that were checked and no others: a second answer of the DNS may differ.
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

/** Compressed, though we asked for it not to be, it is as good as none. */
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

// --- What is told of a failure ---

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

function contar(error: unknown): Resuelto {
  const falla = (pasajera: boolean, motivo: string): Resuelto => ({ tipo: 'falla', pasajera, motivo })
  if (error instanceof CaminoCortado) return falla(error.pasajera, error.message)
  if (error instanceof ErrorEnlace) return falla(false, `El enlace lleva adonde no se admite. ${error.message}`)
  if (error instanceof DestinoNoPermitido) {
    return error.motivo === 'url_no_resuelve'
      ? falla(true, 'El nombre del mapa no se resolvió en el DNS: se volverá a intentar.')
      : falla(false, 'El nombre del mapa lleva a una dirección que no es pública: revise el DNS del servidor.')
  }
  const { code = 'sin código' } = error as NodeJS.ErrnoException
  return falla(true, `No se pudo consultar el mapa (${code}): se volverá a intentar.`)
}
