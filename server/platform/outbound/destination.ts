import { lookup, Resolver } from 'node:dns/promises'
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
export type HostResolver = (name: string) => Promise<readonly Address[]>

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
  constructor(motivo: ForbiddenDestination['motivo'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.motivo = motivo
  }
}

const MAX_URL_LENGTH = 2048
/** Time limit of each of the two DNS attempts, in milliseconds. */
const DNS_TIMEOUT_MS = 2_500
const dnsResolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })

/**
 * Resolves a name by DNS queries, without the system's `getaddrinfo`. That function blocks one of the few threads of
 * the process, so four unanswered names would delay all other lookups and file operations. Only `localhost` uses it,
 * because DNS servers do not know that name.
 */
export const systemResolver: HostResolver = async (name) => {
  if (name === 'localhost') return (await lookup(name, { all: true })) as Address[]
  const [v4, v6] = await Promise.allSettled([dnsResolver.resolve4(name), dnsResolver.resolve6(name)])
  const addresses: Address[] = [
    ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
    ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
  ]
  if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason
  return addresses
}

// The text is checked before the URL parser reads it, because the parser silently drops tabs and line breaks and turns
// `\` into `/`. It also accepts `https:host` and an empty user.
const NO_HTTPS = 'La dirección debe empezar con https:// seguido del dominio: escríbala completa.'
const MALFORMED: readonly [RegExp, string][] = [
  [/^$/, 'La dirección está vacía: escriba una que empiece con https://.'],
  [/[\p{Cc}\p{Cf}\p{Cs}]/u, 'La dirección lleva caracteres de control o invisibles: quítelos.'],
  // The first pattern finds a text without any address. The second one finds an address within other text.
  [/^(?!.*https?:\/\/).*\p{Z}/iu, NO_HTTPS],
  [/\p{Z}/u, 'La dirección lleva espacios: escriba solo la dirección, sin espacios ni más texto.'],
  [/\\/, 'La dirección lleva una barra invertida (\\): use «/» o %5C.'],
  [/^(?!https?:\/\/[^/?#])/i, NO_HTTPS],
  [/^[^:]*:\/\/[^/?#]*@/, 'La dirección lleva usuario o contraseña antes del dominio: quite todo hasta la «@».'],
  [/#/, 'La dirección lleva un fragmento (#), que nunca se envía: quítelo.'],
]

/**
 * Parses an address and makes all checks that need no DNS.
 * @throws ForbiddenDestination if the address is malformed or not allowed
 */
export function readDestination(text: string, policy: Pick<OutboundPolicy, 'loopback'>): URL {
  if (text.length > MAX_URL_LENGTH) refuseTooLong()
  for (const [pattern, message] of MALFORMED) if (pattern.test(text)) refuse(message)
  const url = URL.parse(text)
  if (!url) refuse('La dirección no es válida: revise el dominio y el puerto.')
  // Percent-encoding makes the URL longer, so its length is checked again.
  if (url.href.length > MAX_URL_LENGTH) refuseTooLong()
  judge(url, policy.loopback)
  // The parser writes the host in lower case. Without the final dot, the same endpoint always has the same address.
  url.hostname = url.hostname.replace(/\.$/, '')
  return url
}

/**
 * Returns the addresses of a URL's host, all of them checked. The caller must connect to these addresses and not to the
 * name, because a second lookup may return others.
 * @throws ForbiddenDestination if the name does not resolve or an address is not allowed
 */
export async function resolveDestination(url: URL, policy: OutboundPolicy): Promise<readonly Address[]> {
  judge(url, policy.loopback)
  const name = hostOf(url)
  if (isIP(name)) return [normalize(name)]
  const addresses = await resolveName(name, policy.resolver)
  if (addresses.length === 0) refuseUnresolved(name)
  // `judge` allows http only for loopback. A single forbidden address rejects the name, because the connection could
  // use any of the addresses.
  const requiredReach = url.protocol === 'http:' ? 'loopback' : 'publica'
  if (addresses.some(({ address }) => alcance(address) !== requiredReach)) {
    refuse(`«${name}» lleva a una dirección que no es pública: use un dominio que solo apunte a direcciones públicas.`)
  }
  return addresses.map(({ address }) => normalize(address))
}

async function resolveName(name: string, resolver: HostResolver): Promise<readonly Address[]> {
  try {
    return await resolver(name)
  } catch (cause) {
    return refuseUnresolved(name, { cause })
  }
}

function judge(url: URL, loopback: boolean): void {
  const name = hostOf(url)
  if (loopback && url.protocol === 'http:' && (name === 'localhost' || alcance(name) === 'loopback')) return
  if (url.protocol !== 'https:') refuse('La dirección debe usar https: los webhooks no se envían sin cifrar.')
  if (url.username || url.password || url.hash) refuse('La dirección lleva usuario o fragmento: quítelos.')
  const port = Number(url.port || 443)
  if (port !== 443 && port < 1024) {
    refuse(`El puerto ${port} no se admite: use el 443, el 8443 o uno a partir del 1024.`)
  }
  if (isIP(name) === 0) judgeName(name)
  else if (alcance(name) !== 'publica') {
    refuse(`La dirección ${name} no es pública: use un dominio o una dirección a la que se llegue desde Internet.`)
  }
}

const ETIQUETA = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${ETIQUETA}(?:\\.${ETIQUETA})*$`)
const RESERVED_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa|test|invalid|onion)$/

function judgeName(name: string): void {
  if (!HOST_NAME.test(name)) refuse('El dominio de la dirección está mal escrito: use letras, números, «.» y «-».')
  if (RESERVED_NAME.test(name) || !name.includes('.')) {
    refuse(`«${name}» es un nombre interno, que no existe en Internet: use un dominio público.`)
  }
}

/**
 * Returns the host of a URL as DNS lookups need it: without brackets, and without the final dot of an absolute name.
 */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, '')

// Azure's platform services answer at this address from inside any Azure machine, although the address is in a public
// range.
const AZURE_INTERNAL = '168.63.129.16'

function alcance(direccion: string): 'publica' | 'loopback' | 'otra' {
  const ip = readIp(direccion)
  const range = ip?.range()
  if (range === 'loopback') return 'loopback'
  if (range !== 'unicast' || ip?.toString() === AZURE_INTERNAL) return 'otra'
  // Only addresses in 2000::/3 are assigned. The other ranges that count as unicast embed or translate other addresses,
  // or may do so in the future.
  return ip instanceof ipaddr.IPv6 && (ip.parts[0]! & 0xe000) !== 0x2000 ? 'otra' : 'publica'
}

const normalize = (direccion: string): Address => {
  const ip = readIp(direccion)
  return { address: String(ip), family: ip instanceof ipaddr.IPv6 ? 6 : 4 }
}

/**
 * Parses an IP address. An IPv4-mapped IPv6 address becomes its IPv4 address. Returns null for an address with a zone,
 * and for text that is not an address.
 */
function readIp(direccion: string) {
  const ipVersion = isIP(direccion)
  if (ipVersion === 4) return ipaddr.process(direccion)
  // ipaddr.js reads `::8.8.8.8`, which is not mapped, as `::ffff:8.8.8.8`. The hexadecimal form is unambiguous.
  const host = ipVersion === 6 ? URL.parse(`https://[${direccion}]`)?.hostname : null
  return host ? ipaddr.process(host.slice(1, -1)) : null
}

function refuse(message: string): never {
  throw new ForbiddenDestination('url_no_permitida', message)
}

function refuseTooLong(): never {
  refuse('La dirección pasa de 2,048 caracteres: use una más corta.')
}

function refuseUnresolved(name: string, options?: ErrorOptions): never {
  const message = `El nombre «${name}» no se resuelve en el DNS: revise que esté bien escrito y publicado.`
  throw new ForbiddenDestination('url_no_resuelve', message, options)
}
