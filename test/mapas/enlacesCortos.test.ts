import { once } from 'node:events'
import type http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { crearResolutorDeEnlaces, type ResolutorDeEnlaces } from '../../server/mapas/enlacesCortos.ts'
import { objetivosDePagina } from '../../server/mapas/objetivosDePagina.ts'
import type { Direccion, Resolver } from '../../server/salida/destino.ts'
import { certificado, paraNombre } from '../certificado.ts'

const PLAZO = 500
const CORTO = 'https://maps.app.goo.gl/abc123'
const G = 'https://www.google.com/maps'
const PUNTO = `${G}/place/Casa/@14.1,-90.1,17z/data=!4m2!3m1!1s0x1:0x2!8m2!3d14.6349!4d-90.5069`
const COORDENADAS = { tipo: 'coordenadas', coordenadas: { lat: 14.6349, lng: -90.5069 } }
const SIN = { tipo: 'sin_coordenadas' }
const PUBLICA: Direccion = { address: '142.250.1.1', family: 4 }
const publico: Resolver = async () => [PUBLICA]
const falla = (pasajera: boolean, motivo: RegExp) => ({
  tipo: 'falla',
  pasajera,
  motivo: expect.stringMatching(motivo),
})

// --- One real https server stands for every host ---

const par = certificado(
  ['maps.app.goo.gl', 'goo.gl', '*.google.com', 'google.com', '*.google.com.gt', 'waze.com'].map(paraNombre),
)
type Respuesta = string | http.RequestListener | [status: number, cabeceras?: http.OutgoingHttpHeaders, cuerpo?: string]

let servidor: https.Server
let puerto: number
const abiertos = new Set<net.Socket>()
const rutas = new Map<string, Respuesta>()
const vistos: http.IncomingMessage[] = []
const enlaceDe = (req: http.IncomingMessage) => `https://${req.headers.host}${req.url}`

/** A string redirects. */
function atender(req: http.IncomingMessage, res: http.ServerResponse) {
  vistos.push(req)
  const respuesta = rutas.get(enlaceDe(req))
  if (typeof respuesta === 'function') return respuesta(req, res)
  if (typeof respuesta === 'string') return res.writeHead(302, { location: respuesta }).end('<a>aquí</a>')
  const [status, cabeceras, cuerpo] = respuesta ?? [404]
  return res.writeHead(status, cabeceras).end(cuerpo)
}

beforeAll(async () => {
  servidor = https.createServer(par, atender).on('tlsClientError', () => {})
  servidor.on('connection', (socket: net.Socket) => {
    abiertos.add(socket)
    socket.on('error', () => {}).on('close', () => abiertos.delete(socket))
  })
  await once(servidor.listen(0, '127.0.0.1'), 'listening')
  puerto = (servidor.address() as net.AddressInfo).port
})
afterAll(() => {
  for (const socket of abiertos) socket.destroy()
  servidor.close()
})

/** Public addresses are all that it may connect to, so the way there is bent here, at the last step, and nothing else. */
const conexiones: { host: string; port: number; direcciones: Direccion[] }[] = []
function desviar(a = puerto) {
  vi.restoreAllMocks()
  const original = tls.connect as (opciones: tls.ConnectionOptions) => tls.TLSSocket
  vi.spyOn(tls, 'connect').mockImplementation(((opciones: tls.ConnectionOptions) => {
    opciones.lookup!(opciones.host!, { all: true }, (_error, direcciones) =>
      conexiones.push({
        host: opciones.host!,
        port: Number(opciones.port),
        direcciones: direcciones as unknown as Direccion[],
      }),
    )
    return original({ ...opciones, socket: net.connect(a, '127.0.0.1') })
  }) as typeof tls.connect)
}

let resolutor: ResolutorDeEnlaces
beforeEach(() => {
  rutas.clear()
  vistos.length = 0
  conexiones.length = 0
  desviar()
  resolutor = crearResolutorDeEnlaces({ resolver: publico, plazo: PLAZO, ca: par.cert })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await resolutor.cerrar()
})

/** `a` leads to `b`, `b` to `c`… */
function cadena(...enlaces: string[]) {
  for (const [i, enlace] of enlaces.slice(0, -1).entries()) rutas.set(enlace, enlaces[i + 1]!)
}
const html = (cuerpo: string, cabeceras = {}): Respuesta => [
  200,
  { 'content-type': 'text/html; charset=utf-8', ...cabeceras },
  cuerpo,
]
const visitados = () => vistos.map(enlaceDe)
const sinSockets = () => vi.waitFor(() => expect(abiertos.size).toBe(0))

// --- The way ---

describe('follows the way', () => {
  test('one redirection; the link with the point is never asked for', async () => {
    cadena(CORTO, PUNTO)
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO])
    expect(conexiones).toEqual([{ host: 'maps.app.goo.gl', port: 443, direcciones: [PUBLICA] }])
    await sinSockets()
  })

  test('what is sent: no cookie, no referrer, nothing of ours', async () => {
    rutas.set(CORTO, (_req, res) =>
      res.writeHead(302, { location: 'https://goo.gl/maps/xyz', 'set-cookie': 'NID=1; Domain=goo.gl' }).end(),
    )
    rutas.set('https://goo.gl/maps/xyz', PUNTO)
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
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
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
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
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO, `${G}/inicio`, destino])
  })

  test('a Location in raw UTF-8', async () => {
    rutas.set(CORTO, [
      302,
      { location: Buffer.from('https://www.google.com/maps?q=14°38\'5.6"N90°30\'24.8"W').toString('latin1') },
    ])
    expect(await resolutor.resolver(CORTO)).toEqual({
      tipo: 'coordenadas',
      coordenadas: { lat: 14.6348889, lng: -90.5068889 },
    })
  })

  test('five hops are followed and the sixth is not', async () => {
    const pasos = [1, 2, 3, 4, 5].map((n) => `${G}/paso/${n}`)
    cadena(CORTO, ...pasos.slice(0, 4), PUNTO)
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    vistos.length = 0
    cadena(CORTO, ...pasos, PUNTO)
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, /más de 5 saltos/))
    expect(vistos).toHaveLength(6)
  })

  test('a way that ends at a map without a point', async () => {
    cadena(CORTO, `${G}?q=Casa&ftid=0x1:0x2`)
    rutas.set(`${G}?q=Casa&ftid=0x1:0x2`, html('<title>Casa</title>'))
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
  })

  test('a geo: link', async () => {
    cadena(CORTO, 'geo:14.6349,-90.5069')
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    cadena(CORTO, 'geo:0,0')
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
  })

  test('coordinates at once need no network; what is no map link is refused', async () => {
    expect(await resolutor.resolver(PUNTO)).toEqual(COORDENADAS)
    expect(await resolutor.resolver('https://evil.example/x')).toEqual(falla(false, /no es un mapa admitido/))
    expect(await resolutor.resolver('basura')).toEqual(falla(false, /https/))
    expect(conexiones).toEqual([])
  })

  test('the hosts of the configuration', async () => {
    const solo = crearResolutorDeEnlaces({ resolver: publico, ca: par.cert, hosts: ['maps.app.goo.gl'] })
    cadena(CORTO, PUNTO)
    expect(await solo.resolver(CORTO)).toEqual(falla(false, /«www.google.com» no es un mapa admitido/))
  })
})

describe("Google's own obstacles", () => {
  const consentir = (continua: string, host = 'consent.google.com') =>
    `https://${host}/ml?continue=${encodeURIComponent(continua)}&gl=DE&hl=es`

  test.each(['consent.google.com', 'consent.google.de'])('the cookie notice at %s is passed by', async (host) => {
    cadena(CORTO, consentir(PUNTO, host))
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO])
  })

  test('it counts as a hop, and leads back only once', async () => {
    cadena(CORTO, `${G}?cid=1`, consentir(`${G}?cid=1`))
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, /da vueltas/))
    cadena(CORTO, `${G}?cid=1`, consentir(`${G}?cid=1&ucbcb=1`))
    rutas.set(`${G}?cid=1&ucbcb=1`, PUNTO)
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
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
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, motivo))
    expect(vistos).toHaveLength(1)
  })

  test.each([
    'https://consent.google.evil.example/ml?continue=x',
    'https://consent.google.xyz/ml?continue=x',
    'https://consent.google.com.evil.example/ml',
  ])('who only looks like it: %s', async (enlace) => {
    cadena(CORTO, enlace)
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, /no es un mapa admitido/))
  })

  test('the test for robots passes by itself', async () => {
    cadena(CORTO, `https://www.google.com/sorry/index?continue=${encodeURIComponent(PUNTO)}`)
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /robot/))
    cadena(CORTO, 'https://evil.example/sorry/index')
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, /no es un mapa/))
  })
})

describe('pages that carry the target', () => {
  const FIN = `${G}/fin?cid=7`
  test.each([
    ['meta refresh', `<meta http-equiv="refresh" content="0; url=${FIN}">`],
    ['meta refresh, the other way round', `<META content='0;URL="${FIN}"' HTTP-EQUIV='Refresh'/>`],
    ['meta refresh, relative', '<meta http-equiv=refresh content="0;url=fin?cid=7">'],
    ['window.location', `<script>window.location = "${FIN}"</script>`],
    ['location.href', `<script>window.location.href='${FIN}';</script>`],
    [
      'location.replace with escapes',
      '<script>location.replace("https:\\/\\/www.google.com\\/maps\\/fin\\x3fcid\\u003d7")</script>',
    ],
    ['canonical', `<link href="${FIN}" rel="canonical">`],
    [
      'after others that are of no use',
      `<meta http-equiv="refresh" content="0;url=/httpservice/retry/enablejs"><script>window.location='https://evil.example/'</script><link rel="canonical" href="${FIN}">`,
    ],
  ])('%s', async (_caso, cuerpo) => {
    cadena(CORTO, `${G}/inicio`)
    rutas.set(`${G}/inicio`, html(`<!doctype html><html><head>${cuerpo}</head></html>`))
    rutas.set(FIN, PUNTO)
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO, `${G}/inicio`, FIN])
  })

  test('of several targets, the one that names the point', async () => {
    const refresco = `<meta http-equiv="refresh" content="0;url=${FIN}">`
    rutas.set(CORTO, html(`${refresco}<link rel="canonical" href="${PUNTO}">`))
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    expect(visitados()).toEqual([CORTO])
  })

  test('entities in the target', async () => {
    rutas.set(CORTO, html('<link rel="canonical" href="https://www.google.com/maps?cid=1&amp;q=14.6349,-90.5069">'))
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
  })

  test.each([
    ['itself', `<link rel="canonical" href="${CORTO}">`],
    ['the bare map', `<link rel="canonical" href="${G}">`],
    ['the surroundings of who asks', `<link rel="canonical" href="${G}/@50.1,8.6,11z">`],
    ['another site', '<meta http-equiv="refresh" content="0;url=https://evil.example/?q=14.6,-90.5">'],
    ['http', '<meta http-equiv="refresh" content="0;url=http://www.google.com/maps?q=14.6,-90.5">'],
    ['a private address', '<script>location="https://169.254.169.254/"</script>'],
    ['nothing', '<p>14.6,-90.5</p>'],
  ])('no target: %s', async (_caso, cuerpo) => {
    rutas.set(CORTO, html(cuerpo))
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
    expect(vistos).toHaveLength(1)
  })

  test('two pages that lead to each other', async () => {
    rutas.set(CORTO, html(`<meta http-equiv="refresh" content="0;url=${FIN}">`))
    rutas.set(FIN, html(`<meta http-equiv="refresh" content="0;url=${CORTO}">`))
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
    expect(vistos).toHaveLength(2)
  })

  test('compressed or not HTML: not read', async () => {
    const cuerpo = `<meta http-equiv="refresh" content="0;url=${PUNTO}">`
    rutas.set(CORTO, (_req, res) =>
      res.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync(cuerpo)),
    )
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
    rutas.set(CORTO, [200, { 'content-type': 'text/plain' }, cuerpo])
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
    rutas.set(CORTO, html(cuerpo))
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
  })

  test('a compressed redirection is a redirection', async () => {
    rutas.set(CORTO, (_req, res) =>
      res.writeHead(302, { location: PUNTO, 'content-encoding': 'gzip' }).end(gzipSync('hola')),
    )
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
  })

  test('hostile pages are read in linear time', () => {
    let peor = 0
    const base = new URL(CORTO)
    for (const trozo of [
      '<meta ',
      '<meta http-equiv=refresh content="',
      '<link rel=canonical ',
      'location',
      'location="',
      "location = '",
      '<meta content=\t',
      '&amp',
      'location.replace (',
      ' ',
      '\\x',
      '<meta http-equiv=refresh content="0;url=x">',
    ]) {
      const pagina = trozo.repeat(Math.ceil(65_536 / trozo.length))
      // The best of three, for busy machines.
      const tiempos = [1, 2, 3].map(() => {
        const antes = performance.now()
        expect(objetivosDePagina(pagina, base).length).toBeLessThanOrEqual(20)
        return performance.now() - antes
      })
      peor = Math.max(peor, Math.min(...tiempos))
    }
    expect(peor).toBeLessThan(250)
  })
})

// --- What is refused ---

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
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, motivo))
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
      expect(await resolutor.resolver(CORTO)).toEqual(falla(false, /da vueltas/))
      expect(vistos).toHaveLength(vuelta.length - 1)
    }
  })

  test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '100.64.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1', '0.0.0.0'])(
    'a map that resolves to %s is not connected to',
    async (address) => {
      const family = address.includes(':') ? 6 : 4
      for (const direcciones of [[{ address, family }], [PUBLICA, { address, family }]] as Direccion[][]) {
        const ajeno = crearResolutorDeEnlaces({ resolver: async () => direcciones, ca: par.cert })
        expect(await ajeno.resolver(CORTO)).toEqual(falla(false, /no es pública/))
      }
      expect(conexiones).toEqual([])
    },
  )

  test('rebinding: every hop is resolved once, and what was checked is what is used', async () => {
    const consultas: string[] = []
    const cambiante = crearResolutorDeEnlaces({
      ca: par.cert,
      resolver: async (nombre) => {
        consultas.push(nombre)
        return [consultas.length === 1 ? PUBLICA : { address: '10.0.0.7', family: 4 }]
      },
    })
    cadena(CORTO, `${CORTO}/dos`, PUNTO)
    expect(await cambiante.resolver(CORTO)).toEqual(falla(false, /no es pública/))
    expect(consultas).toEqual(['maps.app.goo.gl', 'maps.app.goo.gl'])
    expect(conexiones).toEqual([{ host: 'maps.app.goo.gl', port: 443, direcciones: [PUBLICA] }])
  })

  test('certificates are verified, whatever the environment says', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    cadena(CORTO, PUNTO)
    const sinCa = crearResolutorDeEnlaces({ resolver: publico })
    expect(await sinCa.resolver(CORTO)).toEqual(falla(true, /DEPTH_ZERO_SELF_SIGNED_CERT/))
    rutas.set('https://www.google.es/maps?cid=1', PUNTO)
    expect(await resolutor.resolver('https://www.google.es/maps?cid=1')).toEqual(falla(true, /ALTNAME/))
    expect(vistos).toEqual([])
  })
})

// --- What fails ---

describe('failures', () => {
  test.each<[number, boolean, RegExp]>([
    [404, false, /no existe o venció/],
    [410, false, /no existe o venció/],
    [400, false, /400/],
    [403, false, /403/],
    [300, false, /300/],
    [304, false, /304/],
    [408, true, /408/],
    [429, true, /429/],
    [500, true, /500/],
    [503, true, /503/],
  ])('%d', async (status, pasajera, motivo) => {
    rutas.set(CORTO, [status, { 'content-type': 'text/html' }])
    expect(await resolutor.resolver(CORTO)).toEqual(falla(pasajera, motivo))
  })

  test('a redirection to nowhere', async () => {
    rutas.set(CORTO, [302])
    expect(await resolutor.resolver(CORTO)).toEqual(falla(false, /sin decir adónde/))
  })

  test('the DNS fails or knows no address', async () => {
    for (const resolver of [() => Promise.reject(new Error('SERVFAIL')), async () => []] as Resolver[]) {
      expect(await crearResolutorDeEnlaces({ resolver }).resolver(CORTO)).toEqual(falla(true, /DNS/))
    }
  })

  test('nobody listens', async () => {
    const libre = net.createServer()
    await once(libre.listen(0, '127.0.0.1'), 'listening')
    const { port } = libre.address() as net.AddressInfo
    libre.close()
    desviar(port)
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /ECONNREFUSED/))
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closes', (socket) => socket.destroy()],
    ['answers no HTTP', (socket) => socket.end('220 hola\r\n')],
    [
      'closes in the middle of the page',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<p>'),
    ],
    ['sends endless headers', (socket) => socket.end(`HTTP/1.1 302 X\r\nLocation: ${'a'.repeat(20_000)}\r\n\r\n`)],
  ])('who %s', async (_caso, romper) => {
    rutas.set(CORTO, (req) => romper(req.socket))
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /No se pudo consultar/))
  })

  test('an endless page is read for 64 KB', async () => {
    let enviados = 0
    rutas.set(CORTO, (req, res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      const llenar = () => {
        while (!req.socket.destroyed && res.write(' '.repeat(16_384))) enviados += 16_384
      }
      res.on('drain', llenar)
      llenar()
    })
    const antes = performance.now()
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
    expect(performance.now() - antes).toBeLessThan(PLAZO)
    await sinSockets()
    // What the buffers of both kernels hold, and no more.
    expect(enviados).toBeLessThan(20_000_000)
  })

  test('the body of a redirection or of an error is not read, however long', async () => {
    let enviados = 0
    const sinFin =
      (status: number, cabeceras: http.OutgoingHttpHeaders): http.RequestListener =>
      (req, res) => {
        res.writeHead(status, cabeceras)
        const llenar = () => {
          while (!req.socket.destroyed && res.write(' '.repeat(16_384))) enviados += 16_384
        }
        res.on('drain', llenar)
        llenar()
      }
    rutas.set(CORTO, sinFin(302, { location: PUNTO }))
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
    rutas.set(CORTO, sinFin(503, { 'content-type': 'text/html' }))
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /503/))
    await sinSockets()
    expect(enviados).toBeLessThan(20_000_000)
  })

  test('a target after the first 64 KB is not seen', async () => {
    const cuerpo = `<meta http-equiv="refresh" content="0;url=${PUNTO}">`
    rutas.set(CORTO, html(' '.repeat(65_536) + cuerpo))
    expect(await resolutor.resolver(CORTO)).toEqual(SIN)
    rutas.set(CORTO, html(' '.repeat(65_536 - cuerpo.length) + cuerpo))
    expect(await resolutor.resolver(CORTO)).toEqual(COORDENADAS)
  })

  test.each<[string, http.RequestListener]>([
    ['answers nothing', () => {}],
    ['drips headers', (req) => gotear(req.socket, 'HTTP/1.1 302 Found\r\n', 'X: 1\r\n')],
    ['drips 1xx answers', (req) => gotear(req.socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['drips a page', (_req, res) => gotear(res.writeHead(200, { 'content-type': 'text/html' }), '<p>', ' ')],
  ])('who %s is waited for until the deadline', async (_caso, oyente) => {
    rutas.set(CORTO, oyente)
    const antes = performance.now()
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /plazo/))
    expect(performance.now() - antes).toBeGreaterThan(PLAZO - 20)
    expect(performance.now() - antes).toBeLessThan(PLAZO + 400)
    await sinSockets()
  })

  test('the deadline is for the whole way, and for the DNS, too', async () => {
    const lento =
      (location: string): http.RequestListener =>
      (_req, res) =>
        setTimeout(() => res.writeHead(302, { location }).end(), PLAZO * 0.4)
    rutas.set(CORTO, lento(`${G}/a`))
    rutas.set(`${G}/a`, lento(`${G}/b`))
    rutas.set(`${G}/b`, lento(PUNTO))
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /plazo/))
    const mudo = crearResolutorDeEnlaces({ resolver: () => new Promise(() => {}), plazo: 50 })
    expect(await mudo.resolver(CORTO)).toEqual(falla(true, /plazo/))
  })

  test('a DNS that answers after the deadline opens no connection', async () => {
    const { promise, resolve } = Promise.withResolvers<Direccion[]>()
    const tardo = crearResolutorDeEnlaces({ resolver: () => promise, plazo: 30, ca: par.cert })
    expect(await tardo.resolver(CORTO)).toEqual(falla(true, /plazo/))
    resolve([PUBLICA])
    await new Promise((listo) => setTimeout(listo, 30))
    expect(conexiones).toEqual([])
  })

  test('closing ends what is under way, and nothing begins after it', async () => {
    rutas.set(CORTO, () => {})
    const enCurso = resolutor.resolver(CORTO)
    await vi.waitFor(() => expect(vistos).toHaveLength(1))
    await resolutor.cerrar()
    expect(await enCurso).toEqual(falla(true, /se detuvo/))
    expect(await resolutor.resolver(CORTO)).toEqual(falla(true, /se detuvo/))
    expect(vistos).toHaveLength(1)
    await sinSockets()
  })

  test('many at a time leave nothing open', async () => {
    cadena(CORTO, `${G}/a`, PUNTO)
    const paciente = crearResolutorDeEnlaces({ resolver: publico, ca: par.cert })
    const todos = await Promise.all(Array.from({ length: 100 }, () => paciente.resolver(CORTO)))
    expect(todos.filter(({ tipo }) => tipo === 'coordenadas').length).toBe(100)
    await sinSockets()
  })
})

function gotear(flujo: NodeJS.WritableStream, inicio: string, gota: string) {
  if (inicio) flujo.write(inicio)
  const reloj = setInterval(() => flujo.write(gota), 20)
  flujo.on('close', () => clearInterval(reloj))
}
