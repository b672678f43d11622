import { once } from 'node:events'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readPendingLinks, resolveLinks } from '../../server/domain/ubicacion/resolveLinks.ts'
import { createShortLinkResolver, type ShortLinkResolver } from '../../server/platform/maps/shortLinks.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createCertificate, encodeDnsName } from '../certificate.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { checkHistory, useUbicacionRequests } from './requests.ts'

// The service has no place for a CA of our own, so its job is done here by hand, over the same database.
const entorno = useEnvironment(
  { resolver: () => Promise.reject(new Error('the service itself looks nothing up')) },
  () => ({ WORKERS: '0' }),
)
const nuevoReceptor = useReceivers()
const { leer, rows: filas, scanEstados } = useUbicacionRequests(entorno)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const CORTO = 'https://maps.app.goo.gl/abc123'
const OTRO = 'https://maps.app.goo.gl/xyz789'
const PUNTO = 'https://www.google.com/maps/place/Casa/@14.1,-90.1,17z/data=!4m2!3m1!1s0x1:0x2!8m2!3d14.6349!4d-90.6069'
const SIN_PUNTO = 'https://www.google.com/maps/place/Mixco'

// --- maps.app.goo.gl, as a real https server: only the last step of the way to it is bent ---

const par = createCertificate(['maps.app.goo.gl', 'www.google.com'].map(encodeDnsName))
const rutas = new Map<string, string | number>()
const vistos: string[] = []
let alVer: () => Promise<unknown> = async () => {}
const servidor = https.createServer(par, async (req, res) => {
  const enlace = `https://${req.headers.host}${req.url}`
  vistos.push(enlace)
  await alVer()
  const respuesta = rutas.get(enlace) ?? 404
  if (typeof respuesta === 'number') res.writeHead(respuesta).end()
  else res.writeHead(302, { location: respuesta }).end()
})
let resolutor: ShortLinkResolver
beforeAll(async () => {
  await once(servidor.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  servidor.closeAllConnections()
  servidor.close()
})
beforeEach(() => {
  rutas.clear()
  vistos.length = 0
  alVer = async () => {}
  const original = tls.connect as (opciones: tls.ConnectionOptions) => tls.TLSSocket
  const { port } = servidor.address() as net.AddressInfo
  vi.spyOn(tls, 'connect').mockImplementation(((opciones: tls.ConnectionOptions) =>
    original({ ...opciones, socket: net.connect(port, '127.0.0.1') })) as typeof tls.connect)
  resolutor = createShortLinkResolver({
    resolver: async () => [{ address: '142.250.1.1', family: 4 }],
    timeout: 2_000,
    ca: par.cert,
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await resolutor.close()
})

const lineas: unknown[] = []
const deps = () => ({
  db: entorno.db,
  log: { info: (...partes: unknown[]) => lineas.push(partes) } as never,
  clock: entorno.clock,
  notifyJobs: () => {},
  shortLinks: resolutor,
})
/** A round of the feeder and what it feeds. */
async function ronda() {
  const trabajos = await readPendingLinks(deps(), 1_000)
  await resolveLinks(
    deps(),
    trabajos.map(({ id, data }) => ({ id: id!, data: data! })),
  )
  return trabajos.length
}
const adelantar = (ms: number) => entorno.advance(ms)
async function conEnlace(comercio: Comercio, maps_url: string) {
  const { lat: _lat, lng: _lng, ...sin } = buildGuia({ ...MIXCO, maps_url })
  return comercio.api.guias.crear(sin)
}

describe('a guide with a short link', () => {
  it('gets its coordinates later, as an event that webhooks tell', async () => {
    const comercio = await entorno.nuevoComercio()
    await comercio.api.webhooks.crear({ url: (await nuevoReceptor()).url, tipos: ['ubicacion.*'] })
    const creada = await conEnlace(comercio, CORTO)
    expect(creada).toMatchObject({
      advertencias: [{ codigo: 'enlace_sin_coordenadas' }],
      maps_url: CORTO,
      ubicacion: { estado: 'confirmada', origen: 'maps_url', lat: null, lng: null, maps_url: CORTO, solicitud: null },
    })
    rutas.set(CORTO, PUNTO)
    expect(await ronda()).toBe(1)
    const guia = await leer(comercio, creada.guia)
    checkHistory(guia, 'confirmada')
    expect(guia).toMatchObject({
      advertencias: [],
      lat: null,
      lng: null,
      maps_url: CORTO,
      ubicacion: { estado: 'confirmada', origen: 'maps_url', lat: 14.6349, lng: -90.6069, maps_url: CORTO },
    })
    expect(guia.ubicacion.distancia_km).toBeLessThan(5)
    expect(guia.eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'ubicacion.confirmada'])
    expect(guia.eventos.datos[1]).toMatchObject({ lat: 14.6349, lng: -90.6069 })
    const { rows } = await entorno.db.pool.query('select tipo from webhook_aviso where evento = $1', [
      `evt_${guia.guia}_2`,
    ])
    expect(rows).toEqual([{ tipo: 'ubicacion.confirmada' }])
    // Nothing is left to do, and asking again changes nothing.
    expect(await ronda()).toBe(0)
    expect((await filas(creada.guia)).enlace_corto).toEqual([])
    const { eventos: _eventos, ...como } = guia
    const { lat: _lat, lng: _lng, ...otra } = buildGuia({ ...MIXCO, maps_url: CORTO, external_ref: guia.external_ref! })
    expect(await comercio.api.guias.crear(otra)).toEqual(como)
  })

  it('keeps the warning that the address was corrected meanwhile', async () => {
    rutas.set(CORTO, PUNTO)
    const { api } = await entorno.nuevoComercio()
    const { lat: _lat, lng: _lng, ...sinLugar } = buildGuia(MIXCO)
    const { guia } = await api.guias.crear({ ...sinLugar, maps_url: CORTO })
    await api.guias.corregir(guia, { direccion: 'Calle 9' })
    await ronda()
    const { ubicacion, advertencias } = await api.guias.obtener(guia)
    expect([ubicacion.lat, advertencias.map(({ codigo }) => codigo)]).toEqual([14.6349, ['lugar_por_revisar']])
  })

  it('that leads far away is flagged', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await conEnlace(comercio, CORTO)
    rutas.set(CORTO, 'https://www.google.com/maps?q=16.93,-89.89')
    await ronda()
    expect(await leer(comercio, guia)).toMatchObject({
      advertencias: [{ codigo: 'fuera_del_departamento' }],
      ubicacion: { lat: 16.93 },
    })
  })

  it.each([
    ['leads to no point', () => rutas.set(CORTO, SIN_PUNTO).set(SIN_PUNTO, 204)],
    ['doesn’t exist', () => rutas.set(CORTO, 404)],
    ['leaves the maps', () => rutas.set(CORTO, 'https://evil.example/maps')],
  ])('that %s keeps the link, and is left alone', async (_caso, preparar) => {
    const comercio = await entorno.nuevoComercio()
    const creada = await conEnlace(comercio, CORTO)
    preparar()
    expect(await ronda()).toBe(1)
    const { eventos: _eventos, ...guia } = await leer(comercio, creada.guia)
    expect(guia).toEqual(creada)
    adelantar(240 * HOUR_MS)
    expect(await ronda()).toBe(0)
  })

  it('that fails for now is tried again, later and later, for two days, and then no more', async () => {
    const comercio = await entorno.nuevoComercio()
    const creada = await conEnlace(comercio, CORTO)
    rutas.set(CORTO, 503)
    const esperas: number[] = []
    for (let intentos = 1; ; intentos++) {
      expect(await ronda()).toBe(1)
      expect(vistos).toHaveLength(intentos)
      const [fila] = (await filas(creada.guia)).enlace_corto
      if (!fila) break
      const espera = fila.proximo_en.getTime() - deps().clock().getTime()
      esperas.push(Math.round(espera / 1_000))
      adelantar(espera - 1_500)
      expect(await ronda()).toBe(0)
      adelantar(1_600)
    }
    expect(esperas).toEqual([60, 600, 3_600, 14_400, 43_200, 86_400])
    const { eventos: _eventos, ...guia } = await leer(comercio, creada.guia)
    expect(guia).toEqual(creada)
    adelantar(240 * HOUR_MS)
    expect(await ronda()).toBe(0)
  })

  it('that fails once gets its coordinates at the second try', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await conEnlace(comercio, CORTO)
    rutas.set(CORTO, 503)
    await ronda()
    rutas.set(CORTO, PUNTO)
    adelantar(61_000)
    await ronda()
    expect((await leer(comercio, guia)).ubicacion.lat).toBe(14.6349)
  })

  it('followed twice at once is one event', async () => {
    const comercio = await entorno.nuevoComercio()
    const guias = await Promise.all(Array.from({ length: 20 }, () => conEnlace(comercio, CORTO)))
    rutas.set(CORTO, PUNTO)
    await Promise.allSettled([ronda(), ronda(), ronda()])
    // On a busy machine some of the 60 exchanges run into their deadline, and are tried again later.
    do adelantar(24 * HOUR_MS)
    while ((await ronda()) > 0)
    for (const { guia } of guias) {
      const leida = await leer(comercio, guia)
      checkHistory(leida, 'confirmada')
      expect([leida.secuencia, leida.ubicacion.lat]).toEqual([2, 14.6349])
    }
  })
})

describe('a newer answer in the meantime wins', () => {
  it('with coordinates, before or while the link is followed', async () => {
    const comercio = await entorno.nuevoComercio()
    rutas.set(CORTO, PUNTO)
    const { guia: antes } = await conEnlace(comercio, CORTO)
    await comercio.api.guias.confirmarUbicacion(antes, { lat: 14.7, lng: -90.6 })
    await ronda()
    const { guia: durante } = await conEnlace(comercio, CORTO)
    alVer = () => comercio.api.guias.confirmarUbicacion(durante, { lat: 14.7, lng: -90.6 })
    await ronda().catch(() => {})
    alVer = async () => {}
    await ronda()
    for (const guia of [antes, durante]) {
      const leida = await leer(comercio, guia)
      checkHistory(leida, 'confirmada')
      expect(leida).toMatchObject({ secuencia: 2, advertencias: [], ubicacion: { lat: 14.7, origen: 'comercio' } })
      expect((await filas(guia)).enlace_corto).toEqual([])
    }
  })

  it('with another short link, before or while the first is followed', async () => {
    const comercio = await entorno.nuevoComercio()
    rutas.set(CORTO, 'https://www.google.com/maps?q=14.1,-90.1')
    rutas.set(OTRO, PUNTO)
    const { guia: antes } = await conEnlace(comercio, CORTO)
    await comercio.api.guias.confirmarUbicacion(antes, { maps_url: OTRO })
    await ronda()
    const { guia: durante } = await conEnlace(comercio, CORTO)
    alVer = async () => {
      alVer = async () => {}
      await comercio.api.guias.confirmarUbicacion(durante, { maps_url: OTRO })
    }
    await ronda().catch(() => {})
    await ronda()
    for (const guia of [antes, durante]) {
      const leida = await leer(comercio, guia)
      checkHistory(leida, 'confirmada')
      expect(leida.ubicacion).toMatchObject({ lat: 14.6349, maps_url: OTRO, origen: 'comercio' })
    }
  })

  it('with a link that has no point', async () => {
    const comercio = await entorno.nuevoComercio()
    rutas.set(CORTO, 503)
    const { guia } = await conEnlace(comercio, CORTO)
    await ronda()
    await comercio.api.guias.confirmarUbicacion(guia, { maps_url: SIN_PUNTO })
    rutas.set(CORTO, PUNTO)
    adelantar(61_000)
    await ronda()
    expect(await leer(comercio, guia)).toMatchObject({
      secuencia: 2,
      advertencias: [{ codigo: 'enlace_sin_coordenadas' }],
      ubicacion: { lat: null, lng: null, maps_url: SIN_PUNTO },
    })
    expect((await filas(guia)).enlace_corto).toEqual([])
  })

  it('and a guide that is over is left alone; one on its way is not', async () => {
    const comercio = await entorno.nuevoComercio()
    rutas.set(CORTO, PUNTO)
    const [{ guia: cancelada }, { guia: enRuta }] = [await conEnlace(comercio, CORTO), await conEnlace(comercio, CORTO)]
    await comercio.api.guias.cancelar(cancelada)
    await scanEstados(enRuta, 'recolectado', 'en_ruta')
    await ronda()
    const leida = await leer(comercio, cancelada)
    checkHistory(leida, 'confirmada')
    expect([leida.secuencia, leida.ubicacion.lat]).toEqual([2, null])
    expect((await leer(comercio, enRuta)).ubicacion.lat).toBe(14.6349)
    expect((await filas(cancelada)).enlace_corto).toEqual([])
  })
})

describe('afterwards', () => {
  it('no log has a link', async () => {
    await hasta(async () => lineas.length > 0)
    expect(JSON.stringify(lineas) + entorno.log.join('\n')).not.toMatch(/\babc123|\bxyz789|14\.6349/)
  })
})
