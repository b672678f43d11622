import net from 'node:net'
import tls from 'node:tls'
import { Client } from 'undici'
import { anfitrion, type Politica, resolverDestino } from '../salida/destino.ts'

// One connection per exchange and endpoint, never shared: kept for a while, checked when it is opened.

/** The cause that an exchange ends with when whoever sends is closed. */
export const INTERRUMPIDO = new Error('the sender was closed')

/** The endpoint for which a connection is wanted. */
export interface Titular {
  /** The endpoint's key: connections are never shared between endpoints. */
  canal: string
  /** Whether http on loopback is admitted. */
  loopback: boolean
}

export interface Conexion {
  /** What a connection serves: an endpoint at an origin. */
  clave: string
  cliente: Client
  socket: net.Socket | null
  /** Ends the exchange under way; null while idle. */
  interrumpir: Terminar | null
  /** Whether the connection has served an exchange before the present one. */
  reutilizada: boolean
  desechada: boolean
  /** How far the connection has come in being made. */
  fase: 'dns' | 'tcp' | 'tls' | 'lista'
  ip: string | null
  dns: number | null
  tcp: number | null
  tls: number | null
}

/** Ends an exchange with what went wrong, or with null when the answer is whole. */
export type Terminar = (causa: unknown) => void
type AbrirSocket = (conexion: Conexion, url: URL, loopback: boolean) => Promise<net.Socket>

export interface Reserva {
  /** Takes an idle connection of the endpoint's, or else makes a new one. */
  tomar(titular: Titular, url: URL, interrumpir: Terminar): Conexion
  abrir(titular: Titular, url: URL, interrumpir: Terminar): Conexion
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

/**
 * Makes a reserve that holds only connections in use and idle ones that are still open, so that endpoints long silent
 * cost nothing.
 * @param maximas the most idle connections of all endpoints together: each is a file descriptor
 */
export function crearReserva(abrirSocket: AbrirSocket, maximas: number): Reserva {
  const abiertas = new Set<Conexion>()
  const libres = new Map<string, Conexion[]>()
  // The one idle for longest first.
  const ociosas = new Set<Conexion>()
  let cerrada = false

  const claveDe = ({ canal }: Titular, url: URL) => `${canal} ${url.origin}`

  const abrir: Reserva['abrir'] = (titular, url, interrumpir) => {
    if (cerrada) throw INTERRUMPIDO
    // Not all of `titular`: what else is in it, a body, would live as long as the connection.
    const { loopback } = titular
    const cliente = new Client(url.origin, {
      ...OPCIONES,
      connect: (_opciones, avisar) => {
        abrirSocket(conexion, url, loopback).then(
          (socket) => avisar(null, socket),
          (error) => avisar(error, null),
        )
      },
    })
    const clave = claveDe(titular, url)
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

  const tomar: Reserva['tomar'] = (titular, url, interrumpir) => {
    const disponibles = libres.get(claveDe(titular, url))
    // The last one first, so that those in excess fall idle. A destroyed socket leaves with its 'disconnect'.
    for (let conexion = disponibles?.pop(); conexion; conexion = disponibles?.pop()) {
      ociosas.delete(conexion)
      if (conexion.socket?.destroyed) continue
      conexion.interrumpir = interrumpir
      return conexion
    }
    return abrir(titular, url, interrumpir)
  }

  const soltar: Reserva['soltar'] = (conexion) => {
    conexion.interrumpir = null
    conexion.reutilizada = true
    const iguales = libres.get(conexion.clave)
    if (iguales) iguales.push(conexion)
    else libres.set(conexion.clave, [conexion])
    const [masAntigua] = ociosas.add(conexion)
    if (masAntigua && ociosas.size > maximas) desechar(masAntigua)
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

export async function abrirSocket(
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
