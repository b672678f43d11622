import { describe, expect, test, vi } from 'vitest'
import { createShortLinkResolver } from '../../server/platform/maps/shortLinks.ts'
import type { Address } from '../../server/platform/outbound/destination.ts'
import { COORDENADAS, CORTO, fallaDeMapas, PUBLICA, PUNTO, paginaHtml, par, publico, SIN, usarMapas } from './mapas.ts'
import { G } from './tablaDeEnlaces.ts'

const { cadena, conexiones, resolver, rutas, sinSockets, visitados, vistos } = usarMapas()

describe('follows the way', () => {
  test('one redirection; the link with the point is never asked for', async () => {
    cadena(CORTO, PUNTO)
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO])
    expect(conexiones).toEqual([{ host: 'maps.app.goo.gl', port: 443, direcciones: [PUBLICA] }])
    await sinSockets()
  })

  test('what is sent: no cookie, no referrer, nothing of ours', async () => {
    rutas.set(CORTO, (_req, res) =>
      res.writeHead(302, { location: 'https://goo.gl/maps/xyz', 'set-cookie': 'NID=1; Domain=goo.gl' }).end(),
    )
    rutas.set('https://goo.gl/maps/xyz', PUNTO)
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
    expect(vistos.map(({ method, headers }) => [method, headers])).toEqual(
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
    rutas.set(CORTO, [status, { location: PUNTO }])
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
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
  ])('a relative or odd Location: %s', async (_caso, location, destino) => {
    cadena(CORTO, `${G}/inicio`, location)
    rutas.set(destino, PUNTO)
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO, `${G}/inicio`, destino])
  })

  test('a Location in raw UTF-8', async () => {
    rutas.set(CORTO, [
      302,
      { location: Buffer.from('https://www.google.com/maps?q=14°38\'5.6"N90°30\'24.8"W').toString('latin1') },
    ])
    expect(await resolver(CORTO)).toEqual({
      tipo: 'coordenadas',
      coordenadas: { lat: 14.6348889, lng: -90.5068889 },
    })
  })

  test('five hops are followed and the sixth is not', async () => {
    const pasos = [1, 2, 3, 4, 5].map((n) => `${G}/paso/${n}`)
    cadena(CORTO, ...pasos.slice(0, 4), PUNTO)
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
    vistos.length = 0
    cadena(CORTO, ...pasos, PUNTO)
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, /más de 5 saltos/))
    expect(vistos).toHaveLength(6)
  })

  test('a way that ends at a map without a point', async () => {
    cadena(CORTO, `${G}?q=Casa&ftid=0x1:0x2`)
    rutas.set(`${G}?q=Casa&ftid=0x1:0x2`, paginaHtml('<title>Casa</title>'))
    expect(await resolver(CORTO)).toEqual(SIN)
  })

  test("Apple's short link, and one that ends at a wide view", async () => {
    const corto = 'https://maps.apple/p/U8rE9v8n8iVZjr'
    cadena(corto, 'https://maps.apple.com/place?coordinate=14.6349,-90.5069&name=Casa')
    expect(await resolver(corto)).toEqual(COORDENADAS)
    const vista = `${G}/place/Mixco/@14.5063862,-90.3951103,10z`
    cadena(CORTO, vista)
    rutas.set(vista, paginaHtml('<title>Mixco</title>'))
    expect(await resolver(CORTO)).toEqual(SIN)
  })

  test('a geo: link', async () => {
    cadena(CORTO, 'geo:14.6349,-90.5069')
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
    cadena(CORTO, 'geo:0,0')
    expect(await resolver(CORTO)).toEqual(SIN)
  })

  test('coordinates at once need no network; what is no map link is refused', async () => {
    expect(await resolver(PUNTO)).toEqual(COORDENADAS)
    expect(await resolver('https://evil.example/x')).toEqual(fallaDeMapas(false, /no es un mapa admitido/))
    expect(await resolver('basura')).toEqual(fallaDeMapas(false, /https/))
    expect(conexiones).toEqual([])
  })

  test('the hosts of the configuration', async () => {
    const solo = createShortLinkResolver({ resolver: publico, ca: par.cert, hosts: ['maps.app.goo.gl'] })
    cadena(CORTO, PUNTO)
    expect(await solo.resolver(CORTO)).toEqual(fallaDeMapas(false, /«www.google.com» no es un mapa admitido/))
  })
})

describe("Google's own obstacles", () => {
  const consentir = (continua: string, host = 'consent.google.com') =>
    `https://${host}/ml?continue=${encodeURIComponent(continua)}&gl=DE&hl=es`

  test.each(['consent.google.com', 'consent.google.de'])('the cookie notice at %s is passed by', async (host) => {
    cadena(CORTO, consentir(PUNTO, host))
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO])
  })

  test('it counts as a hop, and leads back only once', async () => {
    cadena(CORTO, `${G}?cid=1`, consentir(`${G}?cid=1`))
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, /da vueltas/))
    cadena(CORTO, `${G}?cid=1`, consentir(`${G}?cid=1&ucbcb=1`))
    rutas.set(`${G}?cid=1&ucbcb=1`, PUNTO)
    expect(await resolver(CORTO)).toEqual(COORDENADAS)
  })

  test.each([
    ['https://evil.example/', /no es un mapa admitido/],
    ['http://www.google.com/maps?q=1,1', /https/],
    ['https://127.0.0.1/maps', /no es un mapa admitido/],
    ['https://www.google.com:8443/maps', /puerto/],
    ['/maps', /no dice adónde/],
    ['', /no dice adónde/],
  ])('where it leads is judged like any other: %s', async (continua, motivo) => {
    cadena(CORTO, consentir(continua))
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, motivo))
    expect(vistos).toHaveLength(1)
  })

  test.each([
    'https://consent.google.evil.example/ml?continue=x',
    'https://consent.google.xyz/ml?continue=x',
    'https://consent.google.com.evil.example/ml',
  ])('who only looks like it: %s', async (enlace) => {
    cadena(CORTO, enlace)
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, /no es un mapa admitido/))
  })

  test('the test for robots passes by itself', async () => {
    cadena(CORTO, `https://www.google.com/sorry/index?continue=${encodeURIComponent(PUNTO)}`)
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(true, /robot/))
    cadena(CORTO, 'https://evil.example/sorry/index')
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, /no es un mapa/))
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
    cadena(CORTO, location)
    expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, motivo))
    expect(vistos).toHaveLength(1)
    expect(conexiones).toHaveLength(1)
  })

  test('loops of one, two and three', async () => {
    for (const vuelta of [
      [CORTO, CORTO],
      [CORTO, `${G}/a`, CORTO],
      [CORTO, `${G}/a`, `${G}/b`, `${G}/a#otra`],
    ]) {
      vistos.length = 0
      cadena(...vuelta)
      expect(await resolver(CORTO)).toEqual(fallaDeMapas(false, /da vueltas/))
      expect(vistos).toHaveLength(vuelta.length - 1)
    }
  })

  test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '100.64.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1', '0.0.0.0'])(
    'a map that resolves to %s is not connected to',
    async (address) => {
      const family = address.includes(':') ? 6 : 4
      for (const direcciones of [[{ address, family }], [PUBLICA, { address, family }]] as Address[][]) {
        const ajeno = createShortLinkResolver({ resolver: async () => direcciones, ca: par.cert })
        expect(await ajeno.resolver(CORTO)).toEqual(fallaDeMapas(false, /no es pública/))
      }
      expect(conexiones).toEqual([])
    },
  )

  test('rebinding: every hop is resolved once, and what was checked is what is used', async () => {
    const consultas: string[] = []
    const cambiante = createShortLinkResolver({
      ca: par.cert,
      resolver: async (nombre) => {
        consultas.push(nombre)
        return [consultas.length === 1 ? PUBLICA : { address: '10.0.0.7', family: 4 }]
      },
    })
    cadena(CORTO, `${CORTO}/dos`, PUNTO)
    expect(await cambiante.resolver(CORTO)).toEqual(fallaDeMapas(false, /no es pública/))
    expect(consultas).toEqual(['maps.app.goo.gl', 'maps.app.goo.gl'])
    expect(conexiones).toEqual([{ host: 'maps.app.goo.gl', port: 443, direcciones: [PUBLICA] }])
  })

  test('certificates are verified, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    cadena(CORTO, PUNTO)
    const sinCa = createShortLinkResolver({ resolver: publico })
    expect(await sinCa.resolver(CORTO)).toEqual(fallaDeMapas(true, /DEPTH_ZERO_SELF_SIGNED_CERT/))
    rutas.set('https://www.google.es/maps?cid=1', PUNTO)
    expect(await resolver('https://www.google.es/maps?cid=1')).toEqual(fallaDeMapas(true, /ALTNAME/))
    expect(vistos).toEqual([])
  })
})
