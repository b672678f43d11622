import { Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { expireRequests } from '../../server/domain/mensajeria/expire.ts'
import type { MensajeKey } from '../../server/domain/mensajeria/row.ts'
import { sendMensajes } from '../../server/domain/mensajeria/send.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { useEnvironment } from '../environment.ts'
import {
  BRAND_STYLE_HASH,
  buildGuia,
  buildGuiaWithoutDestino,
  RECOGIDA,
  readTestSettings,
  waitUntil,
} from '../factories.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { checkHistory, SECRETOS, useUbicacionRequests } from './requests.ts'

// Nothing is looked up outside: short links stay as they are.
const environment = useEnvironment({ resolver: () => Promise.reject(new Error('no DNS here')) })
const openReceiver = useReceivers()
const {
  tokens,
  linkOf,
  ver,
  send,
  read: leer,
  esperar,
  createGuia: fresh,
  scanEstados,
  mensajes,
  rows,
} = useUbicacionRequests(environment)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const THERE = { lat: '14.6333', lng: '-90.6064', precision_m: '12', referencia: 'Portón verde', metodo: 'gps' }
const IN_PETEN = { lat: '16.9306', lng: '-89.8925', metodo: 'mapa' }
const ENLACE = 'https://www.google.com/maps/place/Casa/@14.1,-90.1,17z/data=!3d14.6341!4d-90.6055'
const SHORT_LINK = 'https://maps.app.goo.gl/abc123'

describe('a guide without a place', () => {
  it('is one message, one event, and says in every answer how it goes', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await comercio.api.webhooks.crear({ url: receptor.url })
    const created = await comercio.api.guias.crear(buildGuiaWithoutDestino(MIXCO))
    const { guia } = created
    const sentRequest = {
      canal: 'buzon',
      estado: 'pendiente',
      numero: 1,
      creado_en: created.creado_en,
      enviado_en: null,
      entregado_en: null,
      leido_en: null,
      vence_en: null,
      motivo: null,
    }
    expect(created.secuencia).toBe(1)
    expect(created.ubicacion).toEqual({
      estado: 'solicitada',
      origen: null,
      lat: null,
      lng: null,
      maps_url: null,
      precision_m: null,
      referencia: null,
      distancia_km: null,
      confirmado_en: null,
      solicitud: sentRequest,
    })
    const { eventos, ...detalle } = await esperar(comercio, guia, ({ secuencia }) => secuencia === 2)
    const { enviado_en, vence_en, ...rest } = detalle.ubicacion.solicitud!
    expect({ ...rest, enviado_en: null, vence_en: null }).toEqual({ ...sentRequest, estado: 'enviado' })
    expect(Date.parse(vence_en!) - Date.parse(enviado_en!)).toBe(72 * HOUR_MS)
    expect(eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    expect(eventos.datos[1]).toMatchObject({ estado: 'aceptado', estado_anterior: 'aceptado', ocurrido_en: enviado_en })
    const list = await comercio.api.guias.listar()
    expect(list.datos).toEqual([detalle])
    await waitUntil(async () => receptor.receivedWebhooks.length === 2)
    const [first, second] = receptor.receivedWebhooks.map(({ json }) => json).sort((a, b) => (a.id < b.id ? -1 : 1))
    const { url_rastreo: _, zona_horaria: __, ...guiaWithoutTracking } = created
    expect([first.tipo, first.datos.guia]).toEqual(['guia.aceptado', guiaWithoutTracking])
    expect(second).toMatchObject({ id: `evt_${guia}_2`, tipo: 'ubicacion.solicitada' })
    expect(second.datos).toEqual({
      guia: { ...detalle, url_rastreo: undefined, zona_horaria: undefined },
      evento: eventos.datos[1],
    })
    await environment.waitForQuiet()
    expect(receptor.receivedWebhooks).toHaveLength(2)
    expect(await mensajes(comercio)).toMatchObject([{ guia, numero: 1, canal: 'buzon', estado: 'enviado' }])
  })

  it('sends none if it has coordinates or a link, or fails', async () => {
    const comercio = await environment.createComercio()
    await comercio.api.guias.crear(buildGuia())
    const { lat: _lat, lng: _lng, ...withMapLink } = buildGuia({ maps_url: ENLACE })
    expect((await comercio.api.guias.crear(withMapLink)).ubicacion.solicitud).toBeNull()
    await comercio.api.guias.crearLote({ guias: [buildGuiaWithoutDestino({ telefono: 'ninguno' })] })
    await environment.waitForQuiet()
    expect(await mensajes(comercio)).toEqual([])
  })

  it('sends no second one, however often creation, batch, job or process is repeated', async () => {
    const comercio = await environment.createComercio()
    const one = buildGuiaWithoutDestino(MIXCO)
    const lote = {
      recogida: RECOGIDA,
      guias: [one, ...Array.from({ length: 30 }, () => buildGuiaWithoutDestino()), one],
    }
    const repeat = () =>
      Promise.all([
        ...Array.from({ length: 8 }, () => comercio.api.guias.crear(one)),
        ...Array.from({ length: 3 }, () => comercio.api.guias.crearLote(lote)),
      ])
    await repeat()
    // The same jobs by others' hands at the same time, as when a queue delivers twice or a process dies half-way.
    const ids = (await mensajes(comercio)).map(({ id }) => id as string)
    const deps = {
      db: environment.db,
      log: { info() {}, warn() {}, error() {} } as never,
      clock: () => new Date(),
      secretos: SECRETOS,
      notifyJobs: () => {},
      settings: readTestSettings(),
      whatsappClient: undefined,
      metrics: createMetrics(),
    }
    const jobs = ids.map((mensaje) => ({ data: { mensaje, comercio_id: comercio.id } }))
    await Promise.all([1, 2, 3, 4].map(() => sendMensajes(deps, jobs)))
    await environment.reset()
    comercio.api = new Guias({ llave: comercio.llave, baseUrl: environment.url })
    await repeat()
    await Promise.all([1, 2].map(() => sendMensajes(deps, jobs)))
    await waitUntil(async () => (await mensajes(comercio)).every(({ estado }) => estado === 'enviado'))
    await environment.waitForQuiet()
    const all = await mensajes(comercio)
    expect(all).toHaveLength(31)
    expect(new Set(all.map(({ guia }) => guia)).size).toBe(31)
    for (const { guia } of all) {
      const { eventos } = await leer(comercio, guia)
      expect(eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    }
  })
})

describe('the recipient’s page', () => {
  it('has no effect when it is opened, 50 times over', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const before = await rows(guia)
    const pages = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ver(path, i % 2 ? 'HEAD' : 'GET').then((r) => r.status)),
    )
    expect(new Set(pages)).toEqual(new Set([200]))
    const text = await (await ver(`${path}?lat=14.6&lng=-90.6&metodo=gps&seguro=1`)).text()
    expect(text).toContain('Mixco')
    expect(await rows(guia)).toEqual(before)
  })

  it('confirms where the recipient stands', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const before = await leer(comercio, guia)
    const response = await send(path, THERE)
    expect(response.status).toBe(303)
    expect(new URL(response.headers.get('location')!, environment.url + path).pathname).toBe(path)
    const after = await leer(comercio, guia)
    checkHistory(after)
    expect(after.secuencia).toBe(3)
    const { confirmado_en, distancia_km, ...rest } = after.ubicacion
    expect(rest).toEqual({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: 14.6333,
      lng: -90.6064,
      maps_url: null,
      precision_m: 12,
      referencia: 'Portón verde',
      solicitud: before.ubicacion.solicitud,
    })
    expect(distancia_km).toBeLessThan(10)
    expect(after.eventos.datos[2]).toMatchObject({
      tipo: 'ubicacion.confirmada',
      lat: 14.6333,
      lng: -90.6064,
      ocurrido_en: confirmado_en,
    })
    // As sent stays as sent.
    expect([after.lat, after.lng, after.maps_url, after.advertencias]).toEqual([null, null, null, []])
    const thanksPage = await (await ver(path)).text()
    expect(thanksPage).toContain('Gracias')
    expect(thanksPage).toContain('Portón verde')
  })

  it('confirms with a link, and with a short one whose place comes later', async () => {
    const comercio = await environment.createComercio()
    const [longOne, shortOne] = [await fresh(comercio, MIXCO), await fresh(comercio, MIXCO)]
    expect((await send(await linkOf(longOne), { enlace: `Mi casa ${ENLACE}` })).status).toBe(303)
    expect((await leer(comercio, longOne)).ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: 14.6341,
      lng: -90.6055,
      maps_url: ENLACE,
      precision_m: null,
    })
    expect((await send(await linkOf(shortOne), { enlace: SHORT_LINK })).status).toBe(303)
    const guia = await leer(comercio, shortOne)
    expect(guia.ubicacion).toMatchObject({ estado: 'confirmada', lat: null, lng: null, maps_url: SHORT_LINK })
    expect(guia.advertencias).toMatchObject([{ codigo: 'enlace_sin_coordenadas', campo: '/ubicacion/maps_url' }])
    expect((await rows(shortOne)).enlace_corto).toMatchObject([{ maps_url: SHORT_LINK }])
  })

  it('refuses what names no place, and keeps what was filled in', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const before = await rows(guia)
    const bad: Record<string, string>[] = [
      {},
      { enlace: 'https://evil.example/x' },
      { enlace: 'la casa verde' },
      { lat: '91', lng: '0', metodo: 'gps' },
      { lat: 'NaN', lng: '0', metodo: 'mapa' },
      { ...THERE, referencia: 'x'.repeat(201) },
    ]
    for (const fields of bad) {
      const response = await send(path, { referencia: 'Portón <verde>', ...fields })
      expect([fields, response.status]).toEqual([fields, 422])
      if (!('referencia' in fields)) expect(await response.text()).toContain('Portón &lt;verde&gt;')
    }
    expect((await send(path, { ...THERE, otro: '1' })).status).toBe(400)
    expect(await rows(guia)).toEqual(before)
  })

  it('asks whether a place far away is meant, and flags it', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const before = await rows(guia)
    const askedQuestion = await send(path, IN_PETEN)
    expect(askedQuestion.status).toBe(422)
    expect(await askedQuestion.text()).toMatch(/¿Seguro que es ahí\?[\s\S]*26\d\u00a0km/)
    expect((await send(path, { ...IN_PETEN, accion: 'corregir' })).status).toBe(200)
    expect(await rows(guia)).toEqual(before)
    expect((await send(path, { ...IN_PETEN, seguro: '1' })).status).toBe(303)
    const lejana = await leer(comercio, guia)
    expect(lejana.advertencias).toMatchObject([{ codigo: 'fuera_del_departamento', campo: '/ubicacion' }])
    expect(lejana.ubicacion.distancia_km).toBeCloseTo(266, -1)
    // The warning goes with the place.
    const nearby = await comercio.api.guias.confirmarUbicacion(guia, { lat: 14.6333, lng: -90.6064 })
    expect(nearby.advertencias).toEqual([])
    expect(nearby.ubicacion.distancia_km).toBeLessThan(10)
  })

  it('takes the same answer twice, over a bad line or at once', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const severalResults = await Promise.all(Array.from({ length: 5 }, () => send(path, THERE)))
    expect(severalResults.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303])
    expect((await send(path, THERE)).status).toBe(303)
    // Nor does another place change what is confirmed.
    expect((await send(path, { ...THERE, lat: '14.7' })).status).toBe(303)
    const read = await leer(comercio, guia)
    expect([read.secuencia, read.ubicacion.lat]).toEqual([3, 14.6333])
  })

  it('tells who comes too late, or with no link of ours, what to do', async () => {
    const comercio = await environment.createComercio()
    const cancelled = await fresh(comercio)
    await comercio.api.guias.cancelar(cancelled)
    const onRoute = await fresh(comercio)
    await comercio.api.guias.confirmarUbicacion(onRoute, { lat: 14.7, lng: -90.6 })
    await scanEstados(onRoute, 'recolectado', 'en_ruta')
    const confirmedByComercio = await fresh(comercio)
    await comercio.api.guias.confirmarUbicacion(confirmedByComercio, { lat: 14.7, lng: -90.6 })
    const paths: [string, number, number, string, string?][] = [
      ['/u/AAAAAAAAAAAAAAAAAAAAAA', 404, 404, 'No encontramos'],
      ['/u/corto', 404, 404, 'No encontramos'],
      ['/u/', 404, 404, 'No encontramos'],
      [await linkOf(cancelled), 200, 200, 'Ya no hace falta', cancelled],
      [await linkOf(onRoute), 200, 200, 'Ya no hace falta', onRoute],
      [await linkOf(confirmedByComercio), 200, 200, 'Ya no hace falta', confirmedByComercio],
    ]
    for (const [path, onView, statusOnSubmit, text, guia] of paths) {
      const before = guia && (await rows(guia))
      const view = await ver(path)
      expect([path, view.status]).toEqual([path, onView])
      const body = await view.text()
      expect(body).toContain(text)
      expect(body).not.toContain('Ceiba')
      const sent = await send(path, THERE)
      expect([path, sent.status, (await sent.text()).includes(text)]).toEqual([path, statusOnSubmit, true])
      if (guia) expect(await rows(guia)).toEqual(before)
    }
  })

  it('is private and strict in every answer of the service', async () => {
    const comercio = await environment.createComercio()
    const path = await linkOf(await fresh(comercio))
    const responses = [
      await ver(path),
      await ver(path, 'HEAD'),
      await ver(path, 'DELETE'),
      await ver('/u/desconocido'),
      await send(path, {}),
      await send(path, { nada: '1' }),
      await send(path, THERE),
      await ver(path),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 405, 404, 422, 400, 303, 200])
    while (responses.at(-1)!.status !== 429) {
      responses.push(await send(path, THERE))
      expect(responses.length).toBeLessThan(30)
    }
    expect(Number(responses.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0)
    for (const { headers, status } of responses) {
      const csp = headers.get('content-security-policy') ?? ''
      const rules = Object.fromEntries(
        csp.split('; ').map((rule) => {
          const [name, ...sources] = rule.split(' ')
          return [name, sources.join(' ')]
        }),
      )
      expect([status, rules]).toMatchObject([
        status,
        {
          'default-src': "'none'",
          'script-src': "'self'",
          'style-src': `'self' ${BRAND_STYLE_HASH}`,
          'form-action': "'self'",
          'base-uri': "'none'",
          'frame-ancestors': "'none'",
        },
      ])
      expect(csp).not.toMatch(/unsafe|,/)
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-robots-tag')).toBe('noindex')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    }
  })
})

describe('a request’s end', () => {
  it('comes after 72 hours, not before: an event, a link that is gone, a place that may still be said', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, MIXCO)
    const path = await linkOf(guia)
    const sentRequest = (await leer(comercio, guia)).ubicacion.solicitud!
    environment.advance(71 * HOUR_MS)
    await environment.waitForQuiet()
    expect((await ver(path)).status).toBe(200)
    expect((await leer(comercio, guia)).ubicacion.estado).toBe('solicitada')
    environment.advance(HOUR_MS)
    const expired = await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    checkHistory(expired)
    expect(expired.ubicacion.solicitud).toEqual(sentRequest)
    const evento = expired.eventos.datos[2]!
    expect(evento).toMatchObject({ tipo: 'ubicacion.vencida', secuencia: 3, lat: null, lng: null })
    expect(Date.parse(evento.registrado_en)).toBeGreaterThanOrEqual(Date.parse(sentRequest.vence_en!))
    const before = await rows(guia)
    for (const response of [await ver(path), await send(path, THERE)]) {
      expect(response.status).toBe(410)
      expect(await response.text()).toContain('Este enlace ya venció')
    }
    environment.advance(72 * HOUR_MS)
    await environment.waitForQuiet()
    expect(await rows(guia)).toEqual(before)
    await comercio.api.guias.confirmarUbicacion(guia, { lat: 14.6333, lng: -90.6064 })
    checkHistory(await leer(comercio, guia))
  })

  it('expires one guide after another guide of the merchant is confirmed', async () => {
    const comercio = await environment.createComercio()
    const [openGuia, confirmed] = [await fresh(comercio), await fresh(comercio)]
    await comercio.api.guias.confirmarUbicacion(confirmed, { lat: 14.6333, lng: -90.6064 })
    environment.advance(73 * HOUR_MS)
    await esperar(comercio, openGuia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    expect((await leer(comercio, confirmed)).ubicacion.estado).toBe('confirmada')
  })

  it('is no event where it no longer matters', async () => {
    const comercio = await environment.createComercio()
    const [cancelled, confirmed] = [await fresh(comercio), await fresh(comercio)]
    await comercio.api.guias.cancelar(cancelled)
    await send(await linkOf(confirmed), THERE)
    environment.advance(73 * HOUR_MS)
    await waitUntil(async () => (await mensajes(comercio)).every(({ abierta: openGuia }) => !openGuia))
    for (const guia of [cancelled, confirmed]) expect((await leer(comercio, guia)).secuencia).toBe(3)
    checkHistory(await leer(comercio, cancelled))
  })

  it('done twice at once is one event', async () => {
    const comercio = await environment.createComercio()
    const guias = await Promise.all(Array.from({ length: 20 }, () => fresh(comercio)))
    const storedMensajes = (await mensajes(comercio)) as unknown as MensajeKey[]
    const lastExpiry = Math.max(...(await mensajes(comercio)).map(({ vence_en }) => vence_en.getTime()))
    const deps = {
      db: environment.db,
      clock: () => new Date(lastExpiry),
      secretos: SECRETOS,
      notifyJobs: () => {},
      settings: readTestSettings(),
    }
    await Promise.all([1, 2, 3, 4].map(() => expireRequests(deps, storedMensajes)))
    await expireRequests(deps, storedMensajes)
    for (const guia of guias) {
      const read = await leer(comercio, guia)
      checkHistory(read)
      expect([read.secuencia, read.ubicacion.estado]).toEqual([3, 'vencida'])
    }
  })
})

describe('location events', () => {
  it('reach webhooks with the guide as it was, history and feed', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    const webhook = await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['ubicacion.*'] })
    await comercio.api.webhooks.cambiar(webhook.webhook, { estado: 'pausado' })
    const fotos = new Map<string, object>()
    const anotar = async (guia: string) => {
      const { eventos, url_rastreo: _, zona_horaria: __, ...foto } = await leer(comercio, guia)
      const evento = eventos.datos.at(-1)!
      fotos.set(evento.id, {
        id: evento.id,
        tipo: evento.tipo,
        creado_en: evento.registrado_en,
        datos: { guia: foto, evento },
      })
    }
    const guia = await fresh(comercio, MIXCO)
    await anotar(guia)
    environment.advance(73 * HOUR_MS)
    await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    await anotar(guia)
    await comercio.api.guias.reenviarSolicitud(guia)
    await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'solicitada')
    await anotar(guia)
    await send(await linkOf(guia), { ...IN_PETEN, seguro: '1' })
    await anotar(guia)
    await comercio.api.guias.confirmarUbicacion(guia, { maps_url: ENLACE, referencia: 'Casa «3»' })
    await anotar(guia)
    await scanEstados(guia, 'recolectado', 'en_ruta')
    await comercio.api.webhooks.cambiar(webhook.webhook, { estado: 'activo' })
    await waitUntil(async () => receptor.receivedWebhooks.length >= 5)
    await environment.waitForQuiet()
    expect(receptor.receivedWebhooks).toHaveLength(5)
    for (const { id, json } of receptor.receivedWebhooks) expect(json).toEqual(fotos.get(id))
    const tipos = [
      'guia.aceptado',
      'ubicacion.solicitada',
      'ubicacion.vencida',
      'ubicacion.solicitada',
      'ubicacion.confirmada',
      'ubicacion.confirmada',
      'guia.recolectado',
      'guia.en_ruta',
    ]
    const read = await leer(comercio, guia)
    expect(read.eventos.datos.map(({ tipo }) => tipo)).toEqual(tipos)
    const stream = await waitUntil(async () => {
      const { datos } = await comercio.api.eventos.listar({ limite: 100 })
      return datos.length === tipos.length && datos
    })
    expect(stream).toEqual(read.eventos.datos)
  })
})

describe('afterwards', () => {
  it('no log has a link’s secret, a phone or a place', () => {
    const all = environment.log.join('\n')
    expect(new Set(tokens).size).toBeGreaterThan(10)
    for (const token of tokens) expect(all.includes(token)).toBe(false)
    expect(environment.log.length).toBeGreaterThan(200)
    expect(all).not.toMatch(/31481676|14\.6333|-90\.6064|\babc123|Portón/)
  })
})
