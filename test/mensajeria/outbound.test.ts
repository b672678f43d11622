import { beforeAll, describe, expect, it } from 'vitest'
import { sendMensajes } from '../../server/domain/mensajeria/send.ts'
import { createWhatsappClient } from '../../server/domain/mensajeria/whatsapp.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import type { Comercio } from '../environment.ts'
import { buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { buildMensajeDeps, checkLog, createTelefono, useChannel } from './channel.ts'
import type { RequestOutcome } from './provider.ts'

const canal = useChannel()
const {
  environment,
  createUbicacionRequest: fresh,
  requested: sentRequest,
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
const SOLICITADA = ['guia.aceptado', 'ubicacion.solicitada']
const error = (status: number, code: number, detalles = 'x'): RequestOutcome => ({
  tipo: 'error',
  status,
  error: { code, details: detalles },
})
const createWithOutcome = async (outcome: RequestOutcome) => {
  const telefono = createTelefono()
  canal.proveedor.byTelefono.set(telefono, outcome)
  return fresh(comercio, { telefono })
}
/** The provider is well again for that phone. */
const heal = ({ telefono }: { telefono: string }) => canal.proveedor.byTelefono.delete(telefono)

describe('another link in the place of one whose time is over', () => {
  it('is one message, although the recipient asks twice while it waits', async () => {
    const first = await sentRequest(comercio)
    const token = requests(first)[0]!.json.template.components[1].parameters[0].text
    canal.advance(73 * HOUR_MS)
    await waitUntil(async () => (await read(comercio, first)).ubicacion.estado === 'vencida')
    canal.proveedor.byTelefono.set(first.telefono, error(503, 2))
    const requestOther = async () => {
      const body = new URLSearchParams({ accion: 'otro' })
      return (await fetch(`${environment.url}/u/${token}`, { method: 'POST', body })).text()
    }
    expect(await requestOther()).toContain('<h1 tabindex="-1">Le mandamos otro enlace')
    await waitUntil(async () => (await mensajes(first))[1]?.codigo)
    expect(await requestOther()).toContain('<h1 tabindex="-1">Ya le mandamos otro enlace')
    expect((await mensajes(first)).map(({ estado }) => estado)).toEqual(['enviado', 'pendiente'])
    heal(first)
  })
})

describe('a live guide without coordinates', () => {
  it('is exactly one template message, with a link that works', async () => {
    const shop = await environment.createComercio('live')
    const entregas = await canal.createComercioWithWebhook(shop)
    const telefono = createTelefono()
    const created = await shop.api.guias.crear(
      buildGuiaWithoutDestino({ telefono: `+${telefono}`, municipio: 'Mixco' }),
    )
    expect(created.ubicacion.solicitud).toMatchObject({ canal: 'whatsapp', estado: 'pendiente', numero: 1 })
    const row = await esperar(created, 'enviado')
    const [requestData, ...more] = requests({ telefono })
    expect(more).toEqual([])
    const { config } = canal.proveedor
    expect(requestData!.path).toBe(`/${config.version}/${config.phoneNumberId}/messages`)
    expect(requestData!.headers.authorization).toBe(`Bearer ${config.token}`)
    const token = requestData!.json.template.components[1].parameters[0].text
    expect(requestData!.json).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: telefono,
      type: 'template',
      template: {
        name: config.template,
        language: { code: config.language },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Guías' },
              { type: 'text', text: 'Tienda La Ceiba' },
              { type: 'text', text: 'Mixco' },
            ],
          },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: token }] },
        ],
      },
      biz_opaque_callback_data: row.id,
    })
    expect(token).toMatch(/^[\w-]{22}$/)
    const page = await fetch(`${environment.url}/u/${token}`)
    expect([page.status, (await page.text()).includes('Mixco')]).toEqual([200, true])
    expect(row).toMatchObject({
      intentos: 1,
      proveedor_id: listAcceptedMensajes({ telefono })[0]!.wamid,
      codigo: null,
    })
    expect(row.vence_en!.getTime() - row.enviado_en!.getTime()).toBe(72 * HOUR_MS)
    const { ubicacion } = await read(shop, created)
    expect(ubicacion.solicitud).toMatchObject({ canal: 'whatsapp', estado: 'enviado', numero: 1 })
    await waitForQuiet()
    expect(requests({ telefono })).toHaveLength(1)
    expect(await tipos(shop, created)).toEqual(SOLICITADA)
    expect(await entregas()).toEqual(['ubicacion.solicitada'])
  })

  it('never reaches the provider with a test key', async () => {
    const prueba = await environment.createComercio('test')
    const { guia, telefono } = await fresh(prueba)
    expect(await esperar({ guia }, 'enviado')).toMatchObject({ canal: 'buzon' })
    // The same merchant's live key does.
    const alive = await environment.createLlave(prueba, { modo: 'live' })
    const { body } = await environment.request('POST', '/api/v1/guias', {
      llave: alive,
      body: buildGuiaWithoutDestino({ telefono: `+${telefono}` }),
    })
    await esperar(body, 'enviado')
    await waitForQuiet()
    expect(listAcceptedMensajes({ telefono }).map(({ ownId }) => ownId)).toEqual([(await mensajes(body))[0]!.id])
  })

  it('is one message, even when several processes run its job repeatedly', async () => {
    const other = await canal.startOtherService()
    const telefonos = Array.from({ length: 30 }, createTelefono)
    for (const telefono of telefonos) canal.proveedor.byTelefono.set(telefono, { tipo: 'aceptar', lag: 150 })
    const clienteDeWhatsapp = createWhatsappClient(canal.proveedor.config)
    const deps = { ...buildMensajeDeps(environment), whatsappClient: clienteDeWhatsapp }
    const guias = telefonos.map((telefono) => buildGuiaWithoutDestino({ telefono: `+${telefono}` }))
    const lote = { recogida: guias[0]!.recogida, guias }
    const [first] = await Promise.all([comercio.api.guias.crearLote(lote), comercio.api.guias.crearLote(lote)])
    const { rows } = await environment.db.pool.query('select id, comercio_id from mensaje where telefono = any($1)', [
      telefonos.map((telefono) => `+${telefono}`),
    ])
    expect(rows).toHaveLength(30)
    const jobs = rows.map(({ id, comercio_id }) => ({ data: { mensaje: id, comercio_id } }))
    await Promise.all([1, 2, 3].map(() => sendMensajes(deps, jobs)))
    await environment.reset()
    await sendMensajes(deps, jobs)
    for (const result of first.resultados) {
      if (!('guia' in result)) throw new Error('a guide failed')
      await esperar(result, 'enviado')
    }
    await sendMensajes(deps, jobs)
    await waitForQuiet()
    for (const telefono of telefonos) {
      expect(requests({ telefono })).toHaveLength(1)
      heal({ telefono })
    }
    await clienteDeWhatsapp.close()
    await other.stop()
    comercio = { ...comercio, api: (await readUrl(comercio)).api }
    for (const result of first.resultados) expect(await tipos(comercio, result as { guia: string })).toEqual(SOLICITADA)
  })

  it('is created all the same while the provider is dead', async () => {
    canal.proveedor.defaultOutcome = { tipo: 'cerrar_sin_leer' }
    const created = []
    for (let i = 0; i < 20; i++) created.push(await fresh(comercio))
    canal.proveedor.defaultOutcome = { tipo: 'aceptar' }
    canal.advance(MINUTE_MS)
    for (const createdGuia of created) {
      await Promise.any([esperar(createdGuia, 'enviado'), esperar(createdGuia, 'dudoso')])
      expect(requests(createdGuia).length).toBeLessThanOrEqual(2)
    }
  })
})

/** The SDK with the service's present address. */
async function readUrl({ id, comercio: codigo, llave, modo }: Comercio): Promise<Comercio> {
  const { Guias } = await import('@guias/sdk')
  return { id, comercio: codigo, llave, modo, api: new Guias({ llave, baseUrl: environment.url }) }
}

describe('a message that was surely not sent', () => {
  const cases: [string, RequestOutcome, number][] = [
    ['429 with Retry-After', { tipo: 'respuesta', status: 429, body: '{}', headers: { 'retry-after': '90' } }, 90_000],
    ['429 of Meta', { ...error(429, 130429), tipo: 'error' } as RequestOutcome, 10_000],
    ['500 of Meta', error(500, 131000), MINUTE_MS],
    ['503', { tipo: 'respuesta', status: 503, body: 'Service Unavailable' }, 5_000],
  ]
  it.each(cases)('%s: tried again at its time, and then one message', async (_description, outcome, wait) => {
    const sentSolicitud = await createWithOutcome(outcome)
    const before = await esperarIntento(sentSolicitud, 1)
    const missing = before.proximo_en.getTime() - canal.clock().getTime()
    expect(missing).toBeLessThanOrEqual(wait)
    expect(missing).toBeGreaterThan(wait - 5_000)
    expect(before.codigo).toMatch(/\w/)
    expect(before.motivo).toMatch(/reintentará|segundo|explicarlo/)
    heal(sentSolicitud)
    // Not before its time.
    await waitForQuiet()
    expect(requests(sentSolicitud)).toHaveLength(1)
    canal.advance(wait)
    const row = await esperar(sentSolicitud, 'enviado')
    expect(row).toMatchObject({ intentos: 2, codigo: null, motivo: null })
    expect(listAcceptedMensajes(sentSolicitud)).toHaveLength(1)
    expect(await tipos(comercio, sentSolicitud)).toEqual(SOLICITADA)
  })

  it('waits longer each time, up to its nine tries, and then tells that it failed', async () => {
    const sentSolicitud = await createWithOutcome(error(503, 2))
    const esperas = [
      MINUTE_MS,
      MINUTE_MS,
      2 * MINUTE_MS,
      10 * MINUTE_MS,
      30 * MINUTE_MS,
      HOUR_MS,
      4 * HOUR_MS,
      12 * HOUR_MS,
    ]
    for (const [i, wait] of esperas.entries()) {
      const { proximo_en } = await esperarIntento(sentSolicitud, i + 1)
      const missing = proximo_en.getTime() - canal.clock().getTime()
      expect([i, missing > wait - 8_000 && missing <= wait]).toEqual([i, true])
      canal.advance(wait)
    }
    const row = await esperar(sentSolicitud, 'fallido')
    expect([row.intentos, row.codigo]).toEqual([9, '2'])
    expect(await tipos(comercio, sentSolicitud)).toEqual(['guia.aceptado', 'ubicacion.fallida'])
    canal.advance(DAY_MS)
    await waitForQuiet()
    expect(requests(sentSolicitud)).toHaveLength(9)
  })

  it('is sent by the next process after a restart, at its time', async () => {
    const sentSolicitud = await createWithOutcome(error(503, 131016))
    await esperarIntento(sentSolicitud, 1)
    heal(sentSolicitud)
    await environment.reset()
    comercio = await readUrl(comercio)
    await waitForQuiet()
    expect(requests(sentSolicitud)).toHaveLength(1)
    canal.advance(MINUTE_MS)
    await esperar(sentSolicitud, 'enviado')
    expect(listAcceptedMensajes(sentSolicitud)).toHaveLength(1)
  })
})

const esperarIntento = (sentSolicitud: { guia: string }, intentos: number) =>
  waitUntil(async () => {
    const [row] = await mensajes(sentSolicitud)
    return row!.intentos === intentos && row!.estado === 'pendiente' && row!
  })

describe('a message with an unknown outcome', () => {
  const HANG: RequestOutcome = { tipo: 'colgar' }
  const cases: [string, RequestOutcome][] = [
    ['no answer', HANG],
    ['closed after reading', { tipo: 'cerrar' }],
    ['half an answer', { tipo: 'media_respuesta' }],
    ['502 without a body', { tipo: 'respuesta', status: 502, body: '' }],
    ['504 of a gateway', { tipo: 'respuesta', status: 504, body: '<html>Gateway Timeout</html>' }],
    ['200 without an id', { tipo: 'respuesta', status: 200, body: '{}' }],
  ]
  it(
    'is doubtful, and never sent again by any round or restart; the provider’s word settles it',
    FULL_RUN_ONLY,
    async () => {
      const shop = await environment.createComercio('live')
      const entregas = await canal.createComercioWithWebhook(shop)
      const sentSolicitudes = await Promise.all(
        cases.map(async ([, outcome]) => {
          const telefono = createTelefono()
          canal.proveedor.byTelefono.set(telefono, outcome)
          return fresh(shop, { telefono })
        }),
      )
      for (const [i, sentSolicitud] of sentSolicitudes.entries()) {
        const row = await esperar(sentSolicitud, 'dudoso')
        expect([cases[i]![0], row.motivo]).toEqual([cases[i]![0], expect.stringMatching(/aviso de estado/)])
        heal(sentSolicitud)
        const { ubicacion } = await read(shop, sentSolicitud)
        expect(ubicacion).toMatchObject({ estado: 'solicitada', solicitud: { estado: 'dudoso', motivo: row.motivo } })
      }
      await environment.reset()
      shop.api = (await readUrl(shop)).api
      comercio = await readUrl(comercio)
      canal.advance(5 * MINUTE_MS)
      await waitForQuiet()
      for (const sentSolicitud of sentSolicitudes) {
        expect(requests(sentSolicitud)).toHaveLength(1)
        expect(await tipos(shop, sentSolicitud)).toEqual(['guia.aceptado'])
      }
      expect(await entregas()).toEqual([])

      // The statuses come with our own id, for the wamid was never told; twice, and in no order.
      const sentAt = new Date(canal.clock().getTime() - 30_000)
      for (const [i, sentSolicitud] of sentSolicitudes.entries()) {
        const [{ id } = { id: '' }] = await mensajes(sentSolicitud)
        const datos = { wamid: `wamid.dudoso${i}`, recipient: sentSolicitud.telefono, ownId: id, en: sentAt }
        for (const status of [['sent'], ['sent', 'delivered'], ['read', 'sent'], ['delivered', 'delivered']][i % 4]!)
          await canal.estado(status, datos)
        const row = (await mensajes(sentSolicitud))[0]!
        expect(row).toMatchObject({
          estado: ['enviado', 'entregado', 'leido', 'entregado'][i % 4],
          proveedor_id: datos.wamid,
          motivo: null,
        })
        expect(row.enviado_en).toBeInstanceOf(Date)
        const { ubicacion } = await read(shop, sentSolicitud)
        expect(ubicacion.solicitud).toMatchObject({ estado: row.estado, enviado_en: row.enviado_en!.toISOString() })
        expect(await tipos(shop, sentSolicitud)).toEqual(SOLICITADA)
      }
      expect(await entregas()).toEqual(sentSolicitudes.map(() => 'ubicacion.solicitada'))
    },
  )

  it('is doubtful once the lease of a killed process is over', async () => {
    const sentSolicitud = await sentRequest(comercio)
    await environment.db.pool.query(
      `update mensaje set estado = 'enviando', proveedor_id = null, enviado_en = null, proximo_en = $2 where guia = $1`,
      [sentSolicitud.guia, new Date(canal.clock().getTime() + MINUTE_MS)],
    )
    await waitForQuiet()
    expect((await mensajes(sentSolicitud))[0]).toMatchObject({ estado: 'enviando' })
    canal.advance(2 * MINUTE_MS)
    const row = await esperar(sentSolicitud, 'dudoso')
    expect(row.motivo).toMatch(/se detuvo antes de saber/)
    expect(requests(sentSolicitud)).toHaveLength(1)
  })

  it('is not sent again when the service stops in the middle', FULL_RUN_ONLY, async () => {
    const sentSolicitud = await createWithOutcome({ tipo: 'colgar' })
    await waitUntil(async () => requests(sentSolicitud).length > 0)
    await environment.reset()
    comercio = await readUrl(comercio)
    heal(sentSolicitud)
    canal.advance(3 * MINUTE_MS)
    await esperar(sentSolicitud, 'dudoso')
    await waitForQuiet()
    expect(requests(sentSolicitud)).toHaveLength(1)
  })

  it('can be asked for again, which is another message, and late news of the first don’t change its news', async () => {
    const sentSolicitud = await createWithOutcome({ tipo: 'cerrar' })
    const first = await esperar(sentSolicitud, 'dudoso')
    heal(sentSolicitud)
    const reenviar = () =>
      environment.request('POST', `/api/v1/guias/${sentSolicitud.guia}/reenviar-solicitud`, { llave: comercio.llave })
    expect((await reenviar()).status).toBe(202)
    const second = await esperar(sentSolicitud, 'enviado', 2)
    expect(requests(sentSolicitud)).toHaveLength(2)
    const tokens = requests(sentSolicitud).map(({ json }) => json.template.components[1].parameters[0].text)
    expect(new Set(tokens).size).toBe(2)
    // Whichever the recipient opens.
    for (const token of tokens) expect((await fetch(`${environment.url}/u/${token}`)).status).toBe(200)
    await canal.estado('read', { wamid: second.proveedor_id!, recipient: sentSolicitud.telefono, ownId: second.id })
    expect((await read(comercio, sentSolicitud)).ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'leido' })
    await canal.estado('sent', { wamid: 'wamid.tarde', recipient: sentSolicitud.telefono, ownId: first.id })
    expect((await mensajes(sentSolicitud)).map(({ estado }) => estado)).toEqual(['enviado', 'leido'])
    expect((await read(comercio, sentSolicitud)).ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'leido' })
  })

  it('a failure of an older message leaves the newer request alone, with its news', async () => {
    const sentSolicitud = await sentRequest(comercio)
    await environment.request('POST', `/api/v1/guias/${sentSolicitud.guia}/reenviar-solicitud`, {
      llave: comercio.llave,
    })
    await esperar(sentSolicitud, 'enviado', 2)
    await canal.estado('failed', {
      wamid: sentSolicitud.wamid,
      recipient: sentSolicitud.telefono,
      error: { code: 131026 },
    })
    expect((await mensajes(sentSolicitud)).map(({ estado }) => estado)).toEqual(['fallido', 'enviado'])
    expect((await read(comercio, sentSolicitud)).ubicacion).toMatchObject({
      estado: 'solicitada',
      solicitud: { numero: 2, estado: 'enviado', motivo: null },
    })
    expect(await tipos(comercio, sentSolicitud)).not.toContain('ubicacion.fallida')
  })

  it('a doubt about an older message leaves the newer request’s news alone', async () => {
    const sentSolicitud = await sentRequest(comercio)
    await environment.db.pool.query(`update mensaje set estado = 'enviando', proximo_en = $2 where guia = $1`, [
      sentSolicitud.guia,
      new Date(canal.clock().getTime() + MINUTE_MS),
    ])
    await environment.request('POST', `/api/v1/guias/${sentSolicitud.guia}/reenviar-solicitud`, {
      llave: comercio.llave,
    })
    await esperar(sentSolicitud, 'enviado', 2)
    canal.advance(2 * MINUTE_MS)
    await esperar(sentSolicitud, 'dudoso')
    expect((await read(comercio, sentSolicitud)).ubicacion.solicitud).toMatchObject({ numero: 2, estado: 'enviado' })
  })
})

describe('many at once', () => {
  it('are each in somebody’s hands only while they are being sent', async () => {
    const telefonos = Array.from({ length: 40 }, createTelefono)
    // The provider is slow; the clock stands for a thousand of them.
    for (const telefono of telefonos) canal.proveedor.byTelefono.set(telefono, { tipo: 'aceptar', lag: 400 })
    const guias = telefonos.map((telefono) => buildGuiaWithoutDestino({ telefono: `+${telefono}` }))
    await comercio.api.guias.crearLote({ recogida: guias[0]!.recogida, guias })
    let concurrent = 0
    await waitUntil(async () => {
      const { rows } = await environment.db.pool.query(`select count(*)::int n from mensaje where estado = 'enviando'`)
      concurrent = Math.max(concurrent, rows[0].n)
      return telefonos.every((telefono) => listAcceptedMensajes({ telefono }).length > 0)
    })
    expect(concurrent).toBeGreaterThan(0)
    expect(concurrent).toBeLessThanOrEqual(8)
    await waitForQuiet()
    for (const telefono of telefonos) {
      expect(listAcceptedMensajes({ telefono })).toHaveLength(1)
      heal({ telefono })
    }
  })
})

describe('the log', () => {
  it('has no phone, link or secret', () => {
    const { config, requests: all } = canal.proveedor
    const tokens = all.flatMap(({ json }) => json.template?.components[1].parameters[0].text ?? [])
    const telefonos = all.map(({ json }) => json.to.slice(3) as string)
    checkLog(canal, [config.token, config.appSecret, config.verifyToken, ...tokens, ...telefonos])
    expect(environment.log.join('')).toMatch(/"resultado":"dudoso"/)
  })
})
