import { MapLinkError, readMapLink } from '../../../server/platform/maps/links.ts'
import { catchExpected, type FuzzTarget, requireHolds } from '../target.ts'

/** The sites, written down once more: Google's countries by the shape of their names alone. */
const SITE_PATTERNS = [
  /^(?:www\.)?google\.(?:cat|com|[a-z]{2}|com?\.[a-z]{2})\/maps(?:$|\/)/,
  /^maps\.google\.(?:cat|com|[a-z]{2}|com?\.[a-z]{2})\//,
  /^maps\.app\.goo\.gl\//,
  /^goo\.gl\/maps(?:$|\/)/,
  /^(?:www\.|ul\.)?waze\.com\//,
  /^maps\.apple\.com\//,
  /^maps\.apple\/p(?:$|\/)/,
  /^(?:www\.)?(?:openstreetmap|osm)\.org\//,
]

/** An admitted link leads every other reader of links to a map's site, too; and the point that it names is one on Earth. */
export const target: FuzzTarget = {
  seeds: [
    'https://maps.google.com/?q=14.6349,-90.5069',
    'https://www.google.com.gt/maps/place/Zona+1/@14.63,-90.51,17z/data=!3m1!4b1!4m5!3m4!1s0x8589a:0x9d!8m2!3d14.6349!4d-90.5069',
    'https://www.google.com/maps/dir/14.6,-90.5/14.7,-90.6/@14.6,-90.5,12z/data=!4m2!4m1!1m5!1m1!1s0x0!2m2!1d-90.5!2d14.6',
    'https://maps.app.goo.gl/AbCdEf123',
    'https://goo.gl/maps/AbC',
    'https://waze.com/ul/h9fxedt5k2',
    'https://www.waze.com/live-map?h=9fxedt5k2',
    'https://maps.apple/p/U8rE9v8n8iVZjr',
    'https://osm.org/go/0EEQjEEb--?m',
    'https://www.openstreetmap.org/%23map=18/14.6/-90.5',
    'https://maps.google.com/maps?daddr=5a+avenida+3-21+@14.63077,-90.60711',
    'https://ul.waze.com/ul?ll=14.6349%2C-90.5069&navigate=yes',
    'https://maps.apple.com/?daddr=14.6,-90.5&q=Casa',
    'https://www.openstreetmap.org/?mlat=14.6&mlon=-90.5#map=17/14.6/-90.5',
    'https://www.openstreetmap.org/go/0AWA~M3Z--?m=',
    `https://maps.google.com/?q=14%C2%B038'05.6"N+90%C2%B030'24.8"W`,
    'geo:14.6349,-90.5069?q=14.63,-90.50(Casa)',
    'geo:14.6,-90.5,20;crs=wgs84;u=35',
  ],
  words: [
    '@',
    ':443',
    ':80',
    '.',
    '..',
    '//',
    '\\',
    '?',
    '#',
    '%2e',
    '%2F',
    '%40',
    '%00',
    '%zz',
    '+',
    '!3d',
    '!4d',
    '!2m2',
    '!1d',
    '!2d',
    '!1s0x',
    'geo:',
    'https://',
    'HTTPS://',
    'google.evil.com',
    'evil.com',
    '/maps',
    '/url',
    ';crs=',
    'q=',
    'll=',
    'daddr=',
    '&',
    ' to:',
    ';',
    '-90.5069',
    '14.6349',
    '0,0',
    '-0',
    '1e5',
    '181',
    '°',
    '"',
    "'",
    '\u200b',
    'ｇoogle.com',
    '。',
    '\u0130',
    '\t',
    '\n',
    '\u202e',
    '[::1]',
    '127.0.0.1',
    'xn--',
    '٤',
    '９',
  ],
  probar(input) {
    const text = input.toString('utf8')
    const reading = catchExpected(() => readMapLink(text), MapLinkError)
    if (reading instanceof MapLinkError) {
      requireHolds(/^[A-Z«].*\.$/s.test(reading.message), 'it says why')
      return
    }
    requireHolds(text.length <= 2_048, 'it is of a length that is admitted')
    const url = new URL(text)
    const site = url.hostname + url.pathname
    requireHolds(
      url.protocol === 'geo:' ||
        (url.protocol === 'https:' &&
          url.port + url.username + url.password === '' &&
          SITE_PATTERNS.some((sitePattern) => sitePattern.test(site))),
      `another reader is led to a map, too: ${url.href}`,
    )
    if (reading.tipo === 'corto')
      requireHolds(/^(?:maps\.app\.)?goo\.gl\/|^maps\.apple(?:\.com)?\/p\//.test(site), 'it is short')
    if (reading.tipo !== 'coordenadas') return
    const { lat, lng } = reading.coordinates
    requireHolds(Math.abs(lat) <= 90 && Math.abs(lng) <= 180, 'the point is on Earth')
    requireHolds(!Object.is(lat, -0) && !Object.is(lng, -0) && (lat !== 0 || lng !== 0), 'the point is one')
    const readBack = readMapLink(`geo:${lat.toFixed(7)},${lng.toFixed(7)}`)
    requireHolds(
      readBack.tipo === 'coordenadas' && readBack.coordinates.lat === lat && readBack.coordinates.lng === lng,
      'the point is itself when it is read again',
    )
  },
}
