import { Resolver as Decision, lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// Policy for outgoing requests to addresses that merchants choose. An address must never lead into the service's own
// network. Each address is checked in the form that is used for the connection, and refused unless it is known to be
// public.

/** IP address for a connection. */
export interface Address {
  address: string
  family: 4 | 6
}

/** Resolves a host name to all its addresses. */
export type HostResolver = (nombre: string) => Promise<readonly Address[]>

/** Policy of outgoing connections: how to resolve names, and whether loopback is allowed. */
export interface OutboundPolicy {
  resolver: HostResolver
  /** Allows http to loopback, on any port (`WEBHOOKS_LOOPBACK`, only for test mode). */
  loopback: boolean
}

/** Error for an address to which the service must not connect. */
export class ForbiddenDestination extends Error {
  override readonly name = 'ForbiddenDestination'
  readonly motivo: 'url_no_permitida' | 'url_no_resuelve'

  /** The message is for the merchant. It states the problem and the remedy. */
  constructor(motivo: ForbiddenDestination['motivo'], mensaje: string, opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.motivo = motivo
  }
}

const LARGO_MAXIMO = 2048
/** Time limit of each of the two DNS attempts, in milliseconds. */
const PLAZO_DNS = 2_500
const consultas = new Decision({ timeout: PLAZO_DNS, tries: 2 })

/**
 * Resolves a name by DNS queries, without the system's `getaddrinfo`. That function blocks one of the few threads of
 * the process, so four unanswered names would delay all other lookups and file operations. Only `localhost` uses it,
 * because DNS servers do not know that name.
 */
export const systemResolver: HostResolver = async (nombre) => {
  if (nombre === 'localhost') return (await lookup(nombre, { all: true })) as Address[]
  const [v4, v6] = await Promise.allSettled([consultas.resolve4(nombre), consultas.resolve6(nombre)])
  const direcciones: Address[] = [
    ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
    ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
  ]
  if (direcciones.length === 0 && v4.status === 'rejected') throw v4.reason
  return direcciones
}

// The text is checked before the URL parser reads it, because the parser silently drops tabs and line breaks and turns
// `\` into `/`. It also accepts `https:host` and an empty user.
const SIN_HTTPS = 'La dirección debe empezar con https:// seguido del dominio: escríbala completa.'
const MAL_ESCRITA: readonly [RegExp, string][] = [
  [/^$/, 'La dirección está vacía: escriba una que empiece con https://.'],
  [/[\p{Cc}\p{Cf}\p{Cs}]/u, 'La dirección lleva caracteres de control o invisibles: quítelos.'],
  // The first pattern finds a text without any address. The second one finds an address within other text.
  [/^(?!.*https?:\/\/).*\p{Z}/iu, SIN_HTTPS],
  [/\p{Z}/u, 'La dirección lleva espacios: escriba solo la dirección, sin espacios ni más texto.'],
  [/\\/, 'La dirección lleva una barra invertida (\\): use «/» o %5C.'],
  [/^(?!https?:\/\/[^/?#])/i, SIN_HTTPS],
  [/^[^:]*:\/\/[^/?#]*@/, 'La dirección lleva usuario o contraseña antes del dominio: quite todo hasta la «@».'],
  [/#/, 'La dirección lleva un fragmento (#), que nunca se envía: quítelo.'],
]

/**
 * Parses an address and makes all checks that need no DNS.
 * @throws ForbiddenDestination if the address is malformed or not allowed
 */
export function readDestination(texto: string, politica: Pick<OutboundPolicy, 'loopback'>): URL {
  if (texto.length > LARGO_MAXIMO) rechazarPorLarga()
  for (const [patron, mensaje] of MAL_ESCRITA) if (patron.test(texto)) rechazar(mensaje)
  const url = URL.parse(texto)
  if (!url) rechazar('La dirección no es válida: revise el dominio y el puerto.')
  // Percent-encoding makes the URL longer, so its length is checked again.
  if (url.href.length > LARGO_MAXIMO) rechazarPorLarga()
  juzgar(url, politica.loopback)
  // The parser writes the host in lower case. Without the final dot, the same endpoint always has the same address.
  url.hostname = url.hostname.replace(/\.$/, '')
  return url
}

/**
 * Returns the addresses of a URL's host, all of them checked. The caller must connect to these addresses and not to the
 * name, because a second lookup may return others.
 * @throws ForbiddenDestination if the name does not resolve or an address is not allowed
 */
export async function resolveDestination(url: URL, politica: OutboundPolicy): Promise<readonly Address[]> {
  juzgar(url, politica.loopback)
  const nombre = hostOf(url)
  if (isIP(nombre)) return [normalizar(nombre)]
  const direcciones = await consultar(nombre, politica.resolver)
  if (direcciones.length === 0) noResuelve(nombre)
  // `juzgar` allows http only for loopback. A single forbidden address rejects the name, because the connection could
  // use any of the addresses.
  const exigido = url.protocol === 'http:' ? 'loopback' : 'publica'
  if (direcciones.some(({ address }) => alcance(address) !== exigido)) {
    rechazar(
      `«${nombre}» lleva a una dirección que no es pública: use un dominio que solo apunte a direcciones públicas.`,
    )
  }
  return direcciones.map(({ address }) => normalizar(address))
}

async function consultar(nombre: string, resolver: HostResolver): Promise<readonly Address[]> {
  try {
    return await resolver(nombre)
  } catch (cause) {
    return noResuelve(nombre, { cause })
  }
}

function juzgar(url: URL, loopback: boolean): void {
  const nombre = hostOf(url)
  if (loopback && url.protocol === 'http:' && (nombre === 'localhost' || alcance(nombre) === 'loopback')) return
  if (url.protocol !== 'https:') rechazar('La dirección debe usar https: los webhooks no se envían sin cifrar.')
  if (url.username || url.password || url.hash) rechazar('La dirección lleva usuario o fragmento: quítelos.')
  const puerto = Number(url.port || 443)
  if (puerto !== 443 && puerto < 1024) {
    rechazar(`El puerto ${puerto} no se admite: use el 443, el 8443 o uno a partir del 1024.`)
  }
  if (isIP(nombre) === 0) juzgarNombre(nombre)
  else if (alcance(nombre) !== 'publica') {
    rechazar(`La dirección ${nombre} no es pública: use un dominio o una dirección a la que se llegue desde Internet.`)
  }
}

const ETIQUETA = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const NOMBRE = new RegExp(`^(?=.{1,253}$)${ETIQUETA}(?:\\.${ETIQUETA})*$`)
const RESERVADO = /(?:^|\.)(?:localhost|local|internal|home\.arpa|test|invalid|onion)$/

function juzgarNombre(nombre: string): void {
  if (!NOMBRE.test(nombre)) rechazar('El dominio de la dirección está mal escrito: use letras, números, «.» y «-».')
  if (RESERVADO.test(nombre) || !nombre.includes('.')) {
    rechazar(`«${nombre}» es un nombre interno, que no existe en Internet: use un dominio público.`)
  }
}

/**
 * Returns the host of a URL as DNS lookups need it: without brackets, and without the final dot of an absolute name.
 */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, '')

// Azure's platform services answer at this address from inside any Azure machine, although the address is in a public
// range.
const INTERNA_DE_AZURE = '168.63.129.16'

function alcance(direccion: string): 'publica' | 'loopback' | 'otra' {
  const ip = leerIp(direccion)
  const rango = ip?.range()
  if (rango === 'loopback') return 'loopback'
  if (rango !== 'unicast' || ip?.toString() === INTERNA_DE_AZURE) return 'otra'
  // Only addresses in 2000::/3 are assigned. The other ranges that count as unicast embed or translate other addresses,
  // or may do so in the future.
  return ip instanceof ipaddr.IPv6 && (ip.parts[0]! & 0xe000) !== 0x2000 ? 'otra' : 'publica'
}

const normalizar = (direccion: string): Address => {
  const ip = leerIp(direccion)
  return { address: String(ip), family: ip instanceof ipaddr.IPv6 ? 6 : 4 }
}

/**
 * Parses an IP address. An IPv4-mapped IPv6 address becomes its IPv4 address. Returns null for an address with a zone,
 * and for text that is not an address.
 */
function leerIp(direccion: string) {
  const familia = isIP(direccion)
  if (familia === 4) return ipaddr.process(direccion)
  // ipaddr.js reads `::8.8.8.8`, which is not mapped, as `::ffff:8.8.8.8`. The hexadecimal form is unambiguous.
  const host = familia === 6 ? URL.parse(`https://[${direccion}]`)?.hostname : null
  return host ? ipaddr.process(host.slice(1, -1)) : null
}

function rechazar(mensaje: string): never {
  throw new ForbiddenDestination('url_no_permitida', mensaje)
}

function rechazarPorLarga(): never {
  rechazar('La dirección pasa de 2,048 caracteres: use una más corta.')
}

function noResuelve(nombre: string, opciones?: ErrorOptions): never {
  const mensaje = `El nombre «${nombre}» no se resuelve en el DNS: revise que esté bien escrito y publicado.`
  throw new ForbiddenDestination('url_no_resuelve', mensaje, opciones)
}
