import { beforeAll, describe, expect, it } from 'vitest'
import type { Comercio } from '../environment.ts'
import { scrapeMetrics } from '../observability/scrape.ts'
import { findFreePort } from '../ports.ts'
import {
  CONFIRMED_EVENTOS,
  checkLog,
  createTelefono,
  RECIPIENT_POSITION,
  REQUESTED_EVENTOS,
  type SentUbicacionRequest,
  useChannel,
} from './channel.ts'
import { aviso, estado, mensaje } from './provider.ts'

// Tests that each have guides of their own go side by side: most of their time is waiting for the jobs.
let port: number
const canal = useChannel({
  async variables() {
    port = await findFreePort()
    return { METRICS_PORT: `${port}` }
  },
})
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
} = canal
const { waitForQuiet, reply: answer, postSigned } = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('live')
})

const peticiones = async (sentSolicitud: { guia: string }) =>
  (await mensajes(sentSolicitud)).filter(({ tipo }) => tipo === 'peticion_interactiva')

describe('statuses', () => {
  const NOMBRES = ['sent', 'delivered', 'read'] as const
  const permute = <T>(list: readonly T[]): T[][] =>
    list.length < 2 ? [[...list]] : list.flatMap((one, i) => permute(list.toSpliced(i, 1)).map((r) => [one, ...r]))
  const timeOf = (i: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, i * 10))

  it.concurrent.each(permute(NOMBRES).map((command) => [command.join(' '), command] as const))(
    'in the order %s, doubled, end in the same',
    async (_orderName, command) => {
      const sentSolicitud = await sentRequest(comercio)
      for (const [pass, status] of [...command, ...command].entries()) {
        const datos = {
          wamid: sentSolicitud.wamid,
          recipient: sentSolicitud.telefono,
          ownId: sentSolicitud.id,
          en: timeOf(NOMBRES.indexOf(status)),
        }
        // Another body each time, or the second would be no second row.
        await canal.notifyAndWait({ statuses: [estado(status, datos)], vuelta: pass })
      }
      const [row] = await mensajes(sentSolicitud)
      expect([row!.estado, row!.entregado_en, row!.leido_en]).toEqual(['leido', timeOf(1), timeOf(2)])
      const { solicitud } = (await read(comercio, sentSolicitud)).ubicacion
      expect(solicitud).toMatchObject({
        estado: 'leido',
        enviado_en: row!.enviado_en!.toISOString(),
        entregado_en: timeOf(1).toISOString(),
        leido_en: timeOf(2).toISOString(),
      })
      expect(await tipos(comercio, sentSolicitud)).toEqual(REQUESTED_EVENTOS)
    },
  )

  it('all in one body are as good', async () => {
    const sentSolicitud = await sentRequest(comercio)
    const datos = { wamid: sentSolicitud.wamid, recipient: sentSolicitud.telefono, en: timeOf(1) }
    await canal.notifyAndWait({ statuses: ['read', 'sent', 'delivered', 'nada', 'read'].map((s) => estado(s, datos)) })
    expect((await mensajes(sentSolicitud))[0]!.estado).toBe('leido')
  })

  it.concurrent.each([
    [['sent', 'failed']],
    [['failed', 'sent']],
    [['failed', 'failed']],
    [['sent', 'failed', 'failed', 'sent', 'delivered']],
  ])('%j: failed, once, with a reason', async (command) => {
    const shop = await environment.createComercio('live')
    const entregas = await canal.createComercioWithWebhook(shop)
    const sentSolicitud = await sentRequest(shop)
    for (const [pass, status] of command.entries()) {
      const error = {
        code: 131026,
        title: 'Message undeliverable',
        details: `No se pudo con ${sentSolicitud.telefono}`,
      }
      const datos = {
        wamid: sentSolicitud.wamid,
        recipient: sentSolicitud.telefono,
        ...(status === 'failed' && { error }),
      }
      await canal.notifyAndWait({ statuses: [estado(status, datos)], vuelta: pass })
    }
    const [row] = await mensajes(sentSolicitud)
    expect([row!.estado, row!.codigo]).toEqual(['fallido', '131026'])
    expect(row!.motivo).toMatch(/no usa WhatsApp/)
    expect(row!.motivo).not.toContain(sentSolicitud.telefono)
    const { ubicacion } = await read(shop, sentSolicitud)
    expect(ubicacion).toMatchObject({ estado: 'fallida', solicitud: { estado: 'fallido', motivo: row!.motivo } })
    expect(await tipos(shop, sentSolicitud)).toEqual([...REQUESTED_EVENTOS, 'ubicacion.fallida'])
    expect(await entregas()).toEqual(['ubicacion.solicitada', 'ubicacion.fallida'])
  })

  it('count a message that failed once, also when WhatsApp repeats itself', async () => {
    const fallidos = async () => (await scrapeMetrics(port)).get('guias_mensajes_total{resultado="fallido"}')!
    const before = await fallidos()
    const sentSolicitud = await sentRequest(comercio)
    const datos = { wamid: sentSolicitud.wamid, recipient: sentSolicitud.telefono, error: { code: 131026 } }
    for (const pass of [0, 1]) await canal.notifyAndWait({ statuses: [estado('failed', datos)], vuelta: pass })
    expect((await fallidos()) - before).toBe(1)
  })

  it('without a recipient fails the message that it names', async () => {
    const sentSolicitud = await sentRequest(comercio)
    const error = { code: 131026, title: 'Message undeliverable' }
    const { recipient_id: _, ...raw } = estado('failed', {
      wamid: sentSolicitud.wamid,
      recipient: sentSolicitud.telefono,
      error,
    })
    await canal.notifyAndWait({ statuses: [raw] })
    expect((await mensajes(sentSolicitud))[0]!.estado).toBe('fallido')
    expect((await read(comercio, sentSolicitud)).ubicacion.estado).toBe('fallida')
  })

  it('count what they did, and log what has no place', async () => {
    const count = async () => {
      const metrics = await scrapeMetrics(port)
      return ['aplicado', 'sin_mensaje', 'sin_guia', 'ilegible'].map(
        (result) => metrics.get(`guias_entrantes_total{resultado="${result}"}`)!,
      )
    }
    const sentSolicitud = await sentRequest(comercio)
    const telefono = createTelefono()
    const before = await count()
    await canal.notifyAndWait({
      statuses: [
        estado('read', { wamid: sentSolicitud.wamid, recipient: sentSolicitud.telefono }),
        estado('read', { wamid: 'wamid.nadie', recipient: telefono }),
        { ...estado('read', { wamid: sentSolicitud.wamid, recipient: sentSolicitud.telefono }), timestamp: 'ayer' },
      ],
      messages: [mensaje('text', { body: 'secreto de nadie' }, { de: telefono })],
    })
    const after = await count()
    expect(after.map((total, i) => total - before[i]!)).toEqual([1, 1, 1, 1])
    const lines = environment.log.filter((line) => line.includes('inbound message not placed')).join('\n')
    for (const result of ['sin_mensaje', 'sin_guia', 'ilegible']) expect(lines).toContain(`"${result}"`)
    expect(lines).not.toMatch(new RegExp(`secreto de nadie|${telefono}`))
  })

  it('keep a confirmed place when the message fails afterwards', async () => {
    const sentSolicitud = await sentRequest(comercio)
    await comercio.api.guias.confirmarUbicacion(sentSolicitud.guia, { lat: 14.6333, lng: -90.6064 })
    const error = { code: 131026, title: 'Message undeliverable', details: 'No se pudo' }
    await canal.notifyAndWait({
      statuses: [estado('failed', { wamid: sentSolicitud.wamid, recipient: sentSolicitud.telefono, error })],
    })
    expect((await mensajes(sentSolicitud))[0]!.estado).toBe('fallido')
    expect((await read(comercio, sentSolicitud)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'comercio' })
  })

  it('for an unknown message, another number or foreign ids do no harm', async () => {
    const sentSolicitud = await sentRequest(comercio)
    const datos = { wamid: 'wamid.nadie', recipient: sentSolicitud.telefono }
    await canal.notifyAndWait({
      statuses: [
        estado('read', datos),
        estado('read', { ...datos, ownId: '-'.repeat(36) }),
        estado('read', { ...datos, ownId: '0123456789abcdef0123456789abcdef0123' }),
        estado('read', { ...datos, ownId: sentSolicitud.guia }),
        estado('failed', { ...datos, ownId: '01a204b8-7ab8-7000-beff-e7566cf9e000' }),
      ],
    })
    const ofOther = aviso({ statuses: [estado('read', { ...datos, wamid: sentSolicitud.wamid })] }, '999999999999999')
    expect((await postSigned(JSON.stringify(ofOther))).status).toBe(200)
    await canal.waitUntilProcessed()
    expect((await mensajes(sentSolicitud))[0]!.estado).toBe('enviado')
  })
})

describe('a location', () => {
  const confirmed = async (shop: Comercio, sentSolicitud: SentUbicacionRequest) => {
    const { ubicacion } = await read(shop, sentSolicitud)
    expect(ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: RECIPIENT_POSITION.latitude,
      lng: RECIPIENT_POSITION.longitude,
    })
    expect((await tipos(shop, sentSolicitud)).at(-1)).toBe('ubicacion.confirmada')
    return ubicacion
  }
  const acuses = (sentSolicitud: SentUbicacionRequest) =>
    listAcceptedMensajes(sentSolicitud).filter(({ json }) => json.type === 'text')

  it('in answer to our message confirms that guide, with its event, webhook and one word of thanks', async () => {
    const shop = await environment.createComercio('live')
    const entregas = await canal.createComercioWithWebhook(shop)
    const telefono = createTelefono()
    const [old, media, other] = [
      await sentRequest(shop, { telefono: `+${telefono}` }),
      await sentRequest(shop, { telefono: `+${telefono}` }),
      await sentRequest(shop, { telefono: `+${telefono}` }),
    ]
    const body = {
      messages: [
        mensaje(
          'location',
          { ...RECIPIENT_POSITION, name: 'Casa', address: '4a calle 1-23' },
          { de: telefono, inReplyTo: media.wamid },
        ),
      ],
    }
    // Meta repeats itself; the second time as another body.
    await Promise.all([canal.notify(body), canal.notify(body), canal.notify({ ...body, vuelta: 2 })])
    await canal.waitUntilProcessed()
    expect((await confirmed(shop, media)).referencia).toBe('Casa, 4a calle 1-23')
    expect(await tipos(shop, media)).toEqual(CONFIRMED_EVENTOS)
    for (const sentSolicitud of [old, other]) expect(await tipos(shop, sentSolicitud)).toEqual(REQUESTED_EVENTOS)
    await esperar(media, 'enviado', 2)
    await waitForQuiet()
    expect(acuses(media)).toHaveLength(1)
    expect(acuses(media)[0]!.json).toMatchObject({
      to: telefono,
      text: { preview_url: false, body: expect.stringMatching(/Gracias/) },
    })
    expect((await entregas()).filter((tipo) => tipo === 'ubicacion.confirmada')).toHaveLength(1)
    expect(await peticiones(old)).toEqual([])
    // The recipient's page says so, too.
    const token = listAcceptedMensajes(media)[1]!.json.template.components[1].parameters[0].text
    expect(await (await fetch(`${environment.url}/u/${token}`)).text()).toMatch(/Gracias|recibi|confirm/i)
  })

  it('that names our message confirms its guide without a sender, or with the number in another form', async () => {
    for (const from of [undefined, '5491123456789']) {
      const telefono = createTelefono()
      const [one, other] = [
        await sentRequest(comercio, { telefono: `+${telefono}` }),
        await sentRequest(comercio, { telefono: `+${telefono}` }),
      ]
      await canal.notifyAndWait({
        messages: [{ ...mensaje('location', RECIPIENT_POSITION, { inReplyTo: one.wamid }), from }],
      })
      await confirmed(comercio, one)
      expect(await tipos(comercio, other)).toEqual(REQUESTED_EVENTOS)
      expect(listAcceptedMensajes(one).at(-1)!.recipient).toBe(telefono)
    }
  })

  it('as a map link in a text confirms the guide, and a short link is followed', async () => {
    const withPoint = await sentRequest(comercio)
    const link = `https://www.google.com/maps?q=${RECIPIENT_POSITION.latitude},${RECIPIENT_POSITION.longitude}`
    await answer('text', { body: `Mi casa:\n${link}.` }, withPoint)
    expect((await confirmed(comercio, withPoint)).maps_url).toBe(link)
    await esperar(withPoint, 'enviado', 2)
    const shortForm = await sentRequest(comercio)
    await answer('text', { body: 'https://maps.app.goo.gl/abc123' }, shortForm)
    const { ubicacion } = await read(comercio, shortForm)
    expect(ubicacion).toMatchObject({ estado: 'confirmada', maps_url: 'https://maps.app.goo.gl/abc123', lat: null })
    expect(await canal.query('select maps_url from enlace_corto')).toEqual([
      { maps_url: 'https://maps.app.goo.gl/abc123' },
    ])
    // The thanks would say that the place is known.
    await waitForQuiet()
    expect(await mensajes(shortForm)).toHaveLength(1)
  })

  it.each([
    ['shows a wide view', 'https://www.google.com/maps/@15.5,-90.2,6z'],
    ['is of no map', 'https://evil.example/?q=14.6,-90.5'],
  ])('is asked for when the link in a text %s', async (_case, body) => {
    const sentSolicitud = await sentRequest(comercio)
    await answer('text', { body }, sentSolicitud)
    expect(await tipos(comercio, sentSolicitud)).toEqual(REQUESTED_EVENTOS)
    expect((await esperar(sentSolicitud, 'enviado', 2)).tipo).toBe('peticion_interactiva')
  })

  it('without a context confirms the one guide that asks', async () => {
    const sentSolicitud = await sentRequest(comercio)
    await answer('location', RECIPIENT_POSITION, sentSolicitud)
    await confirmed(comercio, sentSolicitud)
    await esperar(sentSolicitud, 'enviado', 2)
    expect(acuses(sentSolicitud)).toHaveLength(1)
  })

  it('for several waiting guides is not guessed: the newest guide asks once again, and the answer confirms it', async () => {
    const telefono = createTelefono()
    const other = await environment.createComercio('live')
    const one = await sentRequest(comercio, { telefono: `+${telefono}` })
    const dos = await sentRequest(other, { telefono: `+${telefono}` })
    await answer('location', RECIPIENT_POSITION, { telefono })
    await answer('location', { ...RECIPIENT_POSITION, latitude: 14.7 }, { telefono })
    await answer('text', { body: 'ya se la mandé' }, { telefono })
    expect(await tipos(comercio, one)).toEqual(REQUESTED_EVENTOS)
    expect(await tipos(other, dos)).toEqual(REQUESTED_EVENTOS)
    const { proveedor_id, tipo } = await esperar(dos, 'enviado', 2)
    expect(tipo).toBe('peticion_interactiva')
    await waitForQuiet()
    expect([await peticiones(one), (await peticiones(dos)).length]).toEqual([[], 1])
    const interactiveRequests = requests({ telefono }).filter(({ json }) => json.type === 'interactive')
    expect(interactiveRequests).toHaveLength(1)
    expect(interactiveRequests[0]!.json.interactive).toMatchObject({
      type: 'location_request_message',
      action: { name: 'send_location' },
    })
    await answer('location', RECIPIENT_POSITION, { telefono, inReplyTo: proveedor_id! })
    await confirmed(other, dos)
    expect(await tipos(comercio, one)).toEqual(REQUESTED_EVENTOS)
    // Only one is left to mean.
    await answer('location', RECIPIENT_POSITION, { telefono })
    await confirmed(comercio, one)
  })

  it('is not guessed either when the named guide also has messages whose id nobody knows', async () => {
    const telefono = createTelefono()
    canal.proveedor.byTelefono.set(telefono, { tipo: 'cerrar' })
    const one = await fresh(comercio, { telefono: `+${telefono}` })
    await esperar(one, 'dudoso')
    canal.proveedor.byTelefono.delete(telefono)
    await environment.request('POST', `/api/v1/guias/${one.guia}/reenviar-solicitud`, { llave: comercio.llave })
    const { proveedor_id } = await esperar(one, 'enviado', 2)
    const dos = await sentRequest(comercio, { telefono: `+${telefono}` })
    await answer('location', RECIPIENT_POSITION, { telefono, inReplyTo: proveedor_id! })
    await confirmed(comercio, one)
    expect(await tipos(comercio, dos)).toEqual(REQUESTED_EVENTOS)
  })

  it('for a guide that is confirmed, on its way or over changes neither it nor another', async () => {
    const close: [string, (sentSolicitud: SentUbicacionRequest) => Promise<unknown>][] = [
      [
        'confirmed',
        (sentSolicitud) => comercio.api.guias.confirmarUbicacion(sentSolicitud.guia, { lat: 14.5, lng: -90.4 }),
      ],
      [
        'on its way',
        async (sentSolicitud) => {
          await comercio.api.guias.confirmarUbicacion(sentSolicitud.guia, { lat: 14.5, lng: -90.4 })
          for (const estado of ['recolectado', 'en_ruta'])
            await environment.asOperador('POST', `/guias/${sentSolicitud.guia}/eventos`, { estado })
        },
      ],
      ['cancelled', (sentSolicitud) => comercio.api.guias.cancelar(sentSolicitud.guia)],
    ]
    for (const [kind, act] of close) {
      const telefono = createTelefono()
      const sentSolicitud = await sentRequest(comercio, { telefono: `+${telefono}` })
      const other = await sentRequest(comercio, { telefono: `+${telefono}` })
      await act(sentSolicitud)
      const before = await read(comercio, sentSolicitud)
      expect([kind, before.secuencia > 2]).toEqual([kind, true])
      await answer('location', RECIPIENT_POSITION, { telefono, inReplyTo: sentSolicitud.wamid })
      await answer('text', { body: 'gracias' }, { telefono, inReplyTo: sentSolicitud.wamid })
      expect(await read(comercio, sentSolicitud)).toEqual(before)
      expect([kind, await tipos(comercio, other)]).toEqual([kind, REQUESTED_EVENTOS])
      expect(acuses(sentSolicitud)).toEqual([])
      // Alone it is as harmless.
      await answer('location', RECIPIENT_POSITION, { telefono, inReplyTo: other.wamid })
      await answer('location', { ...RECIPIENT_POSITION, latitude: 14.9 }, { telefono })
      expect(await read(comercio, sentSolicitud)).toEqual(before)
      expect(await tipos(comercio, other)).toEqual(CONFIRMED_EVENTOS)
    }
  })

  it('races with the merchant’s own word: one of both confirms, nothing is lost', async () => {
    const runCommand = async (_: unknown, i: number) => {
      const sentSolicitud = await sentRequest(comercio)
      const carrera = [
        () => canal.notify({ messages: [mensaje('location', RECIPIENT_POSITION, { de: sentSolicitud.telefono })] }),
        () => comercio.api.guias.confirmarUbicacion(sentSolicitud.guia, { lat: 14.5, lng: -90.4 }),
      ]
      await Promise.allSettled((i % 2 ? carrera.reverse() : carrera).map((deliver) => deliver()))
      await canal.waitUntilProcessed()
      const { ubicacion } = await read(comercio, sentSolicitud)
      expect(ubicacion.estado).toBe('confirmada')
      expect(
        (await tipos(comercio, sentSolicitud)).filter((tipo) => tipo === 'ubicacion.confirmada').length,
      ).toBeLessThan(3)
    }
    await Promise.all(Array.from({ length: 8 }, runCommand))
  })
})

describe('anything else', () => {
  const others: [string, unknown][] = [
    ['text', { body: 'Hola, ¿dónde está mi paquete?' }],
    ['image', { id: '1', mime_type: 'image/jpeg', sha256: 'x', caption: 'mi casa' }],
    ['button', { payload: 'x', text: 'Enviar ubicación' }],
    ['interactive', { type: 'button_reply', button_reply: { id: '1', title: 'Sí' } }],
    ['reaction', { message_id: 'wamid.x', emoji: '👍' }],
    ['audio', { id: '2' }],
    ['unsupported', undefined],
    ['constructor', {}],
  ]
  it.concurrent.each(others)('%s is one location request', async (tipo, contenido) => {
    const sentSolicitud = await sentRequest(comercio)
    await answer(tipo, contenido, sentSolicitud)
    await esperar(sentSolicitud, 'enviado', 2)
    expect((await peticiones(sentSolicitud)).length).toBe(1)
    expect(await tipos(comercio, sentSolicitud)).toEqual(REQUESTED_EVENTOS)
  })

  it('is one, however many texts come, in one body or in many at once', async () => {
    const sentSolicitud = await sentRequest(comercio)
    const text = (i: number) => mensaje('text', { body: `hola ${i}` }, { de: sentSolicitud.telefono })
    await Promise.all(Array.from({ length: 15 }, (_, i) => canal.notify({ messages: [text(i), text(i + 100)] })))
    await canal.waitUntilProcessed()
    await esperar(sentSolicitud, 'enviado', 2)
    await answer('text', { body: 'otra vez' }, sentSolicitud)
    await waitForQuiet()
    expect(await mensajes(sentSolicitud)).toHaveLength(2)
    expect(requests(sentSolicitud)).toHaveLength(2)
    const { proveedor_id } = (await peticiones(sentSolicitud))[0]!
    await answer('location', RECIPIENT_POSITION, { ...sentSolicitud, inReplyTo: proveedor_id! })
    expect(await tipos(comercio, sentSolicitud)).toEqual(CONFIRMED_EVENTOS)
  })

  it('from phones that nobody asked, from test guides or for another number is nobody’s business', async () => {
    const nobody = createTelefono()
    const prueba = await environment.createComercio('test')
    const sentSolicitud = await fresh(prueba)
    await esperar(sentSolicitud, 'enviado')
    const foreign = await sentRequest(comercio)
    await answer('location', RECIPIENT_POSITION, { telefono: nobody })
    await answer('location', RECIPIENT_POSITION, sentSolicitud)
    await answer('text', { body: 'hola' }, sentSolicitud)
    const ofOther = aviso(
      { messages: [mensaje('location', RECIPIENT_POSITION, { de: foreign.telefono })] },
      '999999999999999',
    )
    expect((await postSigned(JSON.stringify(ofOther))).status).toBe(200)
    const otherFieldAviso = aviso(
      { messages: [mensaje('location', RECIPIENT_POSITION, { de: foreign.telefono })] },
      undefined,
      'history',
    )
    expect((await postSigned(JSON.stringify(otherFieldAviso))).status).toBe(200)
    await canal.waitUntilProcessed()
    await waitForQuiet()
    expect(await tipos(prueba, sentSolicitud)).toEqual(REQUESTED_EVENTOS)
    expect(await tipos(comercio, foreign)).toEqual(REQUESTED_EVENTOS)
    expect([requests({ telefono: nobody }), requests(sentSolicitud), requests(foreign).length]).toEqual([[], [], 1])
  })
})

describe('the log', () => {
  it('has no phone, place, link or secret', () => {
    const { config, requests: all } = canal.proveedor
    const tokens = all.flatMap(({ json }) => json.template?.components[1].parameters[0].text ?? [])
    const telefonos = all.map(({ json }) => json.to.slice(3) as string)
    const lugares = [
      String(RECIPIENT_POSITION.latitude),
      String(RECIPIENT_POSITION.longitude),
      '4a calle',
      'mi paquete',
    ]
    checkLog(canal, [config.token, config.appSecret, config.verifyToken, ...tokens, ...telefonos, ...lugares])
  })
})
