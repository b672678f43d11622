import { lookup, Resolver as Resolucion } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// Where our own requests may go. A merchant chooses the address, so it must never lead into our own network: everything is
// judged in the form in which it will be connected to, and what isn't known to be public is refused.

/** An IP address to connect to. */
export interface Direccion {
  address: string
  family: 4 | 6
}

/** Gives every address of a name. */
export type Resolver = (nombre: string) => Promise<readonly Direccion[]>

/** Which addresses may be connected to, and how their names are looked up. */
export interface Politica {
  resolver: Resolver
  /** Admits http on loopback, any port (WEBHOOKS_LOOPBACK, for test mode alone). */
  loopback: boolean
}

/** Why an address may not be connected to. */
export class DestinoNoPermitido extends Error {
  override readonly name = 'DestinoNoPermitido'
  readonly motivo: 'url_no_permitida' | 'url_no_resuelve'

  /** The message is for the merchant: it says what is wrong and the remedy. */
  constructor(motivo: DestinoNoPermitido['motivo'], mensaje: string, opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.motivo = motivo
  }
}

const LARGO_MAXIMO = 2048
/** How long one of two tries at the DNS may take, in milliseconds. */
const PLAZO_DNS = 2_500
const consultas = new Resolucion({ timeout: PLAZO_DNS, tries: 2 })

/**
 * Asks the DNS itself. The system's `getaddrinfo` would wait in one of the process's few threads: four names that don't
 * answer would hold up everybody else's, and files, too. It alone knows `localhost`.
 */
export const resolverDelSistema: Resolver = async (nombre) => {
  if (nombre === 'localhost') return (await lookup(nombre, { all: true })) as Direccion[]
  const [v4, v6] = await Promise.allSettled([consultas.resolve4(nombre), consultas.resolve6(nombre)])
  const direcciones: Direccion[] = [
    ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 as const })),
    ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 as const })),
  ]
  if (direcciones.length === 0 && v4.status === 'rejected') throw v4.reason
  return direcciones
}

// The text is judged before the URL parser sees it: that one quietly drops tabs and line breaks, turns `\` into `/`,
// and takes `https:host` and an empty user for granted.
const SIN_HTTPS = 'La dirección debe empezar con https:// seguido del dominio: escríbala completa.'
const MAL_ESCRITA: readonly [RegExp, string][] = [
  [/^$/, 'La dirección está vacía: escriba una que empiece con https://.'],
  [/[\p{Cc}\p{Cf}\p{Cs}]/u, 'La dirección lleva caracteres de control o invisibles: quítelos.'],
  // Words instead of an address; next, words around one.
  [/^(?!.*https?:\/\/).*\p{Z}/iu, SIN_HTTPS],
  [/\p{Z}/u, 'La dirección lleva espacios: escriba solo la dirección, sin espacios ni más texto.'],
  [/\\/, 'La dirección lleva una barra invertida (\\): use «/» o %5C.'],
  [/^(?!https?:\/\/[^/?#])/i, SIN_HTTPS],
  [/^[^:]*:\/\/[^/?#]*@/, 'La dirección lleva usuario o contraseña antes del dominio: quite todo hasta la «@».'],
  [/#/, 'La dirección lleva un fragmento (#), que nunca se envía: quítelo.'],
]

/** Reads an address and judges everything that can be told without DNS. @throws DestinoNoPermitido */
export function leerDestino(texto: string, politica: Pick<Politica, 'loopback'>): URL {
  if (texto.length > LARGO_MAXIMO) rechazarPorLarga()
  for (const [patron, mensaje] of MAL_ESCRITA) if (patron.test(texto)) rechazar(mensaje)
  const url = URL.parse(texto)
  if (!url) rechazar('La dirección no es válida: revise el dominio y el puerto.')
  // Percent-encoding lengthens it.
  if (url.href.length > LARGO_MAXIMO) rechazarPorLarga()
  juzgar(url, politica.loopback)
  // One host is one name, and one address one endpoint: in the parser's lower case, and without the final dot.
  url.hostname = url.hostname.replace(/\.$/, '')
  return url
}

/**
 * The addresses to connect to, all of them checked. Connect to these and not to the name: a second answer may differ.
 * @throws DestinoNoPermitido
 */
export async function resolverDestino(url: URL, politica: Politica): Promise<readonly Direccion[]> {
  juzgar(url, politica.loopback)
  const nombre = anfitrion(url)
  if (isIP(nombre)) return [normalizar(nombre)]
  const direcciones = await consultar(nombre, politica.resolver)
  if (direcciones.length === 0) noResuelve(nombre)
  // juzgar lets http pass for loopback alone. A single bad address condemns the name, for we couldn't tell which one
  // would be used.
  const exigido = url.protocol === 'http:' ? 'loopback' : 'publica'
  if (direcciones.some(({ address }) => alcance(address) !== exigido)) {
    rechazar(
      `«${nombre}» lleva a una dirección que no es pública: use un dominio que solo apunte a direcciones públicas.`,
    )
  }
  return direcciones.map(({ address }) => normalizar(address))
}

async function consultar(nombre: string, resolver: Resolver): Promise<readonly Direccion[]> {
  try {
    return await resolver(nombre)
  } catch (cause) {
    return noResuelve(nombre, { cause })
  }
}

function juzgar(url: URL, loopback: boolean): void {
  const nombre = anfitrion(url)
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

/** The host of an address as it is looked up, without brackets and the final dot of an absolute name. */
export const anfitrion = (url: URL): string => url.hostname.replace(/^\[|\]$|\.$/g, '')

// Azure's platform services answer here, from inside any of its machines, in the midst of a public range.
const INTERNA_DE_AZURE = '168.63.129.16'

function alcance(direccion: string): 'publica' | 'loopback' | 'otra' {
  const ip = leerIp(direccion)
  const rango = ip?.range()
  if (rango === 'loopback') return 'loopback'
  if (rango !== 'unicast' || ip?.toString() === INTERNA_DE_AZURE) return 'otra'
  // Only 2000::/3 is given out; the rest that counts as unicast embeds or translates other addresses, or will some day.
  return ip instanceof ipaddr.IPv6 && (ip.parts[0]! & 0xe000) !== 0x2000 ? 'otra' : 'publica'
}

const normalizar = (direccion: string): Direccion => {
  const ip = leerIp(direccion)
  return { address: String(ip), family: ip instanceof ipaddr.IPv6 ? 6 : 4 }
}

/** A mapped address as the IPv4 one it stands for; null for what has a zone or is none. */
function leerIp(direccion: string) {
  const familia = isIP(direccion)
  if (familia === 4) return ipaddr.process(direccion)
  // ipaddr.js takes `::8.8.8.8`, which is not mapped, for `::ffff:8.8.8.8`: in hexadecimal there is no doubt.
  const host = familia === 6 ? URL.parse(`https://[${direccion}]`)?.hostname : null
  return host ? ipaddr.process(host.slice(1, -1)) : null
}

function rechazar(mensaje: string): never {
  throw new DestinoNoPermitido('url_no_permitida', mensaje)
}

function rechazarPorLarga(): never {
  rechazar('La dirección pasa de 2,048 caracteres: use una más corta.')
}

function noResuelve(nombre: string, opciones?: ErrorOptions): never {
  const mensaje = `El nombre «${nombre}» no se resuelve en el DNS: revise que esté bien escrito y publicado.`
  throw new DestinoNoPermitido('url_no_resuelve', mensaje, opciones)
}
