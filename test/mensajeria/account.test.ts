import { beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import type { Comercio } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { checkLog, createTelefono, type SentUbicacionRequest, useChannel } from './channel.ts'
import type { RequestOutcome } from './provider.ts'

const canal = useChannel({ throughTunnel: true })
const {
  environment,
  createUbicacionRequest: fresh,
  esperar,
  mensajes,
  listAcceptedMensajes,
  requests,
  tipos,
  read,
  waitForQuiet,
} = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})
const SUBSCRIBER_DIGITS = '3998877'
const metaError = (status: number, code: number): RequestOutcome => ({
  tipo: 'error',
  status,
  // What Meta may quote back must not get anywhere.
  error: { code, details: `Failed for +502 4${SUBSCRIBER_DIGITS} with EAAGsecretisimo123456` },
})
const sendWith = async (outcome: RequestOutcome, shop = comercio) => {
  const telefono = createTelefono()
  canal.proveedor.byTelefono.set(telefono, outcome)
  return fresh(shop, { telefono })
}
const waitForPending = (sentSolicitud: SentUbicacionRequest, intentos: number) =>
  waitUntil(async () => {
    const [row] = await mensajes(sentSolicitud)
    return row!.estado === 'pendiente' && row!.intentos === intentos && row
  })

describe('a provider that nobody reaches', () => {
  it('keeps nobody from creating; messages go out, once, when it is back', async () => {
    await canal.tunnel.close()
    const sentSolicitudes: SentUbicacionRequest[] = []
    for (let i = 0; i < 15; i++) sentSolicitudes.push(await fresh(comercio))
    for (const [i, wait] of [5_000, 30_000, 120_000].entries()) {
      for (const sentSolicitud of sentSolicitudes) {
        const row = await waitForPending(sentSolicitud, i + 1)
        expect([row.codigo, row.motivo]).toEqual(['ECONNREFUSED', expect.stringMatching(/salida a Internet/)])
        const missing = row.proximo_en.getTime() - canal.clock().getTime()
        expect([wait, missing <= wait, missing > wait - 5_000]).toEqual([wait, true, true])
      }
      if (i === 2) await canal.tunnel.open()
      canal.advance(wait)
    }
    for (const sentSolicitud of sentSolicitudes) {
      expect(await esperar(sentSolicitud, 'enviado')).toMatchObject({ intentos: 4, codigo: null })
      expect(requests(sentSolicitud)).toHaveLength(1)
      expect(await tipos(comercio, sentSolicitud)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    }
  })
})

describe('a definite refusal', () => {
  const cases: [number, number, RegExp][] = [
    [400, 131026, /el número no usa WhatsApp.*use otro medio/],
    [400, 131030, /lista de prueba de Meta.*producción/],
    [400, 131021, /mismo número que envía: corrija el teléfono/],
    [400, 131050, /pidió no recibir mensajes/],
    [403, 130472, /experimento.*use otro medio/],
    [400, 131009, /revise el teléfono del destinatario/],
    [400, 999999, /código 999999, que no se conoce/],
  ]
  it.each(cases)('%i %i: the message fails once, with a reason for an operator', async (status, code, motivo) => {
    const shop = await environment.createComercio('live')
    const entregas = await canal.createComercioWithWebhook(shop)
    const sentSolicitud = await sendWith(metaError(status, code), shop)
    const row = await esperar(sentSolicitud, 'fallido')
    expect(row).toMatchObject({
      codigo: String(code),
      intentos: 1,
      abierta: false,
      motivo: expect.stringMatching(motivo),
    })
    expect(row.motivo).not.toMatch(new RegExp(`${SUBSCRIBER_DIGITS}|EAAGsecretisimo`))
    const { ubicacion } = await read(shop, sentSolicitud)
    expect(ubicacion).toMatchObject({
      estado: 'fallida',
      solicitud: { estado: 'fallido', motivo: row.motivo, numero: 1 },
    })
    expect(await tipos(shop, sentSolicitud)).toEqual(['guia.aceptado', 'ubicacion.fallida'])
    expect(await entregas()).toEqual(['ubicacion.fallida'])
    const { body } = await environment.asOperador('GET', `/mensajes?guia=${sentSolicitud.guia}`)
    expect(body.datos).toMatchObject([{ estado: 'fallido', codigo: String(code), motivo: row.motivo }])
    // It isn't tried again, unless somebody asks for it.
    canal.advance(HOUR_MS)
    await waitForQuiet()
    expect(requests(sentSolicitud)).toHaveLength(1)
    canal.proveedor.byTelefono.delete(sentSolicitud.telefono)
    const { status: acceptedStatus } = await environment.request(
      'POST',
      `/api/v1/guias/${sentSolicitud.guia}/reenviar-solicitud`,
      {
        llave: shop.llave,
      },
    )
    expect(acceptedStatus).toBe(202)
    await esperar(sentSolicitud, 'enviado', 2)
    expect((await read(shop, sentSolicitud)).ubicacion).toMatchObject({
      estado: 'solicitada',
      solicitud: { numero: 2, motivo: null },
    })
  })
})

describe('a fault of the account', () => {
  const cases: [string, RequestOutcome, RegExp][] = [
    ['190', metaError(401, 190), /venció o fue revocado: genere un token/],
    ['131042', metaError(400, 131042), /problema de pago/],
    ['368', metaError(403, 368), /restringida por infringir/],
    ['131031', metaError(403, 131031), /bloqueada/],
    ['132001', metaError(404, 132001), /plantilla no existe en ese idioma/],
    ['132015', metaError(400, 132015), /en pausa/],
    ['10', metaError(403, 10), /permisos/],
    ['200', metaError(403, 200), /permisos/],
    ['0', metaError(401, 0), /no autentica/],
    ['33', metaError(400, 33), /phone number id/],
    ['100', metaError(400, 100), /phone number id y la versión/],
    ['131005', metaError(403, 131005), /denegó el acceso/],
    ['131045', metaError(500, 131045), /registr/],
    ['http_404', { tipo: 'respuesta', status: 404, body: '<h1>Not Found</h1>' }, /dirección y la versión/],
  ]

  it('makes messages wait, is logged as an error, and fails none; they are sent once it works', async () => {
    const sentSolicitudes = await Promise.all(cases.map(([, outcome]) => sendWith(outcome)))
    for (const [i, sentSolicitud] of sentSolicitudes.entries()) {
      const [codigo, , motivo] = cases[i]!
      const row = await waitForPending(sentSolicitud, 1)
      expect([codigo, row.codigo, row.motivo]).toEqual([codigo, codigo, expect.stringMatching(motivo)])
      const missing = row.proximo_en.getTime() - canal.clock().getTime()
      expect(missing).toBeGreaterThan(9 * MINUTE_MS)
      expect(missing).toBeLessThanOrEqual(10 * MINUTE_MS)
    }
    const errores = canal.takeExpectedErrors(/messaging account/)
    expect(new Set(errores.map((line) => JSON.parse(line).codigo))).toEqual(new Set(cases.map(([codigo]) => codigo)))
    for (const line of errores) expect(JSON.parse(line).motivo).toMatch(/\w{5}/)
    await environment.reset()
    await waitForQuiet()
    for (const sentSolicitud of sentSolicitudes) expect(requests(sentSolicitud)).toHaveLength(1)
    // More rounds than a message has tries of its own, within the day.
    for (let round = 2; round <= 12; round++) {
      canal.advance(10 * MINUTE_MS)
      for (const sentSolicitud of sentSolicitudes) await waitForPending(sentSolicitud, round)
    }
    canal.takeExpectedErrors(/messaging account/)
    for (const { telefono } of sentSolicitudes) canal.proveedor.byTelefono.set(telefono, metaError(503, 131016))
    canal.advance(10 * MINUTE_MS)
    // The first hiccup after that isn't the last of its nine tries.
    for (const sentSolicitud of sentSolicitudes) await waitForPending(sentSolicitud, 13)
    for (const { telefono } of sentSolicitudes) canal.proveedor.byTelefono.delete(telefono)
    canal.advance(HOUR_MS)
    for (const sentSolicitud of sentSolicitudes) {
      expect(await esperar(sentSolicitud, 'enviado')).toMatchObject({ codigo: null, motivo: null })
      expect(listAcceptedMensajes(sentSolicitud)).toHaveLength(1)
    }
    const { Guias } = await import('@guias/sdk')
    comercio = { ...comercio, api: new Guias({ llave: comercio.llave, baseUrl: environment.url }) }
    for (const sentSolicitud of sentSolicitudes)
      expect(await tipos(comercio, sentSolicitud)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
  })

  it('fails a message only when a day has passed', async () => {
    const sentSolicitud = await sendWith(metaError(401, 190))
    await waitForPending(sentSolicitud, 1)
    canal.advance(DAY_MS - HOUR_MS)
    await waitForPending(sentSolicitud, 2)
    canal.advance(HOUR_MS)
    const row = await esperar(sentSolicitud, 'fallido')
    expect([row.codigo, row.motivo]).toEqual(['190', expect.stringMatching(/genere un token/)])
    expect(await tipos(comercio, sentSolicitud)).toEqual(['guia.aceptado', 'ubicacion.fallida'])
    canal.takeExpectedErrors(/messaging account/)
  })

  it('doesn’t hold up who is well: other messages and the mailbox', async () => {
    const bad = await sendWith(metaError(401, 190))
    const delivered = await fresh(comercio)
    const prueba = await fresh(await environment.createComercio('test'))
    await Promise.all([esperar(delivered, 'enviado'), esperar(prueba, 'enviado'), waitForPending(bad, 1)])
    canal.takeExpectedErrors(/messaging account/)
  })

  it('forgets a message that nobody needs any more', async () => {
    const confirmed = await sendWith(metaError(401, 190))
    const cancelled = await sendWith(metaError(401, 190))
    await Promise.all([waitForPending(confirmed, 1), waitForPending(cancelled, 1)])
    await comercio.api.guias.confirmarUbicacion(confirmed.guia, { lat: 14.6, lng: -90.5 })
    await comercio.api.guias.cancelar(cancelled.guia)
    for (const { telefono } of [confirmed, cancelled]) canal.proveedor.byTelefono.delete(telefono)
    canal.advance(10 * MINUTE_MS)
    for (const sentSolicitud of [confirmed, cancelled]) {
      await esperar(sentSolicitud, 'descartado')
      expect(listAcceptedMensajes(sentSolicitud)).toEqual([])
    }
    canal.takeExpectedErrors(/messaging account/)
  })
})

describe('the log', () => {
  it('has no phone or secret, not even where Meta quotes them', () => {
    const { config, requests: all } = canal.proveedor
    const tokens = all.flatMap(({ json }) => json.template?.components[1].parameters[0].text ?? [])
    const telefonos = all.map(({ json }) => json.to.slice(3) as string)
    checkLog(canal, [SUBSCRIBER_DIGITS, 'EAAGsecretisimo', config.token, config.appSecret, ...tokens, ...telefonos])
  })
})
