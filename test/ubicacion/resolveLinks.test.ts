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
import { buildGuia, waitUntil } from '../factories.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { checkHistory, useUbicacionRequests } from './requests.ts'

// The service has no place for a CA of our own, so its job is done here by hand, over the same database.
const environment = useEnvironment(
  { resolver: () => Promise.reject(new Error('the service itself looks nothing up')) },
  () => ({ WORKERS: '0' }),
)
const openReceiver = useReceivers()
const { read: leer, rows: readTableRows, scanEstados } = useUbicacionRequests(environment)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const SHORT_LINK = 'https://maps.app.goo.gl/abc123'
const OTRO = 'https://maps.app.goo.gl/xyz789'
const PUNTO = 'https://www.google.com/maps/place/Casa/@14.1,-90.1,17z/data=!4m2!3m1!1s0x1:0x2!8m2!3d14.6349!4d-90.6069'
const LINK_WITHOUT_POINT = 'https://www.google.com/maps/place/Mixco'

// --- maps.app.goo.gl, as a real https server: only the last step of the way to it is bent ---

const pair = createCertificate(['maps.app.goo.gl', 'www.google.com'].map(encodeDnsName))
const paths = new Map<string, string | number>()
const seen: string[] = []
let onView: () => Promise<unknown> = async () => {}
const server = https.createServer(pair, async (req, res) => {
  const link = `https://${req.headers.host}${req.url}`
  seen.push(link)
  await onView()
  const response = paths.get(link) ?? 404
  if (typeof response === 'number') res.writeHead(response).end()
  else res.writeHead(302, { location: response }).end()
})
let resolver: ShortLinkResolver
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  paths.clear()
  seen.length = 0
  onView = async () => {}
  const original = tls.connect as (options: tls.ConnectionOptions) => tls.TLSSocket
  const { port } = server.address() as net.AddressInfo
  vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) =>
    original({ ...options, socket: net.connect(port, '127.0.0.1') })) as typeof tls.connect)
  resolver = createShortLinkResolver({
    resolver: async () => [{ address: '142.250.1.1', family: 4 }],
    timeout: 2_000,
    ca: pair.cert,
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await resolver.close()
})

const lines: unknown[] = []
const deps = () => ({
  db: environment.db,
  log: { info: (...parts: unknown[]) => lines.push(parts) } as never,
  clock: environment.clock,
  notifyJobs: () => {},
  shortLinks: resolver,
})
/** A round of the feeder and what it feeds. */
async function round() {
  const jobs = await readPendingLinks(deps(), 1_000)
  await resolveLinks(
    deps(),
    jobs.map(({ id, data }) => ({ id: id!, data: data! })),
  )
  return jobs.length
}
const advance = (ms: number) => environment.advance(ms)
async function withMapLink(comercio: Comercio, maps_url: string) {
  const { lat: _lat, lng: _lng, ...caseWithout } = buildGuia({ ...MIXCO, maps_url })
  return comercio.api.guias.crear(caseWithout)
}

describe('a guide with a short link', () => {
  it('gets its coordinates later, as an event that webhooks tell', async () => {
    const comercio = await environment.createComercio()
    await comercio.api.webhooks.crear({ url: (await openReceiver()).url, tipos: ['ubicacion.*'] })
    const created = await withMapLink(comercio, SHORT_LINK)
    expect(created).toMatchObject({
      advertencias: [{ codigo: 'enlace_sin_coordenadas' }],
      maps_url: SHORT_LINK,
      ubicacion: {
        estado: 'confirmada',
        origen: 'maps_url',
        lat: null,
        lng: null,
        maps_url: SHORT_LINK,
        solicitud: null,
      },
    })
    paths.set(SHORT_LINK, PUNTO)
    expect(await round()).toBe(1)
    const guia = await leer(comercio, created.guia)
    checkHistory(guia, 'confirmada')
    expect(guia).toMatchObject({
      advertencias: [],
      lat: null,
      lng: null,
      maps_url: SHORT_LINK,
      ubicacion: { estado: 'confirmada', origen: 'maps_url', lat: 14.6349, lng: -90.6069, maps_url: SHORT_LINK },
    })
    expect(guia.ubicacion.distancia_km).toBeLessThan(5)
    expect(guia.eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'ubicacion.confirmada'])
    expect(guia.eventos.datos[1]).toMatchObject({ lat: 14.6349, lng: -90.6069 })
    const { rows } = await environment.db.pool.query('select tipo from webhook_aviso where evento = $1', [
      `evt_${guia.guia}_2`,
    ])
    expect(rows).toEqual([{ tipo: 'ubicacion.confirmada' }])
    // Nothing is left to do, and asking again changes nothing.
    expect(await round()).toBe(0)
    expect((await readTableRows(created.guia)).enlace_corto).toEqual([])
    const { eventos: _eventos, ...asSpecified } = guia
    const {
      lat: _lat,
      lng: _lng,
      ...other
    } = buildGuia({ ...MIXCO, maps_url: SHORT_LINK, external_ref: guia.external_ref! })
    expect(await comercio.api.guias.crear(other)).toEqual(asSpecified)
  })

  it('keeps the warning that the address was corrected meanwhile', async () => {
    paths.set(SHORT_LINK, PUNTO)
    const { api } = await environment.createComercio()
    const { lat: _lat, lng: _lng, ...guiaWithoutPlace } = buildGuia(MIXCO)
    const { guia } = await api.guias.crear({ ...guiaWithoutPlace, maps_url: SHORT_LINK })
    await api.guias.corregir(guia, { direccion: 'Calle 9' })
    await round()
    const { ubicacion, advertencias } = await api.guias.obtener(guia)
    expect([ubicacion.lat, advertencias.map(({ codigo }) => codigo)]).toEqual([14.6349, ['lugar_por_revisar']])
  })

  it('that leads far away is flagged', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await withMapLink(comercio, SHORT_LINK)
    paths.set(SHORT_LINK, 'https://www.google.com/maps?q=16.93,-89.89')
    await round()
    expect(await leer(comercio, guia)).toMatchObject({
      advertencias: [{ codigo: 'fuera_del_departamento' }],
      ubicacion: { lat: 16.93 },
    })
  })

  it.each([
    ['leads to no point', () => paths.set(SHORT_LINK, LINK_WITHOUT_POINT).set(LINK_WITHOUT_POINT, 204)],
    ['doesn’t exist', () => paths.set(SHORT_LINK, 404)],
    ['leaves the maps', () => paths.set(SHORT_LINK, 'https://evil.example/maps')],
  ])('that %s keeps the link, and is left alone', async (_case, prepare) => {
    const comercio = await environment.createComercio()
    const created = await withMapLink(comercio, SHORT_LINK)
    prepare()
    expect(await round()).toBe(1)
    const { eventos: _eventos, ...guia } = await leer(comercio, created.guia)
    expect(guia).toEqual(created)
    advance(240 * HOUR_MS)
    expect(await round()).toBe(0)
  })

  it('that fails for now is tried again, later and later, for two days, and then no more', async () => {
    const comercio = await environment.createComercio()
    const created = await withMapLink(comercio, SHORT_LINK)
    paths.set(SHORT_LINK, 503)
    const esperas: number[] = []
    for (let intentos = 1; ; intentos++) {
      expect(await round()).toBe(1)
      expect(seen).toHaveLength(intentos)
      const [row] = (await readTableRows(created.guia)).enlace_corto
      if (!row) break
      const wait = row.proximo_en.getTime() - deps().clock().getTime()
      esperas.push(Math.round(wait / 1_000))
      advance(wait - 1_500)
      expect(await round()).toBe(0)
      advance(1_600)
    }
    expect(esperas).toEqual([60, 600, 3_600, 14_400, 43_200, 86_400])
    const { eventos: _eventos, ...guia } = await leer(comercio, created.guia)
    expect(guia).toEqual(created)
    advance(240 * HOUR_MS)
    expect(await round()).toBe(0)
  })

  it('that fails once gets its coordinates at the second try', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await withMapLink(comercio, SHORT_LINK)
    paths.set(SHORT_LINK, 503)
    await round()
    paths.set(SHORT_LINK, PUNTO)
    advance(61_000)
    await round()
    expect((await leer(comercio, guia)).ubicacion.lat).toBe(14.6349)
  })

  it('followed twice at once is one event', async () => {
    const comercio = await environment.createComercio()
    const guias = await Promise.all(Array.from({ length: 20 }, () => withMapLink(comercio, SHORT_LINK)))
    paths.set(SHORT_LINK, PUNTO)
    await Promise.allSettled([round(), round(), round()])
    // On a busy machine some of the 60 exchanges run into their deadline, and are tried again later.
    do advance(24 * HOUR_MS)
    while ((await round()) > 0)
    for (const { guia } of guias) {
      const read = await leer(comercio, guia)
      checkHistory(read, 'confirmada')
      expect([read.secuencia, read.ubicacion.lat]).toEqual([2, 14.6349])
    }
  })
})

describe('a newer answer in the meantime wins', () => {
  it('with coordinates, before or while the link is followed', async () => {
    const comercio = await environment.createComercio()
    paths.set(SHORT_LINK, PUNTO)
    const { guia: before } = await withMapLink(comercio, SHORT_LINK)
    await comercio.api.guias.confirmarUbicacion(before, { lat: 14.7, lng: -90.6 })
    await round()
    const { guia: duringGuia } = await withMapLink(comercio, SHORT_LINK)
    onView = () => comercio.api.guias.confirmarUbicacion(duringGuia, { lat: 14.7, lng: -90.6 })
    await round().catch(() => {})
    onView = async () => {}
    await round()
    for (const guia of [before, duringGuia]) {
      const read = await leer(comercio, guia)
      checkHistory(read, 'confirmada')
      expect(read).toMatchObject({ secuencia: 2, advertencias: [], ubicacion: { lat: 14.7, origen: 'comercio' } })
      expect((await readTableRows(guia)).enlace_corto).toEqual([])
    }
  })

  it('with another short link, before or while the first is followed', async () => {
    const comercio = await environment.createComercio()
    paths.set(SHORT_LINK, 'https://www.google.com/maps?q=14.1,-90.1')
    paths.set(OTRO, PUNTO)
    const { guia: before } = await withMapLink(comercio, SHORT_LINK)
    await comercio.api.guias.confirmarUbicacion(before, { maps_url: OTRO })
    await round()
    const { guia: duringGuia } = await withMapLink(comercio, SHORT_LINK)
    onView = async () => {
      onView = async () => {}
      await comercio.api.guias.confirmarUbicacion(duringGuia, { maps_url: OTRO })
    }
    await round().catch(() => {})
    await round()
    for (const guia of [before, duringGuia]) {
      const read = await leer(comercio, guia)
      checkHistory(read, 'confirmada')
      expect(read.ubicacion).toMatchObject({ lat: 14.6349, maps_url: OTRO, origen: 'comercio' })
    }
  })

  it('with a link that has no point', async () => {
    const comercio = await environment.createComercio()
    paths.set(SHORT_LINK, 503)
    const { guia } = await withMapLink(comercio, SHORT_LINK)
    await round()
    await comercio.api.guias.confirmarUbicacion(guia, { maps_url: LINK_WITHOUT_POINT })
    paths.set(SHORT_LINK, PUNTO)
    advance(61_000)
    await round()
    expect(await leer(comercio, guia)).toMatchObject({
      secuencia: 2,
      advertencias: [{ codigo: 'enlace_sin_coordenadas' }],
      ubicacion: { lat: null, lng: null, maps_url: LINK_WITHOUT_POINT },
    })
    expect((await readTableRows(guia)).enlace_corto).toEqual([])
  })

  it('and a guide that is over is left alone; one on its way is not', async () => {
    const comercio = await environment.createComercio()
    paths.set(SHORT_LINK, PUNTO)
    const [{ guia: cancelled }, { guia: onRoute }] = [
      await withMapLink(comercio, SHORT_LINK),
      await withMapLink(comercio, SHORT_LINK),
    ]
    await comercio.api.guias.cancelar(cancelled)
    await scanEstados(onRoute, 'recolectado', 'en_ruta')
    await round()
    const read = await leer(comercio, cancelled)
    checkHistory(read, 'confirmada')
    expect([read.secuencia, read.ubicacion.lat]).toEqual([2, null])
    expect((await leer(comercio, onRoute)).ubicacion.lat).toBe(14.6349)
    expect((await readTableRows(cancelled)).enlace_corto).toEqual([])
  })
})

describe('afterwards', () => {
  it('no log has a link', async () => {
    await waitUntil(async () => lines.length > 0)
    expect(JSON.stringify(lines) + environment.log.join('\n')).not.toMatch(/\babc123|\bxyz789|14\.6349/)
  })
})
