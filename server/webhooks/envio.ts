import net from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import tls from 'node:tls'
import { Client, type Dispatcher } from 'undici'
import { anfitrion, DestinoNoPermitido, leerDestino, type Politica, type Resolver, resolverDestino } from './destino.ts'

// One POST to a receiver that may be slow, broken or hostile: bounded in time and in bytes, whatever it does, and never
// an exception. The receiver belongs to a merchant, so all that goes wrong is told in the merchant's words.

export type ErrorDeEnvio =
  | 'http'
  | 'redireccion'
  | 'tiempo_agotado'
  | 'dns'
  | 'conexion'
  | 'tls'
  | 'destino_no_permitido'
  | 'respuesta_invalida'

export interface Solicitud {
  /** The endpoint's key: connections are never shared between endpoints. */
  canal: string
  url: string
  /** Lower-case names. */
  cabeceras: Readonly<Record<string, string>>
  cuerpo: string
  /** Admits http on loopback. */
  loopback: boolean
}

export interface Respuesta {
  status: number | null
  /** null exactly when the status is 2xx. */
  error: ErrorDeEnvio | null
  /** For the merchant; null on success. */
  detalle: string | null
  /** Lower-case names, at most 40 and 4 KB in all; what may be a secret is '***'. */
  cabeceras: Record<string, string> | null
  /** The first bytes as UTF-8, U+FFFD for what isn't, without NUL; null when no answer came. */
  cuerpo: string | null
  /** The body didn't end where `cuerpo` does: it was longer, or was cut by the deadline or by the receiver. */
  cuerpo_truncado: boolean
  retry_after: string | null
  /** The address that was connected to. */
  ip: string | null
  /** How long each phase took; null on a reused connection. */
  dns_ms: number | null
  conexion_ms: number | null
  tls_ms: number | null
  /** From the start of the attempt. */
  primer_byte_ms: number | null
  total_ms: number
}

export interface Enviador {
  /** Never rejects. */
  enviar(solicitud: Solicitud): Promise<Respuesta>
  /** What is under way ends at once, as an error of the connection. */
  cerrar(): Promise<void>
}

interface OpcionesDeEnvio {
  resolver: Resolver
  /** For everything from DNS to the last byte, in ms. */
  plazo?: number
  /** Of the answer's body, in bytes. */
  maximo?: number
  /** Trusted instead of the well-known authorities, in PEM. */
  ca?: string
}

export function crearEnviador({ resolver, plazo = 15_000, maximo = 16_384, ca }: OpcionesDeEnvio): Enviador {
  const contexto = tls.createSecureContext({ ca })
  const reserva = crearReserva((conexion, url, loopback) =>
    abrirSocket(conexion, url, { resolver, loopback }, contexto),
  )
  return {
    enviar: (solicitud) => intercambiar(solicitud, reserva, { plazo, maximo }),
    cerrar: () => reserva.cerrar(),
  }
}

// --- One exchange ---

interface Limites {
  plazo: number
  maximo: number
}

/** What has come of the answer so far. */
interface Llegado {
  status: number | null
  cabeceras: Cabeceras
  trozos: Buffer[]
  bytes: number
  completo: boolean
  primerByte: number | null
}

const AVISOS_MAXIMOS = 16
const AGOTADO = new Error('the deadline passed')
const INTERRUMPIDO = new Error('the sender was closed')
const CUERPO_LARGO = new Error('the body is longer than what is kept')
const DEMASIADOS_AVISOS = new Error('too many 1xx answers')

function intercambiar(solicitud: Solicitud, reserva: Reserva, { plazo, maximo }: Limites): Promise<Respuesta> {
  const inicio = performance.now()
  const llegado: Llegado = { status: null, cabeceras: {}, trozos: [], bytes: 0, completo: false, primerByte: null }
  const { promise, resolve } = Promise.withResolvers<Respuesta>()
  let conexion: Conexion | null = null
  let terminado = false

  // The first to call it decides: the end of the answer, an error, the deadline or the closing of the sender.
  const terminar: Terminar = (causa) => {
    if (terminado) return
    terminado = true
    clearTimeout(reloj)
    resolve(redactar(llegado, causa, conexion, inicio))
    if (!conexion) return
    if (llegado.completo) reserva.soltar(conexion)
    else reserva.desechar(conexion)
  }
  const reloj = setTimeout(terminar, plazo, AGOTADO)

  const despachar = (url: URL, nueva: Conexion): void => {
    conexion = nueva
    const fallar = (error: Error) => {
      // The receiver may have closed an idle connection just as we took it: it hasn't seen this request.
      const caduca = nueva.reutilizada && llegado.primerByte === null && esCierre(error)
      if (terminado || !caduca) return terminar(error)
      reserva.desechar(nueva)
      despachar(url, reserva.abrir(solicitud, url, terminar))
    }
    nueva.cliente.dispatch(peticion(solicitud, url), lector(llegado, maximo, terminar, fallar))
  }

  try {
    const url = leerDestino(solicitud.url, solicitud)
    despachar(url, reserva.tomar(solicitud, url, terminar))
  } catch (error) {
    terminar(error)
  }
  return promise
}

const peticion = ({ cabeceras, cuerpo }: Solicitud, url: URL): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path: url.pathname + url.search,
  // Nothing is inflated here, whatever the answer claims: a small bomb stays small.
  headers: { ...cabeceras, 'accept-encoding': 'identity' },
  body: cuerpo,
})

function lector(
  llegado: Llegado,
  maximo: number,
  terminar: Terminar,
  fallar: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let avisos = 0
  return {
    onRequestStart() {},
    onResponseStarted() {
      llegado.primerByte ??= performance.now()
    },
    onResponseStart(control, status, cabeceras) {
      if (status >= 200) {
        llegado.status = status
        llegado.cabeceras = cabeceras
      } else if (++avisos > AVISOS_MAXIMOS) control.abort(DEMASIADOS_AVISOS)
    },
    onResponseData(control, trozo) {
      const sobra = llegado.bytes + trozo.length > maximo
      llegado.trozos.push(sobra ? trozo.subarray(0, maximo - llegado.bytes) : trozo)
      llegado.bytes += trozo.length
      if (sobra) control.abort(CUERPO_LARGO)
    },
    onResponseEnd() {
      llegado.completo = true
      terminar(null)
    },
    onResponseError: (_control, error) => fallar(error),
  }
}

// --- What is told of it ---

type Cabeceras = Record<string, string | string[] | undefined>

function redactar(llegado: Llegado, causa: unknown, conexion: Conexion | null, inicio: number): Respuesta {
  const { status, cabeceras, trozos, completo, primerByte } = llegado
  const [error, detalle] = status === null ? porCausa(causa, conexion) : porStatus(status)
  const fases = conexion?.reutilizada ? null : conexion
  const [espera] = [cabeceras['retry-after']].flat()
  return {
    status,
    error,
    detalle,
    cabeceras: status === null ? null : recortar(cabeceras),
    cuerpo: status === null ? null : leerCuerpo(trozos, completo),
    cuerpo_truncado: status !== null && !completo,
    // No date and no number is longer, and it isn't for us to keep 16 KB of it.
    retry_after: espera?.slice(0, 200) ?? null,
    ip: conexion?.ip ?? null,
    dns_ms: redondear(fases?.dns),
    conexion_ms: redondear(fases?.tcp),
    tls_ms: redondear(fases?.tls),
    primer_byte_ms: redondear(primerByte && primerByte - inicio),
    total_ms: redondear(performance.now() - inicio),
  }
}

function redondear(ms: number): number
function redondear(ms: number | null | undefined): number | null
function redondear(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.round(ms * 10) / 10
}

const CABECERAS_MAXIMAS = 40
const BYTES_DE_CABECERAS = 4096
const SECRETA = /^(?:authorization|www-authenticate|proxy-.*)$|token|secret|key|cookie/

/** What fits: a header that doesn't is left out, the ones after it may still fit. */
function recortar(cabeceras: Cabeceras): Record<string, string> {
  const elegidas: [string, string][] = []
  let quedan = BYTES_DE_CABECERAS
  for (const [nombre, valor = ''] of Object.entries(cabeceras)) {
    const texto = SECRETA.test(nombre) ? '***' : String(valor)
    const bytes = nombre.length + Buffer.byteLength(texto)
    if (bytes > quedan) continue
    quedan -= bytes
    if (elegidas.push([nombre, texto]) === CABECERAS_MAXIMAS) break
  }
  // Not by assignment: a header may be called __proto__.
  return Object.fromEntries(elegidas)
}

function leerCuerpo(trozos: Buffer[], completo: boolean): string {
  const bytes = Buffer.concat(trozos)
  // Where we cut it, half a character at the end is no fault of the receiver's: the decoder holds it back.
  const texto = completo ? bytes.toString('utf8') : new StringDecoder('utf8').write(bytes)
  return texto.replaceAll('\0', '')
}

type Veredicto = [ErrorDeEnvio, string] | [null, null]

function porStatus(status: number): Veredicto {
  if (status >= 200 && status < 300) return [null, null]
  if (status >= 300 && status < 400) {
    return [
      'redireccion',
      `El receptor respondió ${status}, una redirección, y los webhooks no las siguen: registre la dirección final.`,
    ]
  }
  return ['http', `El receptor respondió ${status} en lugar de 2xx: ${remedio(status)}.`]
}

function remedio(status: number): string {
  if (status === 401 || status === 403) return 'admita la solicitud sin sesión ni permisos y compruebe su firma'
  if (status === 404 || status === 405) return 'revise que la dirección exista y admita POST'
  if (status === 410) return 'con ello pidió no recibir más webhooks'
  if (status === 429) return 'pidió recibir menos por segundo'
  return status >= 500 ? 'revise los registros del receptor' : 'revise por qué rechaza la solicitud'
}

const ALCANZADO = {
  dns: 'no se resolvió su nombre',
  tcp: 'no se pudo conectar con él',
  tls: 'no terminó de establecer la conexión segura (TLS)',
  lista: 'no terminó de enviar las cabeceras de su respuesta',
}

function porCausa(causa: unknown, conexion: Conexion | null): Veredicto {
  if (causa instanceof DestinoNoPermitido) {
    return [causa.motivo === 'url_no_resuelve' ? 'dns' : 'destino_no_permitido', causa.message]
  }
  const fase = conexion?.fase ?? 'dns'
  if (causa === AGOTADO) {
    return [
      'tiempo_agotado',
      `Se agotó el plazo del receptor: ${ALCANZADO[fase]}. Revise que esté en línea y responda pronto.`,
    ]
  }
  if (causa === INTERRUMPIDO) return ['conexion', 'El envío se interrumpió porque el servicio se detuvo: se repetirá.']
  const { code = '' } = causa as NodeJS.ErrnoException
  if (fase === 'tls' || code.startsWith('ERR_SSL')) return ['tls', FALLAS_TLS[code] ?? otraFallaTls(code)]
  if (fase === 'lista' && !esCierre(causa)) return ['respuesta_invalida', invalida(causa, code)]
  return ['conexion', FALLAS_DE_RED[code] ?? (fase === 'lista' ? CERRADA : SIN_CONEXION)]
}

const ENTREGUE_CADENA = 'instale uno de una autoridad reconocida, con su cadena completa.'
const FALLAS_TLS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'El certificado del receptor venció: renuévelo.',
  CERT_NOT_YET_VALID: 'El certificado del receptor todavía no es válido: revise sus fechas.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'El certificado del receptor es de otro nombre: instale uno que incluya su dominio.',
  DEPTH_ZERO_SELF_SIGNED_CERT: `El certificado del receptor es autofirmado: ${ENTREGUE_CADENA}`,
  SELF_SIGNED_CERT_IN_CHAIN: `El certificado del receptor es de una autoridad propia: ${ENTREGUE_CADENA}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `No se reconoce a quien emitió el certificado: ${ENTREGUE_CADENA}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `No se pudo verificar el certificado del receptor: ${ENTREGUE_CADENA}`,
}
const otraFallaTls = (code: string): string =>
  `No se pudo establecer la conexión segura (TLS${code && `, ${code}`}): revise el certificado y el puerto del receptor.`

const CERRADA = 'El receptor cerró la conexión sin responder: revise que esté en línea y sus registros.'
const SIN_CONEXION = 'No se pudo conectar con el receptor: revise que esté en línea y que su cortafuegos lo permita.'
const SIN_RUTA = 'No hay ruta hasta el receptor: revise que su dirección sea pública y esté en línea.'
const PROPIA = 'El servicio no pudo abrir la conexión por una falla propia, no del receptor: el envío se repetirá.'
const FALLAS_DE_RED: Record<string, string> = {
  ECONNREFUSED: 'El receptor rechazó la conexión: revise que esté en línea y escuche en ese puerto.',
  EHOSTUNREACH: SIN_RUTA,
  ENETUNREACH: SIN_RUTA,
  EMFILE: PROPIA,
  ENFILE: PROPIA,
  ENOBUFS: PROPIA,
  EADDRNOTAVAIL: PROPIA,
}

function invalida(causa: unknown, code: string): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'La respuesta lleva más de 16 KB de cabeceras: redúzcalas.'
  if (causa === DEMASIADOS_AVISOS) return 'El receptor envió demasiadas respuestas 1xx: responda 2xx directamente.'
  return 'El receptor no respondió con HTTP/1.1 válido: revise qué servicio escucha en ese puerto.'
}

/** As opposed to an answer that can't be understood. */
function esCierre(error: unknown): boolean {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  return syscall !== undefined || code === 'ECONNRESET' || (code === 'UND_ERR_SOCKET' && /closed/.test(message))
}

// --- Connections ---

interface Conexion {
  /** Endpoint and origin. */
  clave: string
  cliente: Client
  socket: net.Socket | null
  /** Ends the exchange under way; null while idle. */
  interrumpir: Terminar | null
  /** It has served an exchange before the present one. */
  reutilizada: boolean
  desechada: boolean
  fase: keyof typeof ALCANZADO
  ip: string | null
  dns: number | null
  tcp: number | null
  tls: number | null
}

/** With what went wrong; null when the answer is whole. */
type Terminar = (causa: unknown) => void
type AbrirSocket = (conexion: Conexion, url: URL, loopback: boolean) => Promise<net.Socket>

interface Reserva {
  /** An idle connection of the endpoint's, or else a new one. */
  tomar(solicitud: Solicitud, url: URL, interrumpir: Terminar): Conexion
  abrir(solicitud: Solicitud, url: URL, interrumpir: Terminar): Conexion
  soltar(conexion: Conexion): void
  desechar(conexion: Conexion): void
  cerrar(): Promise<void>
}

const SIN_ABRIR = { socket: null, reutilizada: false, fase: 'dns', ip: null, dns: null, tcp: null, tls: null } as const
// The deadline is ours, over everything. Idle connections close by the client's own timer, or sooner where the receiver
// announces it; and one that is never idle is renewed now and then, for its name may have moved.
const OPCIONES = {
  allowH2: false,
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 8000,
  keepAliveMaxTimeout: 8000,
  keepAliveTimeoutThreshold: 1000,
  maxHeaderSize: 16_384,
  maxRequestsPerClient: 1000,
}

/** Idle ones of all endpoints together: each is a file descriptor. */
const OCIOSAS_MAXIMAS = 1000

/** Holds only connections in use and idle ones that are still open, so that endpoints long silent cost nothing. */
function crearReserva(abrirSocket: AbrirSocket): Reserva {
  const abiertas = new Set<Conexion>()
  const libres = new Map<string, Conexion[]>()
  // The one idle for longest first.
  const ociosas = new Set<Conexion>()
  let cerrada = false

  const claveDe = ({ canal }: Solicitud, url: URL) => `${canal} ${url.origin}`

  const abrir: Reserva['abrir'] = (solicitud, url, interrumpir) => {
    if (cerrada) throw INTERRUMPIDO
    // Not all of `solicitud`: its body would live as long as the connection.
    const { loopback } = solicitud
    const cliente = new Client(url.origin, {
      ...OPCIONES,
      connect: (_opciones, avisar) => {
        abrirSocket(conexion, url, loopback).then(
          (socket) => avisar(null, socket),
          (error) => avisar(error, null),
        )
      },
    })
    const clave = claveDe(solicitud, url)
    const conexion: Conexion = { ...SIN_ABRIR, clave, cliente, interrumpir, desechada: false }
    cliente.on('disconnect', (_origen, _clientes, error) => {
      if (!conexion.interrumpir) desechar(conexion)
      // A receiver that talks or closes before it was asked: the client would reconnect for as long as it does so. Only
      // an idle socket that turns out to be closed is worth that, once.
      else if (!conexion.reutilizada) conexion.interrumpir(error)
    })
    abiertas.add(conexion)
    return conexion
  }

  const tomar: Reserva['tomar'] = (solicitud, url, interrumpir) => {
    const disponibles = libres.get(claveDe(solicitud, url))
    // The last one first, so that those in excess fall idle. A destroyed socket leaves with its 'disconnect'.
    for (let conexion = disponibles?.pop(); conexion; conexion = disponibles?.pop()) {
      ociosas.delete(conexion)
      if (conexion.socket?.destroyed) continue
      conexion.interrumpir = interrumpir
      return conexion
    }
    return abrir(solicitud, url, interrumpir)
  }

  const soltar: Reserva['soltar'] = (conexion) => {
    conexion.interrumpir = null
    conexion.reutilizada = true
    const iguales = libres.get(conexion.clave)
    if (iguales) iguales.push(conexion)
    else libres.set(conexion.clave, [conexion])
    const [masAntigua] = ociosas.add(conexion)
    if (masAntigua && ociosas.size > OCIOSAS_MAXIMAS) desechar(masAntigua)
  }

  const desechar: Reserva['desechar'] = (conexion) => {
    if (!abiertas.delete(conexion)) return
    conexion.desechada = true
    ociosas.delete(conexion)
    const iguales = libres.get(conexion.clave) ?? []
    const i = iguales.indexOf(conexion)
    if (i >= 0) iguales.splice(i, 1)
    if (iguales.length === 0) libres.delete(conexion.clave)
    conexion.cliente.destroy(() => {})
    // While it connects, the client doesn't know it yet.
    conexion.socket?.destroy()
  }

  const cerrar = async () => {
    cerrada = true
    const cierres = [...abiertas].map((conexion) => {
      const { socket } = conexion
      conexion.interrumpir?.(INTERRUMPIDO)
      desechar(conexion)
      return socket && !socket.closed && new Promise((resolve) => socket.once('close', resolve))
    })
    await Promise.all(cierres)
  }

  return { abrir, tomar, soltar, desechar, cerrar }
}

async function abrirSocket(
  conexion: Conexion,
  url: URL,
  politica: Politica,
  secureContext: tls.SecureContext,
): Promise<net.Socket> {
  Object.assign(conexion, SIN_ABRIR)
  let hasta = performance.now()
  const medir = () => {
    const desde = hasta
    hasta = performance.now()
    return hasta - desde
  }
  const direcciones = await resolverDestino(url, politica)
  conexion.dns = medir()
  if (conexion.desechada) throw INTERRUMPIDO
  conexion.fase = 'tcp'
  const segura = url.protocol === 'https:'
  const nombre = anfitrion(url)
  // The addresses that were checked and no others. It isn't asked about a literal, which was checked as it stands.
  const lookup: net.LookupFunction = (_nombre, _opciones, responder) => responder(null, [...direcciones])
  const opciones = {
    host: nombre,
    port: Number(url.port || (segura ? 443 : 80)),
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2000,
    noDelay: true,
  }
  const servername = net.isIP(nombre) ? '' : nombre
  const socket = segura
    ? tls.connect({ ...opciones, servername, secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
    : net.connect(opciones)
  conexion.socket = socket
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>()
  // The listener for errors stays: between here and the client's own, none may go unheard.
  socket.on('error', reject).once('close', () => reject(INTERRUMPIDO))
  socket.once('connect', () => {
    conexion.tcp = medir()
    conexion.ip = socket.remoteAddress ?? null
    conexion.fase = segura ? 'tls' : 'lista'
    if (!segura) resolve(socket)
  })
  socket.once('secureConnect', () => {
    conexion.tls = medir()
    conexion.fase = 'lista'
    resolve(socket)
  })
  return promise
}
