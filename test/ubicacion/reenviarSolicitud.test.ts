import type { Guia } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { type TestProvider, useProviders } from '../mensajeria/provider.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { checkHistory, useUbicacionRequests } from './requests.ts'

const openProvider = useProviders()
const openReceiver = useReceivers()
let provider: TestProvider
/** Live guides go out over WhatsApp, test guides into the mailbox. */
const environment = useEnvironment({}, async () => {
  provider = await openProvider()
  const { baseUrl, phoneNumberId, token, appSecret, verifyToken } = provider.config
  return {
    MESSAGING: 'whatsapp',
    WHATSAPP_BASE_URL: baseUrl,
    WHATSAPP_PHONE_NUMBER_ID: phoneNumberId,
    WHATSAPP_TOKEN: token,
    WHATSAPP_APP_SECRET: appSecret,
    WHATSAPP_VERIFY_TOKEN: verifyToken,
  }
})
const {
  linkOf,
  ver,
  send,
  read: leer,
  esperar,
  createGuia: fresh,
  scanEstados,
  mensajes,
  rows: readTableRows,
  tokens,
} = useUbicacionRequests(environment)

const THERE = { lat: '14.71889', lng: '-90.64417', metodo: 'gps' }
let seriesId = 0
/** A phone that nobody else was asked at. */
const telefono = () => `+5023${String(2_000_000 + ++seriesId)}`
const sent = ({ ubicacion }: Guia) => ubicacion.solicitud?.estado === 'enviado'
const limite = { estadoHttp: 409, codigo: 'limite_de_solicitudes' }
const expireAll = async (comercio: Comercio, guia: string) => {
  environment.advance(73 * HOUR_MS)
  return esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
}
const codigoOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'si',
    (error) => error.codigo as string,
  )

describe('a request is made again', () => {
  it('after it expired: another message, and the guide asks again once it has left', async () => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver()
    await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['ubicacion.*'] })
    const guia = await fresh(comercio, { telefono: telefono() })
    const old = await linkOf(guia)
    const expired = await expireAll(comercio, guia)
    const response = await comercio.api.guias.reenviarSolicitud(guia).conRespuesta()
    expect(response.estadoHttp).toBe(202)
    const { ubicacion, secuencia } = response.datos
    expect([ubicacion.estado, secuencia]).toEqual(['vencida', expired.secuencia])
    expect(ubicacion.solicitud).toMatchObject({
      canal: 'buzon',
      estado: 'pendiente',
      numero: 2,
      enviado_en: null,
      vence_en: null,
      motivo: null,
    })
    const sentRequest = await esperar(comercio, guia, ({ secuencia }) => secuencia === 4)
    expect(sentRequest.ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { numero: 2, estado: 'enviado' } })
    const { enviado_en, vence_en } = sentRequest.ubicacion.solicitud!
    expect(Date.parse(vence_en!) - Date.parse(enviado_en!)).toBe(72 * HOUR_MS)
    checkHistory(sentRequest)
    const newLink = await linkOf(guia)
    expect(newLink).not.toBe(old)
    expect([(await ver(old)).status, (await ver(newLink)).status]).toEqual([410, 200])
    expect((await send(newLink, THERE)).status).toBe(303)
    const confirmed = await leer(comercio, guia)
    checkHistory(confirmed)
    expect(confirmed.ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'enviado' })
    await waitUntil(async () => receptor.receivedWebhooks.length === 4)
    expect(receptor.receivedWebhooks.map(({ json }) => json.tipo).sort()).toEqual([
      'ubicacion.confirmada',
      'ubicacion.solicitada',
      'ubicacion.solicitada',
      'ubicacion.vencida',
    ])
  })

  it('while it is open: both links work, and what counts is the newer one’s end', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, { telefono: telefono() })
    environment.advance(40 * HOUR_MS)
    await comercio.api.guias.reenviarSolicitud(guia)
    const sentRequest = await esperar(comercio, guia, (one) => one.secuencia === 3 && sent(one))
    expect(sentRequest.ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { numero: 2 } })
    const [old, newLink] = [await linkOf(guia, 1), await linkOf(guia, 2)]
    expect([(await ver(old)).status, (await ver(newLink)).status]).toEqual([200, 200])
    // The first one's time is over, the guide's isn't.
    environment.advance(40 * HOUR_MS)
    await waitUntil(async () => (await mensajes(comercio))[0].abierta === false)
    expect([(await ver(old)).status, (await ver(newLink)).status]).toEqual([410, 200])
    expect((await leer(comercio, guia)).ubicacion.estado).toBe('solicitada')
    environment.advance(33 * HOUR_MS)
    const expired = await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    expect(expired.secuencia).toBe(4)
    checkHistory(expired)
  })

  it('through the older link it is confirmed as well', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, { telefono: telefono() })
    await comercio.api.guias.reenviarSolicitud(guia)
    await esperar(comercio, guia, ({ secuencia }) => secuencia === 3)
    expect((await send(await linkOf(guia, 1), THERE)).status).toBe(303)
    expect((await (await ver(await linkOf(guia, 2))).text()).includes('Gracias')).toBe(true)
    checkHistory(await leer(comercio, guia))
    environment.advance(73 * HOUR_MS)
    await environment.waitForQuiet()
    expect((await leer(comercio, guia)).secuencia).toBe(4)
  })

  it('after it failed, with a reason that goes with it', async () => {
    const comercio = await environment.createComercio('live')
    const number = telefono()
    provider.byTelefono.set(number.slice(1), { tipo: 'error', status: 400, error: { code: 131026 } })
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: number }))
    const fallida = await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'fallida')
    expect(fallida.eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'ubicacion.fallida'])
    expect(fallida.ubicacion.solicitud).toMatchObject({ canal: 'whatsapp', estado: 'fallido', numero: 1 })
    expect(fallida.ubicacion.solicitud!.motivo).toMatch(/\w/)
    provider.byTelefono.delete(number.slice(1))
    const other = await comercio.api.guias.reenviarSolicitud(guia)
    expect(other.ubicacion).toMatchObject({
      estado: 'fallida',
      solicitud: { numero: 2, estado: 'pendiente', motivo: null },
    })
    const sentRequest = await esperar(comercio, guia, sent)
    checkHistory(sentRequest)
    expect(sentRequest.ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { numero: 2, motivo: null } })
    expect(provider.acceptedMensajes.filter(({ recipient }) => recipient === number.slice(1))).toHaveLength(1)
    expect((await send(await linkOf(guia), THERE)).status).toBe(303)
    checkHistory(await leer(comercio, guia))
  })

  it('before the first one has left', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: telefono() }))
    const { ubicacion } = await comercio.api.guias.reenviarSolicitud(guia)
    expect(ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'pendiente' })
    const sentRequest = await esperar(comercio, guia, ({ secuencia }) => secuencia === 3)
    expect(sentRequest.ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'enviado' })
    expect((await mensajes(comercio)).map(({ estado }) => estado)).toEqual(['enviado', 'enviado'])
  })
})

describe('nothing is asked', () => {
  it('for a guide that is confirmed, closed or unknown', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const confirmed = (await api.guias.crear(buildGuia())).guia
    const cancelled = await fresh(comercio, { telefono: telefono() })
    await api.guias.cancelar(cancelled)
    const deliveredGuia = (await api.guias.crear(buildGuia())).guia
    await scanEstados(deliveredGuia, 'recolectado', 'en_ruta', 'entregado')
    const devuelta = await fresh(comercio, { telefono: telefono() })
    await scanEstados(devuelta, 'recolectado', 'en_devolucion')
    const ownGuia = await fresh(comercio, { telefono: telefono() })
    await send(await linkOf(ownGuia), THERE)
    for (const [guia, codigo] of [
      [confirmed, 'ubicacion_ya_confirmada'],
      [deliveredGuia, 'ubicacion_ya_confirmada'],
      [ownGuia, 'ubicacion_ya_confirmada'],
      [cancelled, 'ubicacion_cerrada'],
      [devuelta, 'ubicacion_cerrada'],
    ] as const) {
      const before = await readTableRows(guia)
      await expect(api.guias.reenviarSolicitud(guia)).rejects.toMatchObject({ estadoHttp: 409, codigo })
      expect(await readTableRows(guia)).toEqual(before)
    }
    await expect(api.guias.reenviarSolicitud('000000000000')).rejects.toMatchObject({ estadoHttp: 404 })
  })

  it('a fourth time of one guide, whenever', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, { telefono: telefono() })
    for (const number of [2, 3, 4]) {
      environment.advance(25 * HOUR_MS)
      expect((await comercio.api.guias.reenviarSolicitud(guia)).ubicacion.solicitud!.numero).toBe(number)
      await esperar(comercio, guia, sent)
    }
    environment.advance(240 * HOUR_MS)
    const before = await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    await expect(comercio.api.guias.reenviarSolicitud(guia)).rejects.toMatchObject(limite)
    expect(await leer(comercio, guia)).toEqual(before)
    expect(await mensajes(comercio)).toHaveLength(4)
  })

  it('a sixth time in a day at one phone, over all merchants; test and live are counted apart', async () => {
    const [one, other, liveEntry] = [
      await environment.createComercio(),
      await environment.createComercio(),
      await environment.createComercio('live'),
    ]
    const number = telefono()
    const a = await fresh(one, { telefono: number })
    const b = await fresh(other, { telefono: number })
    await one.api.guias.reenviarSolicitud(a)
    await other.api.guias.reenviarSolicitud(b)
    await one.api.guias.reenviarSolicitud(a)
    await expect(one.api.guias.reenviarSolicitud(a)).rejects.toMatchObject(limite)
    await expect(other.api.guias.reenviarSolicitud(b)).rejects.toMatchObject(limite)
    const c = await fresh(liveEntry, { telefono: number })
    await liveEntry.api.guias.reenviarSolicitud(c)
    await esperar(liveEntry, c, (one) => one.secuencia === 3)
    // A new guide asks its once, all the same; and a day later there is room again.
    const d = await fresh(other, { telefono: number })
    await expect(other.api.guias.reenviarSolicitud(d)).rejects.toMatchObject(limite)
    environment.advance(24 * HOUR_MS + 1_000)
    await other.api.guias.reenviarSolicitud(d)
    const byLlave = async (comercio: Comercio) => (await mensajes(comercio)).length
    expect([await byLlave(one), await byLlave(other), await byLlave(liveEntry)]).toEqual([3, 4, 2])
  })
})

describe('a request that was not needed', () => {
  it('does not count for the phone', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const number = telefono()
    const a = await fresh(one, { telefono: number })
    const b = await fresh(other, { telefono: number })
    for (let n = 0; n < 3; n++) await one.api.guias.reenviarSolicitud(a)
    await expect(other.api.guias.reenviarSolicitud(b)).rejects.toMatchObject(limite)
    await esperar(one, a, sent)
    await environment.db.pool.query(`update mensaje set estado = 'descartado' where guia = $1 and numero = 1`, [a])
    expect((await other.api.guias.reenviarSolicitud(b)).ubicacion.solicitud!.numero).toBe(2)
  })
})

describe('at once', () => {
  it('ten for one guide: a message for each that is accepted, three at most', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio, { telefono: telefono() })
    const codigos = await Promise.all(
      Array.from({ length: 10 }, () => codigoOf(comercio.api.guias.reenviarSolicitud(guia))),
    )
    const acceptedResults = codigos.filter((codigo) => codigo === 'si').length
    expect(new Set(codigos)).toEqual(new Set(['si', 'limite_de_solicitudes']))
    expect(acceptedResults).toBe(3)
    await waitUntil(async () => (await mensajes(comercio)).every(({ estado }) => estado === 'enviado'))
    const read = await leer(comercio, guia)
    expect((await mensajes(comercio)).map(({ numero: number }) => number)).toEqual([1, 2, 3, 4])
    expect(read.secuencia).toBe(5)
    expect(read.ubicacion.solicitud!.numero).toBe(4)
    checkHistory(read)
  })

  it('many guides of one phone, over merchants: never a sixth', async () => {
    const comercios = await Promise.all([1, 2, 3].map(() => environment.createComercio()))
    for (let tanda = 0; tanda < 3; tanda++) {
      const number = telefono()
      const pairs = await Promise.all(
        comercios.map(async (comercio) => ({ comercio, guia: await fresh(comercio, { telefono: number }) })),
      )
      const codigos = await Promise.all(
        [...pairs, ...pairs, ...pairs, ...pairs].map(({ comercio, guia }) =>
          codigoOf(comercio.api.guias.reenviarSolicitud(guia)),
        ),
      )
      expect(codigos.filter((codigo) => codigo === 'si')).toHaveLength(2)
      expect(codigos.filter((codigo) => codigo === 'limite_de_solicitudes')).toHaveLength(10)
      const { rows } = await environment.db.pool.query('select from mensaje where telefono = $1', [number])
      expect(rows).toHaveLength(5)
    }
  })

  it('asking again and confirming: no message leaves for a place that is known', async () => {
    const comercio = await environment.createComercio()
    for (let tanda = 0; tanda < 3; tanda++) {
      const guias = await Promise.all(Array.from({ length: 20 }, () => fresh(comercio, { telefono: telefono() })))
      const codigos = await Promise.all(
        guias.flatMap((guia) => [
          codigoOf(comercio.api.guias.reenviarSolicitud(guia)),
          codigoOf(comercio.api.guias.confirmarUbicacion(guia, { lat: 14.7, lng: -90.6 })),
        ]),
      )
      for (const codigo of new Set(codigos)) expect(['si', 'ubicacion_ya_confirmada']).toContain(codigo)
      await waitUntil(async () => (await mensajes(comercio)).every(({ estado }) => estado !== 'pendiente'))
      for (const guia of guias) {
        const read = await leer(comercio, guia)
        checkHistory(read)
        expect(read.ubicacion.estado).toBe('confirmada')
      }
    }
  })
})

describe('afterwards', () => {
  it('no log has a link’s secret or a phone', () => {
    const all = environment.log.join('\n')
    for (const token of tokens) expect(all.includes(token)).toBe(false)
    expect(all).not.toMatch(/502320000\d\d|14\.7188/)
  })
})
