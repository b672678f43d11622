import { describe, expect, test, vi } from 'vitest'
import { createShortLinkResolver } from '../../server/platform/maps/shortLinks.ts'
import type { Address } from '../../server/platform/outbound/destination.ts'
import { G } from './linkTable.ts'
import {
  buildHtmlPage,
  buildMapsFailure,
  COORDINATES_RESULT,
  NO_COORDINATES,
  POINT_LINK,
  PUBLIC_ADDRESS,
  pair,
  resolvePublicly,
  SHORT_LINK,
  useMaps,
} from './maps.ts'

const { readString: chain, connections, resolver, paths, expectNoSockets, listVisitedUrls, seen } = useMaps()

describe('follows the way', () => {
  test('one redirection; the link with the point is never asked for', async () => {
    chain(SHORT_LINK, POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(listVisitedUrls()).toEqual([SHORT_LINK])
    expect(connections).toEqual([{ host: 'maps.app.goo.gl', port: 443, addresses: [PUBLIC_ADDRESS] }])
    await expectNoSockets()
  })

  test('requests carry no cookie, no referrer and no data of ours', async () => {
    paths.set(SHORT_LINK, (_req, res) =>
      res.writeHead(302, { location: 'https://goo.gl/maps/xyz', 'set-cookie': 'NID=1; Domain=goo.gl' }).end(),
    )
    paths.set('https://goo.gl/maps/xyz', POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(seen.map(({ method, headers }) => [method, headers])).toEqual(
      ['maps.app.goo.gl', 'goo.gl'].map((host) => [
        'GET',
        {
          host,
          accept: 'text/html',
          'accept-encoding': 'identity',
          'accept-language': 'es',
          'user-agent': 'guias/1.0',
          connection: 'close',
        },
      ]),
    )
  })

  test.each([301, 302, 303, 307, 308])('%d', async (status) => {
    paths.set(SHORT_LINK, [status, { location: POINT_LINK }])
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
  })

  test.each([
    ['absolute path', '/maps/paso', `${G}/paso`],
    ['relative path', 'paso?x=1', `${G}/paso?x=1`],
    ['query alone', '?q=Casa', `${G}/inicio?q=Casa`],
    ['without scheme', '//maps.google.com/maps?cid=1', 'https://maps.google.com/maps?cid=1'],
    ['another country', 'https://www.google.com.gt/maps?cid=1', 'https://www.google.com.gt/maps?cid=1'],
    ['the usual port, written out', 'https://www.google.com:443/maps/paso', `${G}/paso`],
    ['upper case', 'HTTPS://WWW.GOOGLE.COM/maps/paso', `${G}/paso`],
    ['a fragment', '/maps/paso#x', `${G}/paso`],
  ])('a relative or odd Location: %s', async (_case, location, destino) => {
    chain(SHORT_LINK, `${G}/inicio`, location)
    paths.set(destino, POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(listVisitedUrls()).toEqual([SHORT_LINK, `${G}/inicio`, destino])
  })

  test('a Location in raw UTF-8', async () => {
    paths.set(SHORT_LINK, [
      302,
      { location: Buffer.from('https://www.google.com/maps?q=14°38\'5.6"N90°30\'24.8"W').toString('latin1') },
    ])
    expect(await resolver(SHORT_LINK)).toEqual({
      tipo: 'coordenadas',
      coordinates: { lat: 14.6348889, lng: -90.5068889 },
    })
  })

  test('five hops are followed and the sixth is not', async () => {
    const steps = [1, 2, 3, 4, 5].map((n) => `${G}/paso/${n}`)
    chain(SHORT_LINK, ...steps.slice(0, 4), POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    seen.length = 0
    chain(SHORT_LINK, ...steps, POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /más de 5 saltos/))
    expect(seen).toHaveLength(6)
  })

  test('a way that ends at a map without a point', async () => {
    chain(SHORT_LINK, `${G}?q=Casa&ftid=0x1:0x2`)
    paths.set(`${G}?q=Casa&ftid=0x1:0x2`, buildHtmlPage('<title>Casa</title>'))
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
  })

  test("Apple's short link, and one that ends at a wide view", async () => {
    const shortForm = 'https://maps.apple/p/U8rE9v8n8iVZjr'
    chain(shortForm, 'https://maps.apple.com/place?coordinate=14.6349,-90.5069&name=Casa')
    expect(await resolver(shortForm)).toEqual(COORDINATES_RESULT)
    const view = `${G}/place/Mixco/@14.5063862,-90.3951103,10z`
    chain(SHORT_LINK, view)
    paths.set(view, buildHtmlPage('<title>Mixco</title>'))
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
  })

  test('a geo: link', async () => {
    chain(SHORT_LINK, 'geo:14.6349,-90.5069')
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    chain(SHORT_LINK, 'geo:0,0')
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
  })

  test('coordinates at once need no network; what is no map link is refused', async () => {
    expect(await resolver(POINT_LINK)).toEqual(COORDINATES_RESULT)
    expect(await resolver('https://evil.example/x')).toEqual(buildMapsFailure(false, /no es un mapa admitido/))
    expect(await resolver('basura')).toEqual(buildMapsFailure(false, /https/))
    expect(connections).toEqual([])
  })

  test('the hosts of the configuration', async () => {
    const single = createShortLinkResolver({ resolver: resolvePublicly, ca: pair.cert, hosts: ['maps.app.goo.gl'] })
    chain(SHORT_LINK, POINT_LINK)
    expect(await single.resolver(SHORT_LINK)).toEqual(
      buildMapsFailure(false, /«www.google.com» no es un mapa admitido/),
    )
  })
})

describe("Google's own obstacles", () => {
  const consentTo = (continua: string, host = 'consent.google.com') =>
    `https://${host}/ml?continue=${encodeURIComponent(continua)}&gl=DE&hl=es`

  test.each(['consent.google.com', 'consent.google.de'])('the cookie notice at %s is passed by', async (host) => {
    chain(SHORT_LINK, consentTo(POINT_LINK, host))
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(listVisitedUrls()).toEqual([SHORT_LINK])
  })

  test('the cookie notice counts as a hop, and leads back only once', async () => {
    chain(SHORT_LINK, `${G}?cid=1`, consentTo(`${G}?cid=1`))
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /da vueltas/))
    chain(SHORT_LINK, `${G}?cid=1`, consentTo(`${G}?cid=1&ucbcb=1`))
    paths.set(`${G}?cid=1&ucbcb=1`, POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
  })

  test.each([
    ['https://evil.example/', /no es un mapa admitido/],
    ['http://www.google.com/maps?q=1,1', /https/],
    ['https://127.0.0.1/maps', /no es un mapa admitido/],
    ['https://www.google.com:8443/maps', /puerto/],
    ['/maps', /no dice adónde/],
    ['', /no dice adónde/],
  ])('the target of the cookie notice is checked like any other: %s', async (continua, motivo) => {
    chain(SHORT_LINK, consentTo(continua))
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, motivo))
    expect(seen).toHaveLength(1)
  })

  test.each([
    'https://consent.google.evil.example/ml?continue=x',
    'https://consent.google.xyz/ml?continue=x',
    'https://consent.google.com.evil.example/ml',
  ])('a host that only looks like the cookie notice is refused: %s', async (link) => {
    chain(SHORT_LINK, link)
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /no es un mapa admitido/))
  })

  test('the test for robots passes by itself', async () => {
    chain(SHORT_LINK, `https://www.google.com/sorry/index?continue=${encodeURIComponent(POINT_LINK)}`)
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /robot/))
    chain(SHORT_LINK, 'https://evil.example/sorry/index')
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /no es un mapa/))
  })
})

describe('never leaves the maps', () => {
  test.each<[string, RegExp]>([
    ['https://evil.example/maps?q=14.6,-90.5', /no es un mapa admitido/],
    ['https://www.google.com.evil.example/maps', /no es un mapa admitido/],
    ['https://localhost/', /no es un mapa admitido/],
    ['https://metadata.google.internal/', /no es un mapa admitido/],
    ['https://127.0.0.1/', /no es un mapa admitido/],
    ['https://2130706433/', /no es un mapa admitido/],
    ['https://0x7f.1/', /no es un mapa admitido/],
    ['https://169.254.169.254/latest/meta-data', /no es un mapa admitido/],
    ['https://[::1]/', /puerto/],
    ['https://[::ffff:127.0.0.1]/', /puerto/],
    ['//127.0.0.1/', /no es un mapa admitido/],
    ['/\\127.0.0.1/', /no es un mapa admitido/],
    ['https:\\\\evil.example\\', /no es un mapa admitido/],
    ['http://www.google.com/maps?q=14.6,-90.5', /https/],
    ['https://www.google.com:8443/maps?q=14.6,-90.5', /puerto/],
    ['https://www.google.com:80/maps?q=14.6,-90.5', /puerto/],
    ['https://usuario@www.google.com/maps?q=14.6,-90.5', /usuario/],
    ['https://u:p@www.google.com/maps?q=14.6,-90.5', /usuario/],
    ['https://www.google.com@evil.example/maps', /usuario/],
    ['https://www.google.com./maps?q=14.6,-90.5', /mal escrito/],
    ['https://www.google.com/search?q=14.6,-90.5', /ruta/],
    ['https://www.google.com/url?q=https://evil.example', /ruta/],
    ['https://maps.google.com/url?q=https://evil.example', /ruta/],
    ['javascript:alert(1)', /https/],
    ['data:text/html,x', /https/],
    ['file:///etc/passwd', /https/],
    ['intent://maps.app.goo.gl/x#Intent;end', /https/],
    [`${G}?q=${'a'.repeat(2100)}`, /2,048/],
    ['https://', /sin decir adónde/],
  ])('%s', async (location, motivo) => {
    chain(SHORT_LINK, location)
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, motivo))
    expect(seen).toHaveLength(1)
    expect(connections).toHaveLength(1)
  })

  test('loops of one, two and three', async () => {
    for (const round of [
      [SHORT_LINK, SHORT_LINK],
      [SHORT_LINK, `${G}/a`, SHORT_LINK],
      [SHORT_LINK, `${G}/a`, `${G}/b`, `${G}/a#otra`],
    ]) {
      seen.length = 0
      chain(...round)
      expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /da vueltas/))
      expect(seen).toHaveLength(round.length - 1)
    }
  })

  test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '100.64.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1', '0.0.0.0'])(
    'a map that resolves to %s is not connected to',
    async (address) => {
      const family = address.includes(':') ? 6 : 4
      for (const direcciones of [[{ address, family }], [PUBLIC_ADDRESS, { address, family }]] as Address[][]) {
        const foreign = createShortLinkResolver({ resolver: async () => direcciones, ca: pair.cert })
        expect(await foreign.resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /no es pública/))
      }
      expect(connections).toEqual([])
    },
  )

  test('rebinding: every hop is resolved once, and what was checked is what is used', async () => {
    const queries: string[] = []
    const changingResolver = createShortLinkResolver({
      ca: pair.cert,
      resolver: async (name) => {
        queries.push(name)
        return [queries.length === 1 ? PUBLIC_ADDRESS : { address: '10.0.0.7', family: 4 }]
      },
    })
    chain(SHORT_LINK, `${SHORT_LINK}/dos`, POINT_LINK)
    expect(await changingResolver.resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /no es pública/))
    expect(queries).toEqual(['maps.app.goo.gl', 'maps.app.goo.gl'])
    expect(connections).toEqual([{ host: 'maps.app.goo.gl', port: 443, addresses: [PUBLIC_ADDRESS] }])
  })

  test('certificates are verified, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    chain(SHORT_LINK, POINT_LINK)
    const resolverWithoutCa = createShortLinkResolver({ resolver: resolvePublicly })
    expect(await resolverWithoutCa.resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /DEPTH_ZERO_SELF_SIGNED_CERT/))
    paths.set('https://www.google.es/maps?cid=1', POINT_LINK)
    expect(await resolver('https://www.google.es/maps?cid=1')).toEqual(buildMapsFailure(true, /ALTNAME/))
    expect(seen).toEqual([])
  })
})
