import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkWithin, MapLinkError, readMapLink } from '../../server/platform/maps/links.ts'
import { measureGrowth } from '../cost.ts'
import { G, P, readLink, testLinkTable } from './linkTable.ts'

const NOT_A_MAP = /no es un mapa admitido/
const RUTA = /ruta del enlace no es la de un mapa/
const MAL_ESCRITO = /dominio del enlace está mal escrito/
const WITHOUT_HTTPS = /debe empezar con https/
const BARE_POINT = /^Son coordenadas y no un enlace: escríbalas como geo:14\.6349,-90\.5069\.$/
const INVISIBLE = /control o invisibles/
const HAS_SPACES = /lleva espacios/

testLinkTable('los tres enlaces del lote', [
  ['https://maps.google.com/?q=14.646830,-90.791220', '14.64683,-90.79122'],
  [`${G}/place/x/@14.300900,-90.785810,17z`, '14.3009,-90.78581'],
  ['https://www.waze.com/ul?ll=14.423210%2C-91.160490&navigate=yes', '14.42321,-91.16049'],
])

testLinkTable('hosts de Google admitidos', [
  [`https://google.com/maps?q=${P}`, P],
  [`https://www.google.com/maps?q=${P}`, P],
  [`https://www.google.com/maps/?q=${P}`, P],
  [`https://www.google.com.gt/maps?q=${P}`, P],
  [`https://google.com.gt/maps?q=${P}`, P],
  [`https://www.google.co.cr/maps?q=${P}`, P],
  [`https://www.google.com.sv/maps?q=${P}`, P],
  [`https://www.google.com.ni/maps?q=${P}`, P],
  [`https://www.google.hn/maps?q=${P}`, P],
  [`https://www.google.com.pa/maps?q=${P}`, P],
  [`https://www.google.com.bz/maps?q=${P}`, P],
  [`https://www.google.com.co/maps?q=${P}`, P],
  [`https://www.google.com.mx/maps?q=${P}`, P],
  [`https://www.google.es/maps?q=${P}`, P],
  [`https://www.google.us/maps?q=${P}`, P],
  [`https://www.google.co.uk/maps?q=${P}`, P],
  [`https://www.google.cat/maps?q=${P}`, P],
  [`https://maps.google.com?q=${P}`, P],
  [`https://maps.google.com/maps?q=${P}`, P],
  [`https://maps.google.com.gt/?q=${P}`, P],
  [`https://maps.google.co.cr/maps?q=${P}`, P],
  [`https://maps.google.es/?q=${P}`, P],
  [`HTTPS://WWW.GOOGLE.COM/maps?q=${P}`, P],
  [`https://Maps.Google.Com/?q=${P}`, P],
  [`https://www.google.com:443/maps?q=${P}`, P],
  [`https://www.google.com/x/../maps?q=${P}`, P],
])

testLinkTable('hosts que se parecen pero no son', [
  [`https://google.com.evil.example/maps?q=${P}`, NOT_A_MAP],
  [`https://www.google.com.evil.example/maps?q=${P}`, NOT_A_MAP],
  [`https://evilgoogle.com/maps?q=${P}`, NOT_A_MAP],
  [`https://google.evil/maps?q=${P}`, NOT_A_MAP],
  [`https://www.google.evil/maps?q=${P}`, NOT_A_MAP],
  [`https://google.com.us/maps?q=${P}`, NOT_A_MAP],
  [`https://google.co/maps?q=${P}`, NOT_A_MAP],
  [`https://google.gt/maps?q=${P}`, NOT_A_MAP],
  [`https://google.net/maps?q=${P}`, NOT_A_MAP],
  [`https://google.app/maps?q=${P}`, NOT_A_MAP],
  [`https://google.com.com/maps?q=${P}`, NOT_A_MAP],
  [`https://google.constructor/maps?q=${P}`, NOT_A_MAP],
  [`https://google./maps?q=${P}`, MAL_ESCRITO],
  [`https://maps.google/?q=${P}`, NOT_A_MAP],
  [`https://maps.google.evil/?q=${P}`, NOT_A_MAP],
  [`https://maps.google.com.evil.example/?q=${P}`, NOT_A_MAP],
  [`https://evil.maps.google.com/?q=${P}`, NOT_A_MAP],
  [`https://consent.google.com/ml?continue=${G}?q=${P}`, NOT_A_MAP],
  [`https://sites.google.com/maps?q=${P}`, NOT_A_MAP],
  ['https://maps.app.goo.gl.evil.example/abc', NOT_A_MAP],
  ['https://evil.maps.app.goo.gl/abc', NOT_A_MAP],
  ['https://app.goo.gl/abc', NOT_A_MAP],
  ['https://waze.com.evil.example/ul?ll=14.6,-90.5', NOT_A_MAP],
  ['https://notwaze.com/ul?ll=14.6,-90.5', NOT_A_MAP],
  ['https://openstreetmap.com/#map=15/14.6/-90.5', NOT_A_MAP],
  ['https://apple.com/?ll=14.6,-90.5', NOT_A_MAP],
  ['https://bit.ly/abc', NOT_A_MAP],
  ['https://127.0.0.1/maps?q=14.6,-90.5', NOT_A_MAP],
  ['https://localhost/maps', NOT_A_MAP],
  [`https://www.google.com./maps?q=${P}`, MAL_ESCRITO],
  ['https://maps.app.goo.gl./abc', MAL_ESCRITO],
  [`https://www.gооgle.com/maps?q=${P}`, MAL_ESCRITO], // Cyrillic о
  [`https://www.goоgle.com/maps?q=${P}`, MAL_ESCRITO],
  [`https://www.google。com/maps?q=${P}`, MAL_ESCRITO], // ideographic full stop, which parsers read as a dot
  [`https://www.ｇｏｏｇｌｅ.com/maps?q=${P}`, MAL_ESCRITO], // full width, which parsers fold to ASCII
  [`https://www.xn--ggle-0nda.com/maps?q=${P}`, NOT_A_MAP],
  [`https://%77ww.google.com/maps?q=${P}`, MAL_ESCRITO],
  [`https://www.google.com%2eevil.example/maps?q=${P}`, MAL_ESCRITO],
  ['https://[::1]/maps', /puerto|mal escrito/],
  ['https:///www.google.com/maps', MAL_ESCRITO],
  ['https://', MAL_ESCRITO],
  ['https://?q=14.6,-90.5', MAL_ESCRITO],
])

testLinkTable('rutas que no son de un mapa', [
  [`https://www.google.com/?q=${P}`, RUTA],
  [`https://www.google.com/search?q=${P}`, RUTA],
  [`https://www.google.com/url?q=https://www.google.com/maps?q=${P}`, RUTA],
  [`https://www.google.com/maps/../url?q=${P}`, RUTA],
  [`https://www.google.com/maps/%2e%2e/url?q=${P}`, RUTA],
  [`https://www.google.com/maps/%23map=/../url?q=${P}`, RUTA],
  [`https://www.google.com/mapsevil?q=${P}`, RUTA],
  [`https://www.google.com/Maps?q=${P}`, RUTA],
  [`https://www.google.com/%6Daps?q=${P}`, RUTA],
  [`https://www.google.com//maps?q=${P}`, RUTA],
  [`https://www.google.com/maps/url?q=${P}`, RUTA],
  ['https://maps.google.com/url?q=https://evil.example', RUTA],
  ['https://goo.gl/abc', RUTA],
  ['https://goo.gl/mapsabc', RUTA],
  ['https://goo.gl/forms/abc', RUTA],
])

testLinkTable('esquemas, usuarios, puertos y caracteres', [
  ['', /está vacío/],
  [`http://www.google.com/maps?q=${P}`, WITHOUT_HTTPS],
  ['javascript:alert(1)', WITHOUT_HTTPS],
  ['javascript://www.google.com/maps?q=14.6,-90.5', WITHOUT_HTTPS],
  ['data:text/html,14.6,-90.5', WITHOUT_HTTPS],
  ['file:///etc/passwd', WITHOUT_HTTPS],
  ['ftp://maps.google.com/', WITHOUT_HTTPS],
  ['waze://?ll=14.6,-90.5', WITHOUT_HTTPS],
  ['(14.6349; -90.5069)', BARE_POINT],
  ['14.6349 -90.5069', BARE_POINT],
  ['-91.518, 14.834', /y no un enlace, y la latitud va primero: escríbalas como geo:14\.834,-91\.518\.$/],
  ['14.6 90.5 16', WITHOUT_HTTPS],
  ['comgooglemaps://?q=14.6,-90.5', WITHOUT_HTTPS],
  ['intent://maps.google.com/#Intent;end', WITHOUT_HTTPS],
  ['www.google.com/maps?q=14.6,-90.5', WITHOUT_HTTPS],
  ['//www.google.com/maps?q=14.6,-90.5', WITHOUT_HTTPS],
  ['14.6349,-90.5069', BARE_POINT],
  ['https:www.google.com/maps', WITHOUT_HTTPS],
  ['https:/www.google.com/maps', WITHOUT_HTTPS],
  ['https', WITHOUT_HTTPS],
  ['view-source:https://www.google.com/maps', WITHOUT_HTTPS],
  [`https://user@www.google.com/maps?q=${P}`, /usuario o contraseña/],
  [`https://user:clave@www.google.com/maps?q=${P}`, /usuario o contraseña/],
  [`https://@www.google.com/maps?q=${P}`, /usuario o contraseña/],
  ['https://www.google.com@evil.example/maps', /usuario o contraseña/],
  ['https://www.google.com:443@evil.example/maps', /usuario o contraseña/],
  [`https://www.google.com:8443/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:80/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:0443/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com:443:443/maps?q=${P}`, /lleva un puerto/],
  [`https://www.google.com\\@evil.example/maps?q=${P}`, /barra invertida/],
  [`https:\\\\www.google.com/maps?q=${P}`, /barra invertida/],
  [`${G}?q=14.6,\\-90.5`, /barra invertida/],
  [`${G}?q=14.6, -90.5`, HAS_SPACES],
  [` ${G}?q=${P}`, HAS_SPACES],
  [`${G}?q=${P} `, HAS_SPACES],
  [`${G}?q=14.6,\u00a0-90.5`, HAS_SPACES],
  [`${G}?q=${P}\u2028`, HAS_SPACES],
  [`Mi casa: ${G}?q=${P}`, HAS_SPACES],
  ['Frente al parque central', WITHOUT_HTTPS],
  ['14.6349, -90.5069', BARE_POINT],
  [`${G}?q=${P} `, /solo el enlace, sin espacios/],
  [`${G}?q=${P}\n`, INVISIBLE],
  [`ht\ttps://www.google.com/maps?q=${P}`, INVISIBLE],
  [`https://www.goo\u0000gle.com/maps?q=${P}`, INVISIBLE],
  [`https://www.goo\u00adgle.com/maps?q=${P}`, INVISIBLE],
  [`https://www.goo\u200bgle.com/maps?q=${P}`, INVISIBLE],
  [`${G}?q=\u202e${P}`, INVISIBLE],
  [`\ufeff${G}?q=${P}`, INVISIBLE],
  [`${G}?q=\ud800`, INVISIBLE],
])

testLinkTable('enlaces cortos', [
  ['https://maps.app.goo.gl/BNG51boEtrRhEYmi7', 'corto'],
  ['https://maps.app.goo.gl/BNG51boEtrRhEYmi7?g_st=ic', 'corto'],
  ['https://maps.app.goo.gl/BNG51boEtrRhEYmi7/', 'corto'],
  ['https://MAPS.APP.GOO.GL/BNG51boEtrRhEYmi7', 'corto'],
  ['https://goo.gl/maps/AbCd1234', 'corto'],
  ['https://goo.gl/maps/AbCd1234?q=14.6,-90.5', 'corto'],
  ['https://maps.apple/p/U8rE9v8n8iVZjr', 'corto'],
  ['https://maps.apple.com/p/U8rE9v8n8iVZjr', 'corto'],
  ['https://MAPS.APPLE/p/U8rE9v8n8iVZjr?x=1', 'corto'],
  ['https://maps.apple/p/', 'sin'],
  ['https://maps.apple/p', 'sin'],
  ['https://maps.apple/', RUTA],
  ['https://maps.apple/P/U8rE9v8n8iVZjr', RUTA],
  ['https://maps.apple.evil.example/p/U8rE9v8n8iVZjr', NOT_A_MAP],
  ['https://osm.org.evil.example/go/0EEQjEEb', NOT_A_MAP],
  ['https://maps.app.goo.gl/', 'sin'],
  ['https://maps.app.goo.gl', 'sin'],
  ['https://maps.app.goo.gl/?link=https://evil.example', 'sin'],
  ['https://goo.gl/maps', 'sin'],
  ['https://goo.gl/maps/', 'sin'],
])

describe('un enlace dentro de un texto', () => {
  it.each([
    [`Mi casa ${G}?q=${P}`, `${G}?q=${P}`],
    [`Aquí: ${G}?q=${P}.`, `${G}?q=${P}`],
    [`¿Es ${G}?q=${P}(Casa)?!`, `${G}?q=${P}(Casa)`],
    [`geo:${P}, por favor`, `geo:${P}`],
    ['Frente al parque', 'Frente al parque'],
  ])('%s', (text, link) => expect(linkWithin(text)).toBe(link))

  it('se busca en tiempo lineal', () => {
    expect(measureGrowth(2048, (length) => linkWithin(`https://${'.'.repeat(length)}x`))).toBeLessThan(20)
  })
})

describe('configuración y límites', () => {
  it('admite solo los hosts configurados', () => {
    const hosts = ['mapas.example', 'maps.google.*', 'otro.example/mapa']
    expect(readLink(`https://mapas.example/?q=${P}`, hosts)).toBe(P)
    expect(readLink(`https://otro.example/mapa/x?q=${P}`, hosts)).toBe(P)
    expect(readLink(`https://maps.google.com.gt/?q=${P}`, hosts)).toBe(P)
    expect(() => readLink(`https://otro.example/?q=${P}`, hosts)).toThrow(RUTA)
    expect(() => readLink(`https://waze.com/ul?ll=${P}`, hosts)).toThrow(NOT_A_MAP)
    expect(() => readLink(`https://waze.com/ul?ll=${P}`, [])).toThrow(NOT_A_MAP)
  })

  it('admite 2,048 caracteres y rechaza 2,049', () => {
    const exactFit = `${G}?q=${P}&x=`.padEnd(2048, 'a')
    expect(readLink(exactFit)).toBe(P)
    expect(() => readLink(`${exactFit}a`)).toThrow(/pasa de 2,048 caracteres/)
  })

  it('no repite en el mensaje un dominio desmedido', () => {
    expect(() => readLink(`https://${'a'.repeat(2000)}.com/`)).toThrow(/^.{0,200}$/)
  })
})

// --- Properties ---

/** Reads it and checks that the answer is sound, or else that the refusal is an MapLinkError with a whole sentence. */
function readSafely(text: string): void {
  try {
    const read = readMapLink(text)
    if (read.tipo !== 'coordenadas') {
      expect(['corto', 'sin_coordenadas']).toContain(read.tipo)
      return
    }
    const { lat, lng } = read.coordinates
    expect(Math.abs(lat)).toBeLessThanOrEqual(90)
    expect(Math.abs(lng)).toBeLessThanOrEqual(180)
    expect([lat, lng].map((n) => Number(n.toFixed(7)))).toEqual([lat, lng])
    expect(lat === 0 && lng === 0).toBe(false)
  } catch (error) {
    if (!(error instanceof MapLinkError)) throw error
    expect(error.message).toMatch(/^[A-ZÁÉÍÓÚ«][^\p{Cc}]+\.$/u)
  }
}

const VALIDOS = [
  `${G}/place/Framig/@14.6447208,-90.5150638,20z/data=!4m6!3m5!1s0x8589a:0xa3e3!8m2!3d14.6447548!4d-90.5149382`,
  `${G}/dir/14.1,-90.1/B/data=!4m8!4m7!1m0!1m5!1m1!1s0xa:0xb!2m2!1d-75.1452789!2d39.9720698!3e0`,
  `${G}/place/14%C2%B038'26.5%22N+90%C2%B030'47.8%22W/`,
  'https://maps.google.com/?q=14.6,-90.5(Casa)&ll=14.1,-90.1',
  'https://www.waze.com/ul?ll=14.423210%2C-91.160490&navigate=yes',
  'https://waze.com/ul/h9fxek3cp4',
  'https://maps.apple.com/?ll=14.6,-90.5&q=Casa',
  'https://www.openstreetmap.org/?mlat=14.6&mlon=-90.5#map=15/14.1/-90.1',
  'https://www.openstreetmap.org/go/0EEQjEEb--?m',
  'https://maps.app.goo.gl/BNG51boEtrRhEYmi7',
  'geo:14.6,-90.5,10;crs=wgs84;u=35?q=14.6,-90.5(Casa)',
]
const chunk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '/',
    '%',
    '%2C',
    '+',
    '-',
    '!3d',
    '!4d',
    '@',
    '?q=',
    '&',
    '#',
    '..',
    ':',
    ';',
    '999',
    '1e9',
    '(',
    '°',
  ),
)

describe('propiedades', () => {
  it('solo lanza MapLinkError y solo da puntos reales, con cualquier texto', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 2100 }), readSafely), { numRuns: 2000 })
    const prefix = fc.constantFrom(`${G}/`, `${G}?q=`, `${G}/place/`, `${G}/dir/`, 'https://waze.com/ul/h', 'geo:')
    fc.assert(
      fc.property(prefix, fc.array(chunk), (start, chunks) => readSafely(start + chunks.join(''))),
      { numRuns: 3000 },
    )
  })

  it('lo mismo con enlaces válidos estropeados', () => {
    const cambio = fc.tuple(fc.nat(200), fc.nat(8), chunk)
    fc.assert(
      fc.property(fc.constantFrom(...VALIDOS), fc.array(cambio, { minLength: 1, maxLength: 4 }), (link, cambios) => {
        let text = link
        for (const [position, removedLength, pone] of cambios) {
          const i = position % (text.length + 1)
          text = text.slice(0, i) + pone + text.slice(i + removedLength)
        }
        readSafely(text)
      }),
      { numRuns: 5000 },
    )
  })

  it('nunca admite un host fuera de la lista', () => {
    const etiqueta = fc.stringMatching(/^[a-z0-9.-]{1,20}$/)
    fc.assert(
      fc.property(etiqueta, fc.constantFrom('google.com', 'maps.google.com', 'waze.com'), (junk, host) => {
        fc.pre(!['www.', 'maps.', 'ul.'].includes(junk))
        expect(() => readLink(`https://${junk}${host}/maps?q=${P}`)).toThrow(NOT_A_MAP)
        expect(() => readLink(`https://${host}.${junk}.example/maps?q=${P}`)).toThrow(NOT_A_MAP)
      }),
    )
  })

  it('un mismo punto se lee igual en todas las formas', () => {
    const degreesUpTo = (maximo: number) => fc.integer({ min: -maximo * 1e7, max: maximo * 1e7 }).map((n) => n / 1e7)
    fc.assert(
      fc.property(degreesUpTo(90), degreesUpTo(180), (x, y) => {
        const [lat, lng] = [x.toFixed(7), y.toFixed(7)]
        const expected = readLink(`${G}?q=${lat},${lng}`)
        expect(expected).toBe(x === 0 && y === 0 ? 'sin' : `${x},${y}`)
        for (const link of [
          `${G}/place/x/data=!3d${lat}!4d${lng}`,
          `${G}/dir//x/data=!1m5!1m1!1s0xa:0xb!2m2!1d${lng}!2d${lat}`,
          `${G}/@${lat},${lng},17z`,
          `${G}/dir/x/${lat},+${lng}`,
          `https://waze.com/ul?ll=${lat}%2C${lng}`,
          `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}`,
          `https://www.openstreetmap.org/#map=17/${lat}/${lng}`,
          `geo:${lat},${lng}`,
        ]) {
          expect(readLink(link)).toBe(expected)
        }
      }),
    )
  })

  it('lee 2,048 caracteres hostiles en tiempo lineal', () => {
    const paddings =
      "1 , + - ! ( @ / % %2C %20 + . ° ' \" !3d !4d !3d1 !2m2!1d1!2d1 1,1 1. 14°1' to: ; loc: (( ) &q= &q=1,1 # a. -- h 😀"
    const beginnings = [
      'https://',
      'https://a@',
      'https://www.google.com:',
      `${G}?q=`,
      `${G}?q=14.6`,
      `${G}?q=14.6,-90.5(`,
      `${G}?q=14°`,
      `${G}/place/`,
      `${G}/dir/`,
      `${G}/@1,`,
      `${G}/place/x/data=`,
      `${G}?daddr=1`,
      'https://waze.com/ul/h',
      'https://www.openstreetmap.org/go/',
      'https://www.openstreetmap.org/#map=',
      'geo:',
      'geo:1,1;crs=wgs84',
      'geo:0,0?q=',
    ]
    const attempt = (text: string) => {
      try {
        readMapLink(text)
      } catch (error) {
        if (!(error instanceof MapLinkError)) throw error
      }
    }
    for (const start of beginnings) {
      for (const padding of paddings.split(' ')) {
        for (const final of ['', '\u0001']) {
          const text = (size: number) => start.padEnd(size - final.length, padding) + final
          readSafely(text(2048))
          const times = measureGrowth(2048, (size) => attempt(text(size)))
          expect(times, `${text(99)}…`).toBeLessThan(20)
        }
      }
    }
  })
})
