// Reads map links that merchants paste: checks whether a link is admitted, and which point it names.
// Pure: no network, no clock. Short links are only recognized here; a job resolves them. The recipients' page loads this
// file, so the server reads Plus Codes elsewhere (`plusCodes.ts`).
// Patterns are anchored or bounded, so that a hostile link costs linear time.

import type { Point } from './point.ts'

/** Result of reading a map link: coordinates, a short link that must be resolved, or a link without coordinates. */
export type MapLink = { tipo: 'coordenadas'; coordinates: Point } | { tipo: 'corto' } | { tipo: 'sin_coordenadas' }

/** Error for a map link that is not admitted. The message, in Spanish, is for the sender of the link. */
export class MapLinkError extends Error {
  constructor(message: string) {
    super(message)
    // A field would bring helpers for old browsers into the recipients' page.
    this.name = 'MapLinkError'
  }
}

/**
 * Admitted sites: `host`, or `host/path` for that path and all paths below it. `*` stands for a Google country suffix.
 */
export const MAP_HOSTS: readonly string[] = [
  'google.*/maps',
  'www.google.*/maps',
  'maps.google.*',
  'maps.app.goo.gl',
  'goo.gl/maps',
  'waze.com',
  'www.waze.com',
  'ul.waze.com',
  'maps.apple.com',
  'maps.apple/p',
  'openstreetmap.org',
  'www.openstreetmap.org',
  'osm.org',
  'www.osm.org',
  'plus.codes',
]

// Google's own list (google.com/supported_domains) plus google.us, by prefix. A pattern such as `google.<cc>` would
// admit domains that anybody can register.
const GOOGLE_COUNTRIES = {
  '': 'ad ae al am as at az ba be bf bg bi bj bs bt by ca cat cd cf cg ch ci cl cm cn cv cz de dj dk dm dz ee es fi fm fr ga ge gg gl gm gr gy hn hr ht hu ie im iq is it je jo kg ki kz la li lk lt lu lv md me mg mk ml mn mu mv mw ne nl no nr nu pl pn ps pt ro rs ru rw sc se sh si sk sm sn so sr st td tg tl tm tn to tt us vu ws',
  'com.':
    'af ag ar au bd bh bn bo br bz co cu cy do ec eg et fj gh gi gt hk jm kh kw lb ly mm mt mx my na ng ni np om pa pe pg ph pk pr py qa sa sb sg sl sv tj tr tw ua uy vc vn',
  'co.': 'ao bw ck cr id il in jp ke kr ls ma mz nz th tz ug uk uz ve vi za zm zw',
}
const GOOGLE_SUFFIXES = new Set(['com'])
for (const [prefix, countries] of Object.entries(GOOGLE_COUNTRIES)) {
  for (const country of countries.split(' ')) GOOGLE_SUFFIXES.add(prefix + country)
}

// The raw text is checked before a URL parser reads it, because parsers silently drop tabs, turn `\` into `/` and
// replace look-alike letters. Another parser downstream may treat these characters differently.
const NO_HTTPS = 'El enlace debe empezar con https:// (o con geo:): cópielo completo desde el mapa.'
const FORBIDDEN: readonly [RegExp, string][] = [
  [/^$/, 'El enlace está vacío: envíe un enlace de mapa o quite el campo.'],
  [/[\p{Cc}\p{Cf}\p{Cs}]/u, 'El enlace lleva caracteres de control o invisibles: cópielo de nuevo desde el mapa.'],
  // The first pattern finds a text without any link. The second one finds a link within other text.
  [/^(?!.*https:\/\/|geo:).*\p{Z}/iu, NO_HTTPS],
  [/\p{Z}/u, 'El enlace lleva espacios: envíe solo el enlace, sin espacios ni más texto.'],
  [/\\/, 'El enlace lleva una barra invertida (\\): use «/» o %5C.'],
  [/^(?!https:\/\/|geo:)/i, NO_HTTPS],
  [/^https:\/\/[^/?#]*@/i, 'El enlace lleva usuario o contraseña antes del dominio: quite todo hasta la «@».'],
]

/** Coordinates as maps copy them, without a link. */
const BARE_POINT = /^\(?([+-]?\d{1,3}\.\d{1,20})(?:\s*[,;]\s*|\s+)([+-]?\d{1,3}\.\d{1,20})\)?$/

/**
 * Reads the place that a map link names.
 * @throws MapLinkError if the link is not admitted
 */
export function readMapLink(text: string, hosts: readonly string[] = MAP_HOSTS): MapLink {
  if (text.length > 2048) refuse('El enlace pasa de 2,048 caracteres: use el enlace corto que da «Compartir».')
  const [, lat, lng = ''] = BARE_POINT.exec(text) ?? []
  if (lat !== undefined)
    refuse(
      isExchanged(lat, lng)
        ? `Son coordenadas y no un enlace, y la latitud va primero: escríbalas como geo:${lng},${lat}.`
        : `Son coordenadas y no un enlace: escríbalas como geo:${lat},${lng}.`,
    )
  for (const [pattern, message] of FORBIDDEN) if (pattern.test(text)) refuse(message)
  if (/^geo:/i.test(text)) return result(readGeo(text))
  const { host, url } = openHttps(text, hosts)
  const code = SHORT_LINKS.find(([sitePattern]) => sitePattern.test(host + url.pathname))?.[1]
  // A short link without a code leads nowhere.
  if (code) return url.pathname.split('/')[code] ? { tipo: 'corto' } : result()
  return result(findCoordinates(url, host))
}

/** Reports whether the first number of a pair can only be the longitude. */
const isExchanged = (lat: string, lng: string): boolean => Math.abs(Number(lat)) > 90 && Math.abs(Number(lng)) <= 90

/** Sites of short links, with the position of the code in the path. */
const SHORT_LINKS: readonly [site: RegExp, codigo: number][] = [
  [/^maps\.app\.goo\.gl\//, 1],
  [/^goo\.gl\//, 2],
  [/^maps\.apple(?:\.com)?\/p\//, 2],
]

/**
 * Returns the link within a text that people or apps share, without a final punctuation mark. Apps put the name of the
 * place before the link. A text without a link is returned unchanged.
 */
export const linkWithin = (text: string): string =>
  /(?:https:\/\/|geo:)\S+/i.exec(text)?.[0].replace(/(?<![.,;!?])[.,;!?]+$/, '') ?? text

const result = (coordinates?: Point): MapLink =>
  coordinates ? { tipo: 'coordenadas', coordinates } : { tipo: 'sin_coordenadas' }

function refuse(message: string): never {
  throw new MapLinkError(message)
}

// --- Which sites are admitted ---

function openHttps(text: string, hosts: readonly string[]): { host: string; url: URL } {
  const [origin = '', authority = ''] = /^https:\/\/([^/?#]*)/i.exec(text) ?? []
  const host = authority.toLowerCase().replace(/:443$/, '')
  if (host.includes(':')) refuse('El enlace lleva un puerto: quítelo; solo se admite el 443.')
  // No map site writes its own name with letters outside ASCII, percent-encoding or a trailing dot.
  if (!/^[a-z0-9.-]+$/.test(host) || host.endsWith('.')) {
    refuse('El dominio del enlace está mal escrito: use solo letras sin acento, números, «.» y «-».')
  }
  const pathPrefixes = hosts.flatMap((hostEntry) => {
    const [hostPattern = '', ...pathSegments] = hostEntry.split('/')
    return matchesHost(hostPattern, host) ? [['', ...pathSegments].join('/')] : []
  })
  if (pathPrefixes.length === 0) {
    refuse(`«${host.slice(0, 80)}» no es un mapa admitido: use Google Maps, Waze, Apple Maps u OpenStreetMap.`)
  }
  // Only the rest of the link is parsed, because the host is already checked. The rest begins with `/`, `?` or `#`, so
  // it cannot replace the host.
  const remainder = text.slice(origin.length)
  const url = openRemainder(remainder)
  const isAllowed = pathPrefixes.some((prefix) => `${url.pathname}/`.startsWith(`${prefix}/`))
  // `/url` redirects to any site, and couriers open this link.
  if (!isAllowed || /^\/(?:maps\/)?url(?:\/|$)/.test(url.pathname)) {
    refuse(`La ruta del enlace no es la de un mapa en «${host}»: copie el enlace que da «Compartir» en el mapa.`)
  }
  // Some apps encode the `#` of OpenStreetMap's view. The checks above see the path as browsers follow it.
  return { host, url: openRemainder(remainder.replace(/%23map(?:=|%3d)/i, '#map=')) }
}

const openRemainder = (remainder: string) => new URL(`https://mapa.invalid${remainder}`)

function matchesHost(hostPattern: string, host: string): boolean {
  if (!hostPattern.endsWith('.*')) return host === hostPattern
  const base = hostPattern.slice(0, -1)
  return host.startsWith(base) && GOOGLE_SUFFIXES.has(host.slice(base.length))
}

// --- Finding coordinates in a link ---

const NUM = String.raw`([+-]?\d{1,3}(?:\.\d{1,20})?)`
// A space may replace the comma (`loc:14.6 -90.5`), but only before a number with decimals. `q=12 45` is an address.
const PAR = new RegExp(String.raw`^(?:loc: ?|ll\.)?${NUM}(?: ?, ?| (?=[+-]?\d{1,3}\.))${NUM} ?(?:\(.*)?$`, 'i')
const ONE_NUMBER = new RegExp(`^${NUM}$`)
const GEO_POINT = new RegExp(String.raw`^ ?${NUM}, ?${NUM}(?:,-?\d{1,5}(?:\.\d{1,20})?)?$`)
const DEGREES = String.raw`(\d{1,3})[°º] ?(?:(\d{1,2}(?:\.\d{1,20})?)['′’] ?)?(?:(\d{1,2}(?:\.\d{1,20})?)(?:"|″|”|'') ?)?`
const PAR_DMS = new RegExp(`^${DEGREES}([NS]) ?,? ?${DEGREES}([EWO])$`, 'i')

// Names of parameters, by precedence. In a route only the destination counts, and not the origin, the stops or the
// middle of the route.
const DESTINO = ['daddr', 'destination', 'to', 'route']
const PLACE_PARAMETERS = ['q', 'query', 'latlng', 'coordinate']
/** Sizes of a window in degrees. */
const SPANS = ['span', 'spn']
/** Positions of a camera on a street. */
const CAMERA_PARAMETERS = ['viewpoint', 'cbll']

/**
 * Minimum zoom at which the centre of a view counts as a place. Map sites open the page of a house at 17; farther away,
 * a view is a district or a country.
 */
const PLACE_ZOOM = 17
/** Height of the widest window at that zoom in metres, for views whose link gives the height instead of the zoom. */
const PLACE_ALTITUDE_M = 1_500

const isCloseUp = (zoom: string) => zoom === '' || Number(zoom) >= PLACE_ZOOM

function findCoordinates(url: URL, host: string): Point | undefined {
  const parameter = (name: string) => url.searchParams.get(name) ?? ''
  const firstPoint = (names: string[]) => {
    for (const name of names) {
      // One value may list several stops, as `A to:B` (Google, Apple) or `A;B` (OpenStreetMap). The last stop is the
      // destination.
      const par = readPair(
        parameter(name)
          .split(/ to:|;/)
          .at(-1),
      )
      if (par) return par
    }
    return undefined
  }
  // Without a name, Apple's `ll` with a size is the centre of the window, like Google's without any.
  const isCentre =
    isGoogleHost(host) || (host === 'maps.apple.com' && !parameter('q') && ['z', ...SPANS].some(parameter))
  const segments = url.pathname.slice(1).split('/').map(decode)
  const [root, modo, place = ''] = segments
  const datos = [...segments, parameter('data')].flatMap((segment) => segment.split('!'))

  const isDirections = root === 'maps' && modo === 'dir'
  if (isDirections || DESTINO.some(parameter)) {
    return (isDirections ? lastStop(segments.slice(2)) : undefined) ?? readData(datos, true) ?? firstPoint(DESTINO)
  }
  const search = root === 'maps' && modo === 'search'
  const markedPoint =
    readData(datos, false) ??
    firstPoint(PLACE_PARAMETERS) ??
    (isCentre ? undefined : firstPoint(['ll'])) ??
    createPoint(parameter('mlat'), parameter('mlon')) ??
    (root === 'maps' && (modo === 'place' || search) ? readPair(place) : undefined) ??
    (host.endsWith('waze.com') ? readGeohash(root === 'ul' ? modo : undefined, parameter('h')) : undefined) ??
    (root === 'go' ? readOsmCode(modo, url.searchParams.has('m')) : undefined) ??
    firstPoint(CAMERA_PARAMETERS)
  // The remaining parts describe only the visible map. A search marks results in it, and none of them is the place.
  if (markedPoint || search) return markedPoint
  const fromParameters =
    isCloseUp(parameter('zoom') || parameter('z')) && !SPANS.some(parameter)
      ? (firstPoint(['ll']) ?? firstPoint(['center']) ?? createPoint(parameter('lat'), parameter('lon')))
      : undefined
  return readView(segments, url.hash) ?? fromParameters
}

const isGoogleHost = (host: string) => matchesHost('google.*', host.replace(/^(?:www|maps)\./, ''))

/** Reads the geohash of a Waze link: `/ul/h…` in the path, or the parameter `h` of the live map. */
const readGeohash = (fromPath: string | undefined, parameter: string): Point | undefined =>
  readCell((fromPath?.startsWith('h') ? fromPath.slice(1) : parameter).toLowerCase(), GEOHASH_ALPHABET)

/**
 * Reads an OpenStreetMap short link. Three characters add eight zoom levels, and each `-` at the end takes part of the
 * last character's levels. Without `m`, which sets a marker, the link is a view.
 */
function readOsmCode(writtenCode = '', hasMarker: boolean): Point | undefined {
  const [, code = '', dashes = ''] = /^([^-=]*)([-=]{0,3})$/.exec(writtenCode) ?? []
  const zoom = 3 * code.length - 8 - ((3 - dashes.length) % 3)
  return hasMarker || zoom >= PLACE_ZOOM ? readCell(code.replaceAll('@', '~'), OSM_ALPHABET) : undefined
}

/**
 * Reads protobuf fields separated by `!`. `3d` and `4d` are the latitude and longitude of a place's pin. `2m2`, `1d`
 * and `2d` are a stop of a route, longitude first.
 */
function readData(fields: string[], isRoute: boolean): Point | undefined {
  // The last pair wins, because a place opened from another's page comes second, and a route ends with its destination.
  // A later place or stop without coordinates clears the pair, which belongs to its predecessor.
  const start = isRoute ? /^1m\d/ : /^1s0x/
  let par: Point | undefined
  fields.forEach((field, i) => {
    const b = fields[i + 1] ?? ''
    const c = fields[i + 2] ?? ''
    if (start.test(field)) par = undefined
    else if (field.startsWith('3d') && b.startsWith('4d')) par = createPoint(field.slice(2), b.slice(2))
    // Without a preceding `2m2`, `1d` and `2d` are a zoom or a via point, or, in embedded maps, in reverse order.
    else if (isRoute && field === '2m2' && /^1d/.test(b) && /^2d/.test(c)) par = createPoint(c.slice(2), b.slice(2))
  })
  return par
}

/**
 * Reads the last stop of a route. The first stop is the origin and never counts, even if it is empty (`/maps/dir//B`).
 */
function lastStop(segments: string[]): Point | undefined {
  const endIndex = segments.findIndex((segment) => /^(?:@|data=|am=)/.test(segment))
  const stops = segments.slice(1, endIndex < 0 ? undefined : endIndex)
  return readPair(stops.findLast((stop) => stop !== ''))
}

/**
 * Reads the centre of a view that is close enough to be a place: `@lat,lng,17z` in the path (Google), or
 * `#map=17/lat/lng` (OpenStreetMap).
 */
function readView(segments: string[], hash: string): Point | undefined {
  const viewSegment = segments.findLast((segment) => segment.startsWith('@')) ?? ''
  const [lat, lng, alcance = ''] = viewSegment.slice(1).split(',', 3)
  const [zoom = '', ...mapParts] = (new URLSearchParams(decode(hash.slice(1))).get('map') ?? '').split('/')
  return (
    (showsPlace(alcance) ? createPoint(lat, lng) : undefined) ??
    (Number(zoom) >= PLACE_ZOOM ? createPoint(...mapParts.slice(0, 2)) : undefined)
  )
}

/**
 * Reports whether a Google view shows a place: zoom (`17z`), height of the window in metres (`500m`), or height of the
 * camera (`3a` on a street, `25000a` above a region).
 */
function showsPlace(alcance: string): boolean {
  const [, amount = '', unidad = ''] = /^(\d{1,9}(?:\.\d{1,20})?)([zma])$/.exec(alcance) ?? []
  if (unidad === 'z') return Number(amount) >= PLACE_ZOOM
  return unidad === '' ? alcance === '' : Number(amount) <= PLACE_ALTITUDE_M
}

const GEOHASH_ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'
const OSM_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~'

/**
 * Reads the centre of the cell of a geohash (5 bits per character) or of an OpenStreetMap short link (6 bits). The bits
 * halve longitude and latitude in turn, longitude first.
 */
function readCell(code: string, alphabet: string): Point | undefined {
  const bitsPerLetter = Math.log2(alphabet.length)
  const total = code.length * bitsPerLetter
  const digits = [...code].map((letter) => alphabet.indexOf(letter))
  // A cell of fewer than 35 bits (7 geohash characters) is wider than 150 m. It is a district, not a place for a
  // delivery.
  if (total < 35 || total > 64 || digits.includes(-1)) return undefined
  const bits = digits.map((value) => value.toString(2).padStart(bitsPerLetter, '0')).join('')
  const centerOf = (parity: number) => {
    const axisBits = [...bits].filter((_, i) => i % 2 === parity)
    return (Number.parseInt(axisBits.join(''), 2) + 0.5) / 2 ** axisBits.length
  }
  return roundPoint(centerOf(1) * 180 - 90, centerOf(0) * 360 - 180)
}

/** Reads a `geo:` URI (RFC 5870), with Android's `?q=` extension. `?q=` is the pin and takes precedence. */
function readGeo(text: string): Point | undefined {
  const [, body = '', queryText = ''] = /^geo:([^?#]*)(?:\?([^#]*))?/i.exec(text) ?? []
  const [point = '', ...parameters] = decode(body).toLowerCase().split(';')
  const [, lat = '', lng = ''] = GEO_POINT.exec(point) ?? []
  if (isExchanged(lat, lng)) refuse(`En un enlace geo: la latitud va primero: escríbalo como geo:${lng},${lat}.`)
  if (lat === '' || Math.abs(Number(lat)) > 90 || Math.abs(Number(lng)) > 180) {
    refuse('El enlace geo: no lleva latitud y longitud válidas: escríbalo como geo:14.6349,-90.5069.')
  }
  if (parameters.some((parameter) => parameter.startsWith('crs=') && parameter !== 'crs=wgs84')) {
    refuse('El enlace geo: usa otro sistema de coordenadas (crs): convierta el punto a WGS 84.')
  }
  return readPair(new URLSearchParams(queryText).get('q') ?? undefined) ?? createPoint(lat, lng)
}

// --- Reading numbers and text ---

/**
 * Reads a pair of coordinates: `14.6,-90.5`, or degrees, minutes and seconds. A label may precede the pair with an `@`
 * or follow it in parentheses.
 */
const readPair = (text = ''): Point | undefined => readUnnamed(text) ?? readUnnamed(text.replace(/^.*@/s, ''))

function readUnnamed(text: string): Point | undefined {
  // Google writes `14.63,+-90.5`, where the plus sign stands for a space.
  const cleaned = text.replace(/[\s+]+/g, ' ').trim()
  const [, lat, lng] = PAR.exec(cleaned) ?? []
  if (lat !== undefined) return createPoint(lat, lng)
  const [, ...p] = PAR_DMS.exec(cleaned) ?? []
  if (p.length === 0 || [p[1], p[2], p[5], p[6]].some((part) => Number(part ?? 0) >= 60)) return undefined
  const angleAt = (i: number) => Number(p[i]) + Number(p[i + 1] ?? 0) / 60 + Number(p[i + 2] ?? 0) / 3600
  return roundPoint(angleAt(0) * (/s/i.test(p[3] ?? '') ? -1 : 1), angleAt(4) * (/e/i.test(p[7] ?? '') ? 1 : -1))
}

function createPoint(lat = '', lng = ''): Point | undefined {
  return ONE_NUMBER.test(lat.trim()) && ONE_NUMBER.test(lng.trim()) ? roundPoint(Number(lat), Number(lng)) : undefined
}

function roundPoint(lat: number, lng: number): Point | undefined {
  if (Math.abs(lat) > 90 || Math.abs(lng) > 180) return undefined
  // Seven decimals of a degree are about one centimetre. Adding 0 turns -0 into 0.
  const point = { lat: Number(lat.toFixed(7)) + 0, lng: Number(lng.toFixed(7)) + 0 }
  // Apps without a position write 0,0. No delivery goes there, because the point lies in the Gulf of Guinea.
  return point.lat === 0 && point.lng === 0 ? undefined : point
}

/**
 * Decodes a text as in HTML forms: `+` is a space, and a malformed `%` stays unchanged instead of throwing. Most texts
 * have neither. A link of 900 path segments takes a tenth of the time without a `URLSearchParams` for each.
 */
const decode = (text: string) =>
  /[%+]/.test(text) ? (new URLSearchParams(`x=${text.replaceAll('&', '%26')}`).get('x') ?? '') : text
