import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** IPv4, as itself or as systems write it in IPv6, with the port that some proxies add. */
const V4 = /^(?:\[?::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})\]?(?::\d+)?$/i
/** IPv6 in the brackets that go with a port. */
const V6 = /^\[([\da-f:]+)\](?::\d+)?$/i
/** What begins IPv4 written as IPv6. */
const V4_EN_V6 = /^[0:]+:ffff:/i

/** An address without its port, and IPv4 as IPv4, however it came to us. */
function direccionDe(texto: string): string {
  if (!texto.includes(':')) return texto
  const v4 = V4.exec(texto)?.[1]
  if (v4 !== undefined) return v4
  const ip = V6.exec(texto)?.[1] ?? texto
  return V4_EN_V6.test(ip) && isIP(ip) === 6 ? ipaddr.process(ip).toString() : ip
}

/** The network of an address, whose requests are counted together: an IPv6 subscriber has a whole /64 to call from. */
export function redDe(texto: string): string {
  const ip = direccionDe(texto)
  if (ip.includes('.')) return ip
  // `::` stands for as many zeros as are missing, and the first four groups may be among them.
  const [antes = '', despues] = ip.split('::').map((parte) => parte.split(':').filter(Boolean))
  const ceros = despues ? Math.max(0, 8 - antes.length - despues.length) : 0
  return [...antes, ...Array(ceros).fill('0'), ...(despues ?? [])].slice(0, 4).join(':')
}

/** A /64 as {@link redDe} writes it. */
const RED_DE_64 = /^[\da-f]{0,4}(?::[\da-f]{0,4}){3}$/i

/** The /48 of an IPv6 network as {@link redDe} writes it; undefined for IPv4 and for any other text. */
export const sitioDe = (red: string): string | undefined =>
  RED_DE_64.test(red) ? `${red.split(':').slice(0, 3).join(':')}::/48` : undefined

/** A network that names nobody: the /24 or /48 around what {@link redDe} gives; null for what is no network. */
export function redAncha(red: string): string | null {
  const [, corta] = /(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(red) ?? []
  if (corta !== undefined) return `${corta}.0/24`
  return sitioDe(red) ?? null
}

/** A network: an address and how many of its bits are the network's. */
export type Rango = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Bits before the IPv4 address in an IPv6 address that holds one (`::ffff:203.0.113.7`, RFC 4291, 2.5.5.2). */
const BITS_ANTES_DE_IPV4 = 96

const esIpv4EnIpv6 = (ip: Rango[0]): ip is ipaddr.IPv6 => ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress()

/** An IPv4 network written as IPv6 becomes IPv4, because callers' addresses are compared as IPv4. */
function conIpv4([ip, bits]: Rango): Rango {
  if (!esIpv4EnIpv6(ip) || bits < BITS_ANTES_DE_IPV4) return [ip, bits]
  return [ip.toIPv4Address(), bits - BITS_ANTES_DE_IPV4]
}

/** Why a text is not a network that a key can be bound to. */
export type FallaDeRango = 'no_es_red' | 'prefijo_de_ipv4'

/**
 * Writes a network in its canonical form (`203.0.113.7/24` → `203.0.113.0/24`); an address alone is a network of one.
 * `::ffff:203.0.113.7/120` becomes `203.0.113.0/24`; with less than 96 bits it is refused, for it is neither IPv4 nor IPv6.
 */
export function normalizarRango(texto: string): { red: string } | { falla: FallaDeRango } {
  const [ip = '', bits = isIP(texto) === 4 ? '32' : '128', ...mas] = texto.split('/')
  const clase = { 4: ipaddr.IPv4, 6: ipaddr.IPv6 }[isIP(ip)]
  if (!clase || mas.length > 0 || Number(bits) > (isIP(ip) === 4 ? 32 : 128)) return { falla: 'no_es_red' }
  const direccion = clase.parse(ip)
  if (esIpv4EnIpv6(direccion) && Number(bits) < BITS_ANTES_DE_IPV4) return { falla: 'prefijo_de_ipv4' }
  const [red, largo] = conIpv4([direccion, Number(bits)])
  const suya = red instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6
  return { red: `${suya.networkAddressFromCIDR(`${red}/${largo}`)}/${largo}` }
}

/**
 * Reads a stored network. Earlier versions stored IPv4 written as IPv6 as it came, and no address ever matched it.
 * @param texto a network as {@link normalizarRango} writes it, or wrote it before
 */
export const leerRango = (texto: string): Rango => conIpv4(ipaddr.parseCIDR(texto) as Rango)

/** Whether an address is of one of those networks; what is no address is of none. */
export function estaEn(texto: string, rangos: readonly Rango[]): boolean {
  const ip = direccionDe(texto)
  if (isIP(ip) === 0) return false
  const direccion = ipaddr.parse(ip)
  return rangos.some(([red, bits]) => red.kind() === direccion.kind() && direccion.match([red, bits]))
}
