import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Matches IPv4, plain or written as IPv6 (`::ffff:203.0.113.7`), with the port that some proxies add. */
const V4 = /^(?:\[?::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})\]?(?::\d+)?$/i
/** Matches IPv6 in brackets, with or without a port. */
const V6 = /^\[([\da-f:]+)\](?::\d+)?$/i
/** Matches the start of IPv4 written as IPv6. */
const V4_IN_V6 = /^[0:]+:ffff:/i

/** Returns an address without its port. IPv4 written as IPv6 becomes plain IPv4. */
function addressOf(text: string): string {
  if (!text.includes(':')) return text
  const v4 = V4.exec(text)?.[1]
  if (v4 !== undefined) return v4
  const ip = V6.exec(text)?.[1] ?? text
  return V4_IN_V6.test(ip) && isIP(ip) === 6 ? ipaddr.process(ip).toString() : ip
}

/**
 * Returns the network of an address, whose requests are counted together. For IPv4 this is the address itself; for IPv6
 * the /64, because a subscriber has a whole /64 to call from.
 */
export function networkOf(text: string): string {
  const ip = addressOf(text)
  if (ip.includes('.')) return ip
  // `::` stands for all missing zero groups, and the first four groups may be among them.
  const [before = '', after] = ip.split('::').map((part) => part.split(':').filter(Boolean))
  const missingGroupCount = after ? Math.max(0, 8 - before.length - after.length) : 0
  return [...before, ...Array(missingGroupCount).fill('0'), ...(after ?? [])].slice(0, 4).join(':')
}

/** Matches a /64 as {@link networkOf} writes it. */
const NETWORK_OF_64 = /^[\da-f]{0,4}(?::[\da-f]{0,4}){3}$/i

/** Returns the /48 of an IPv6 network that {@link networkOf} wrote; undefined for IPv4 and for any other text. */
export const siteOf = (network: string): string | undefined =>
  NETWORK_OF_64.test(network) ? `${network.split(':').slice(0, 3).join(':')}::/48` : undefined

/**
 * Returns a network too wide to identify a person: the /24 or /48 around a result of {@link networkOf}. Null for other
 * texts.
 */
export function wideNetwork(network: string): string | null {
  const [, shortIpv4] = /(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}$/.exec(network) ?? []
  if (shortIpv4 !== undefined) return `${shortIpv4}.0/24`
  return siteOf(network) ?? null
}

/** Network: an address and the number of bits in its prefix. */
export type NetworkRange = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Bits before the IPv4 address in an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`, RFC 4291, 2.5.5.2). */
const BITS_BEFORE_IPV4 = 96

const isMappedIpv4 = (ip: NetworkRange[0]): ip is ipaddr.IPv6 => ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress()

/** Converts an IPv4-mapped IPv6 network to IPv4, because client addresses are compared as IPv4. */
function withIpv4([ip, bits]: NetworkRange): NetworkRange {
  if (!isMappedIpv4(ip) || bits < BITS_BEFORE_IPV4) return [ip, bits]
  return [ip.toIPv4Address(), bits - BITS_BEFORE_IPV4]
}

/** Reason why a key cannot be bound to a text as its network. */
export type RangeFault = 'not_a_network' | 'ipv4_prefix'

/**
 * Returns a network in canonical form: `203.0.113.7/24` becomes `203.0.113.0/24`. A lone address becomes a /32 or /128.
 * `::ffff:203.0.113.7/120` becomes `203.0.113.0/24`; with less than 96 bits it is refused, being neither IPv4 nor IPv6.
 */
export function normalizeRange(text: string): { red: string } | { fault: RangeFault } {
  const [ip = '', bits = isIP(text) === 4 ? '32' : '128', ...extraParts] = text.split('/')
  const addressClass = { 4: ipaddr.IPv4, 6: ipaddr.IPv6 }[isIP(ip)]
  if (!addressClass || extraParts.length > 0 || Number(bits) > (isIP(ip) === 4 ? 32 : 128))
    return { fault: 'not_a_network' }
  const direccion = addressClass.parse(ip)
  if (isMappedIpv4(direccion) && Number(bits) < BITS_BEFORE_IPV4) return { fault: 'ipv4_prefix' }
  const [network, length] = withIpv4([direccion, Number(bits)])
  const networkClass = network instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6
  return { red: `${networkClass.networkAddressFromCIDR(`${network}/${length}`)}/${length}` }
}

/** Parses a stored network, as {@link normalizeRange} writes it. */
export const readRange = (text: string): NetworkRange => ipaddr.parseCIDR(text) as NetworkRange

/** Reports whether an address belongs to at least one network; false for a text that is not an address. */
export function isInRange(text: string, ranges: readonly NetworkRange[]): boolean {
  const ip = addressOf(text)
  if (isIP(ip) === 0) return false
  const direccion = ipaddr.parse(ip)
  return ranges.some(([network, bits]) => network.kind() === direccion.kind() && direccion.match([network, bits]))
}
