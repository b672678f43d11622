import type { GuiaIndividual } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { expireRequests } from '../../server/domain/mensajeria/expire.ts'
import { sendToMailbox } from '../../server/domain/mensajeria/mailbox.ts'
import { markSent } from '../../server/domain/mensajeria/markSent.ts'
import type { MensajeKey } from '../../server/domain/mensajeria/row.ts'
import { recordStatus } from '../../server/domain/mensajeria/settle.ts'
import { eraseUbicaciones } from '../../server/domain/ubicacion/erase.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, readTestSettings, waitUntil } from '../factories.ts'
import { answerWith, useReceivers } from '../webhooks/receiver.ts'
import { SECRETOS, useUbicacionRequests } from './requests.ts'

const DIAS = 30
const env = { LOCATION_RETENTION_DAYS: String(DIAS) }
const environment = useEnvironment({ resolver: () => Promise.reject(new Error('no DNS here')) }, () => env)
const openReceiver = useReceivers()
const {
  linkOf,
  ver,
  send,
  read: leer,
  createGuia: fresh,
  scanEstados,
  rows: readTableRows,
  mensajes,
} = useUbicacionRequests(environment)

const clock = () => environment.clock()
const advance = (ms: number) => environment.advance(ms)
const erase = () => eraseUbicaciones({ db: environment.db, clock, settings: readTestSettings(env) })

/** Whatever is stored anywhere, a row to a text; a guide's own phone is no secret of its place. */
async function all(): Promise<string[]> {
  const { rows: tables } = await environment.db.pool.query(
    `select format('%I.%I', table_schema, table_name) as tabla from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const texts: string[] = []
  for (const { tabla: tableName } of tables) {
    const rest = tableName === 'public.guia' ? "to_jsonb(t) - 'telefono'" : 'to_jsonb(t)'
    const { rows } = await environment.db.pool.query(`select (${rest})::text as texto from ${tableName} t`)
    texts.push(...rows.map(({ texto: text }) => `${tableName} ${text}`))
  }
  return texts
}
const tablesWith = async (mark: RegExp) =>
  [...new Set((await all()).filter((text) => mark.test(text)).map((text) => text.split(' ')[0]))].sort()

const ON_THE_WAY = ['recolectado', 'en_ruta', 'entregado']
const ENLACE = 'https://www.google.com/maps?q=14.6155551,-90.6155551'
const MARKS = /(?<!\d:)14\.61|-90\.61|\b6155551\b|Portón|corto61|502377700/

describe('after the retention', () => {
  it('places, links and phones are gone from every table; what remains still answers', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const receptor = await openReceiver(answerWith(204))
    const webhook = await api.webhooks.crear({ url: receptor.url })
    const { lat: _lat, lng: _lng, ...base } = buildGuia({ departamento: 'Guatemala', municipio: 'Mixco' })
    let n = 0
    const buildData = (cambios: Partial<GuiaIndividual>) =>
      ({ ...base, telefono: `+5023777000${++n}`, external_ref: `OLVIDO-${n}`, ...cambios }) as GuiaIndividual
    const requests = {
      coordenadas: buildData({ lat: 14.6155552, lng: -90.6155552 }),
      enlace: buildData({ maps_url: ENLACE }),
      corto: buildData({ maps_url: 'https://maps.app.goo.gl/corto61' }),
      recipiente: buildData({}),
      comercio: buildData({}),
      cancelada: buildData({}),
    }
    const guias: Record<string, string> = {}
    for (const [name, requestData] of Object.entries(requests)) guias[name] = (await api.guias.crear(requestData)).guia
    const pendientes = ['recipiente', 'comercio', 'cancelada'].map((name) => guias[name]!)
    await waitUntil(async () =>
      (await Promise.all(pendientes.map((g) => leer(comercio, g)))).every((g) => g.secuencia === 2),
    )
    const path = await linkOf(guias.recipiente!)
    const confirmation = {
      lat: '14.6155553',
      lng: '-90.6155553',
      precision_m: '61555',
      aproximado: '1',
      metodo: 'gps',
      referencia: 'Portón verde',
    }
    expect((await send(path, confirmation)).status).toBe(303)
    await api.guias.confirmarUbicacion(guias.comercio!, { maps_url: ENLACE, referencia: 'Portón azul' })
    for (const [name, guia] of Object.entries(guias)) {
      if (name === 'cancelada') await api.guias.cancelar(guia)
      else await scanEstados(guia, ...ON_THE_WAY)
    }
    // Ended a day later; and not at all.
    advance(24 * HOUR_MS)
    const posterior = await api.guias.crear(buildGuia({ lat: 14.6155554, lng: -90.6155554 }))
    await scanEstados(posterior.guia, ...ON_THE_WAY)
    const openGuia = await api.guias.crear(buildGuia({ lat: 14.6155555, lng: -90.6155555 }))
    await waitUntil(async () => {
      const { rows } = await environment.db.pool.query(`select from webhook_aviso where estado = 'pendiente' limit 1`)
      return rows.length === 0
    })
    const before = new Map(
      await Promise.all(Object.entries(guias).map(async ([name, g]) => [name, await leer(comercio, g)] as const)),
    )
    const entregas = (await api.webhooks.avisos(webhook.webhook, { limite: 100 })).datos

    // Not a moment too early.
    advance((DIAS - 1) * 24 * HOUR_MS - 60_000)
    const saved = () =>
      Promise.all(
        Object.values(guias).map(async (guia) => {
          // The short link is tried again meanwhile.
          const { enlace_corto: shortLinks, ...rest } = await readTableRows(guia)
          return { ...rest, enlaces: shortLinks.map(({ maps_url }) => maps_url) }
        }),
      )
    await environment.waitForQuiet()
    const untouchedRows = await saved()
    await erase()
    expect(await saved()).toEqual(untouchedRows)
    advance(61_000)
    await Promise.all([erase(), erase()])

    for (const guia of [posterior, openGuia]) {
      const { eventos: _eventos, ...read } = await leer(comercio, guia.guia)
      expect(read.ubicacion).toEqual(guia.ubicacion)
      expect(read.lat).toBe(guia.lat)
    }
    const rest = (await all()).filter((text) => !text.includes(posterior.guia) && !text.includes(openGuia.guia))
    expect(rest.filter((text) => MARKS.test(text)).map((text) => text.slice(0, 400))).toEqual([])
    for (const [name, guia] of Object.entries(guias)) {
      const { eventos, ubicacion, ...read } = await leer(comercio, guia)
      const old = before.get(name)!
      expect(read).toMatchObject({
        estado: old.estado,
        secuencia: old.secuencia,
        telefono: old.telefono,
        external_ref: old.external_ref,
        lat: null,
        lng: null,
        maps_url: null,
      })
      // That it was confirmed, by whom and when stays.
      const { estado, origen, confirmado_en } = old.ubicacion
      expect([name, ubicacion]).toEqual([
        name,
        {
          estado,
          origen,
          confirmado_en,
          lat: null,
          lng: null,
          maps_url: null,
          precision_m: null,
          referencia: null,
          distancia_km: null,
          solicitud: null,
        },
      ])
      expect(eventos.datos).toEqual(old.eventos.datos.map((evento) => ({ ...evento, lat: null, lng: null })))
    }
    expect((await ver(path)).status).toBe(404)
    expect((await send(path, confirmation)).status).toBe(404)

    // Once is enough.
    const after = await Promise.all(Object.values(guias).map(readTableRows))
    await erase()
    expect(await Promise.all(Object.values(guias).map(readTableRows))).toEqual(after)

    // The same request is still the same, another is still another.
    for (const [name, requestData] of Object.entries(requests)) {
      const repeated = await api.guias.crear(requestData).conRespuesta()
      expect([name, repeated.estadoHttp, repeated.repetida, repeated.datos.guia]).toEqual([
        name,
        200,
        true,
        guias[name],
      ])
      const differentOne = { ...requestData, lat: 14.9, lng: -90.9 }
      await expect(api.guias.crear(differentOne)).rejects.toMatchObject({
        estadoHttp: 409,
        codigo: 'external_ref_en_conflicto',
      })
    }
    expect((await api.guias.crearLote({ guias: Object.values(requests) })).repetidas).toBe(6)
    await expect(api.guias.confirmarUbicacion(guias.corto!, { lat: 1, lng: 1 })).rejects.toMatchObject({
      estadoHttp: 409,
    })
    await expect(api.guias.reenviarSolicitud(guias.cancelada!)).rejects.toMatchObject({ estadoHttp: 409 })

    // What is sent again is sent without it.
    receptor.receivedWebhooks.length = 0
    for (const { aviso } of entregas) await api.webhooks.reenviar(webhook.webhook, aviso)
    await waitUntil(async () => receptor.receivedWebhooks.length >= entregas.length)
    const ownWebhooks = receptor.receivedWebhooks.filter(({ body }) =>
      Object.values(guias).some((guia) => body.includes(guia)),
    )
    expect(ownWebhooks.length).toBeGreaterThan(20)
    for (const { json, body } of ownWebhooks) {
      expect(json.datos.guia.telefono).toMatch(/^\+5023777000\d$/)
      expect(body.replaceAll(json.datos.guia.telefono, '')).not.toMatch(MARKS)
    }
    expect(await tablesWith(/Portón|corto61|502377700/)).toEqual([])
  })

  it('late news of a message brings nothing back', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, { telefono: '+50237770009' })
    await comercio.api.guias.cancelar(guia)
    advance((DIAS + 1) * 24 * HOUR_MS)
    await erase()
    const [ownMensaje] = (await readTableRows(guia)).mensaje as [MensajeKey]
    const deps = {
      db: environment.db,
      clock,
      secretos: SECRETOS,
      notifyJobs: () => {},
      settings: readTestSettings(),
    }
    await recordStatus(deps, ownMensaje, 'leido', clock(), 'wamid.x')
    await sendToMailbox(deps, [ownMensaje])
    await expireRequests(deps, [ownMensaje])
    const read = await leer(comercio, guia)
    expect([read.ubicacion.solicitud, read.secuencia]).toEqual([null, 3])
    expect((await environment.asOperador('GET', `/guias/${guia}`)).status).toBe(200)
    // The provider tells that it did send a message without an answer.
    await environment.db.pool.query(`update mensaje set estado = 'dudoso', canal = 'whatsapp' where id = $1`, [
      ownMensaje.id,
    ])
    await markSent(deps, 'whatsapp', ['dudoso'], [{ ...ownMensaje, proveedor_id: 'wamid.x' }])
    expect((await readTableRows(guia)).mensaje).toMatchObject([
      { estado: 'enviado', telefono: null, proveedor_id: null },
    ])
  })

  it('links that expired a month ago are gone in any state of their guide, and newer links stay', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio)
    const path = await linkOf(guia)
    advance(72 * HOUR_MS + 29 * 24 * HOUR_MS)
    await erase()
    expect((await ver(path)).status).toBe(410)
    advance(25 * HOUR_MS)
    await erase()
    expect((await ver(path)).status).toBe(404)
    expect((await readTableRows(guia)).mensaje).toMatchObject([{ telefono: '+50231481676' }])
  })

  it('more than a thousand at once', async () => {
    const comercio = await environment.createComercio()
    for (let i = 0; i < 11; i++)
      await comercio.api.guias.crearLote({ guias: Array.from({ length: 100 }, () => buildGuiaWithoutDestino()) })
    await waitUntil(async () => (await mensajes(comercio)).every(({ estado }) => estado === 'enviado'))
    await environment.db.pool.query(`update guia set estado = 'cancelado', estado_en = $1 where comercio_id = $2`, [
      new Date(clock().getTime() - (DIAS + 1) * 24 * HOUR_MS),
      comercio.id,
    ])
    const countMensajes = async () =>
      (
        await environment.db.pool.query(
          'select count(*)::int as n from mensaje where comercio_id = $1 and telefono is not null',
          [comercio.id],
        )
      ).rows[0].n
    expect(await countMensajes()).toBe(1_100)
    expect([await erase(), await erase()]).toEqual([true, false])
    expect(await countMensajes()).toBe(0)
  })
})
