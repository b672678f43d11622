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
let puerto: number
const canal = useChannel({
  async variables() {
    puerto = await findFreePort()
    return { METRICS_PORT: `${puerto}` }
  },
})
const {
  environment,
  createUbicacionRequest: nueva,
  requested: pedida,
  esperar,
  mensajes,
  listAcceptedMensajes,
  requests: pedidos,
  tipos,
  leer,
} = canal
const { waitForQuiet, reply: contestar, postSigned } = canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.nuevoComercio('live')
})

const peticiones = async (esta: { guia: string }) =>
  (await mensajes(esta)).filter(({ tipo }) => tipo === 'peticion_interactiva')

describe('statuses', () => {
  const NOMBRES = ['sent', 'delivered', 'read'] as const
  const permutar = <T>(lista: readonly T[]): T[][] =>
    lista.length < 2 ? [[...lista]] : lista.flatMap((uno, i) => permutar(lista.toSpliced(i, 1)).map((r) => [uno, ...r]))
  const en = (i: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, i * 10))

  it.concurrent.each(permutar(NOMBRES).map((orden) => [orden.join(' '), orden] as const))(
    'in the order %s, doubled, end in the same',
    async (_orden, orden) => {
      const esta = await pedida(comercio)
      for (const [vuelta, status] of [...orden, ...orden].entries()) {
        const datos = { wamid: esta.wamid, recipient: esta.telefono, ownId: esta.id, en: en(NOMBRES.indexOf(status)) }
        // Another body each time, or the second would be no second row.
        await canal.notifyAndWait({ statuses: [estado(status, datos)], vuelta })
      }
      const [fila] = await mensajes(esta)
      expect([fila!.estado, fila!.entregado_en, fila!.leido_en]).toEqual(['leido', en(1), en(2)])
      const { solicitud } = (await leer(comercio, esta)).ubicacion
      expect(solicitud).toMatchObject({
        estado: 'leido',
        enviado_en: fila!.enviado_en!.toISOString(),
        entregado_en: en(1).toISOString(),
        leido_en: en(2).toISOString(),
      })
      expect(await tipos(comercio, esta)).toEqual(REQUESTED_EVENTOS)
    },
  )

  it('all in one body are as good', async () => {
    const esta = await pedida(comercio)
    const datos = { wamid: esta.wamid, recipient: esta.telefono, en: en(1) }
    await canal.notifyAndWait({ statuses: ['read', 'sent', 'delivered', 'nada', 'read'].map((s) => estado(s, datos)) })
    expect((await mensajes(esta))[0]!.estado).toBe('leido')
  })

  it.concurrent.each([
    [['sent', 'failed']],
    [['failed', 'sent']],
    [['failed', 'failed']],
    [['sent', 'failed', 'failed', 'sent', 'delivered']],
  ])('%j: failed, once, with a reason', async (orden) => {
    const tienda = await environment.nuevoComercio('live')
    const entregas = await canal.conWebhook(tienda)
    const esta = await pedida(tienda)
    for (const [vuelta, status] of orden.entries()) {
      const error = { code: 131026, title: 'Message undeliverable', details: `No se pudo con ${esta.telefono}` }
      const datos = { wamid: esta.wamid, recipient: esta.telefono, ...(status === 'failed' && { error }) }
      await canal.notifyAndWait({ statuses: [estado(status, datos)], vuelta })
    }
    const [fila] = await mensajes(esta)
    expect([fila!.estado, fila!.codigo]).toEqual(['fallido', '131026'])
    expect(fila!.motivo).toMatch(/no usa WhatsApp/)
    expect(fila!.motivo).not.toContain(esta.telefono)
    const { ubicacion } = await leer(tienda, esta)
    expect(ubicacion).toMatchObject({ estado: 'fallida', solicitud: { estado: 'fallido', motivo: fila!.motivo } })
    expect(await tipos(tienda, esta)).toEqual([...REQUESTED_EVENTOS, 'ubicacion.fallida'])
    expect(await entregas()).toEqual(['ubicacion.solicitada', 'ubicacion.fallida'])
  })

  it('count a message that failed once, also when WhatsApp repeats itself', async () => {
    const fallidos = async () => (await scrapeMetrics(puerto)).get('guias_mensajes_total{resultado="fallido"}')!
    const antes = await fallidos()
    const esta = await pedida(comercio)
    const datos = { wamid: esta.wamid, recipient: esta.telefono, error: { code: 131026 } }
    for (const vuelta of [0, 1]) await canal.notifyAndWait({ statuses: [estado('failed', datos)], vuelta })
    expect((await fallidos()) - antes).toBe(1)
  })

  it('without a recipient fails the message that it names', async () => {
    const esta = await pedida(comercio)
    const error = { code: 131026, title: 'Message undeliverable' }
    const { recipient_id: _, ...crudo } = estado('failed', { wamid: esta.wamid, recipient: esta.telefono, error })
    await canal.notifyAndWait({ statuses: [crudo] })
    expect((await mensajes(esta))[0]!.estado).toBe('fallido')
    expect((await leer(comercio, esta)).ubicacion.estado).toBe('fallida')
  })

  it('count what they did, and log what has no place', async () => {
    const cuantos = async () => {
      const metricas = await scrapeMetrics(puerto)
      return ['aplicado', 'sin_mensaje', 'sin_guia', 'ilegible'].map(
        (resultado) => metricas.get(`guias_entrantes_total{resultado="${resultado}"}`)!,
      )
    }
    const esta = await pedida(comercio)
    const telefono = createTelefono()
    const antes = await cuantos()
    await canal.notifyAndWait({
      statuses: [
        estado('read', { wamid: esta.wamid, recipient: esta.telefono }),
        estado('read', { wamid: 'wamid.nadie', recipient: telefono }),
        { ...estado('read', { wamid: esta.wamid, recipient: esta.telefono }), timestamp: 'ayer' },
      ],
      messages: [mensaje('text', { body: 'secreto de nadie' }, { de: telefono })],
    })
    const despues = await cuantos()
    expect(despues.map((total, i) => total - antes[i]!)).toEqual([1, 1, 1, 1])
    const lineas = environment.log.filter((linea) => linea.includes('inbound message not placed')).join('\n')
    for (const resultado of ['sin_mensaje', 'sin_guia', 'ilegible']) expect(lineas).toContain(`"${resultado}"`)
    expect(lineas).not.toMatch(new RegExp(`secreto de nadie|${telefono}`))
  })

  it('keep a confirmed place when the message fails afterwards', async () => {
    const esta = await pedida(comercio)
    await comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.6333, lng: -90.6064 })
    const error = { code: 131026, title: 'Message undeliverable', details: 'No se pudo' }
    await canal.notifyAndWait({ statuses: [estado('failed', { wamid: esta.wamid, recipient: esta.telefono, error })] })
    expect((await mensajes(esta))[0]!.estado).toBe('fallido')
    expect((await leer(comercio, esta)).ubicacion).toMatchObject({ estado: 'confirmada', origen: 'comercio' })
  })

  it('for an unknown message, another number or foreign ids do no harm', async () => {
    const esta = await pedida(comercio)
    const datos = { wamid: 'wamid.nadie', recipient: esta.telefono }
    await canal.notifyAndWait({
      statuses: [
        estado('read', datos),
        estado('read', { ...datos, ownId: '-'.repeat(36) }),
        estado('read', { ...datos, ownId: '0123456789abcdef0123456789abcdef0123' }),
        estado('read', { ...datos, ownId: esta.guia }),
        estado('failed', { ...datos, ownId: '01a204b8-7ab8-7000-beff-e7566cf9e000' }),
      ],
    })
    const deOtro = aviso({ statuses: [estado('read', { ...datos, wamid: esta.wamid })] }, '999999999999999')
    expect((await postSigned(JSON.stringify(deOtro))).status).toBe(200)
    await canal.waitUntilProcessed()
    expect((await mensajes(esta))[0]!.estado).toBe('enviado')
  })
})

describe('a location', () => {
  const confirmada = async (tienda: Comercio, esta: SentUbicacionRequest) => {
    const { ubicacion } = await leer(tienda, esta)
    expect(ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: RECIPIENT_POSITION.latitude,
      lng: RECIPIENT_POSITION.longitude,
    })
    expect((await tipos(tienda, esta)).at(-1)).toBe('ubicacion.confirmada')
    return ubicacion
  }
  const acuses = (esta: SentUbicacionRequest) => listAcceptedMensajes(esta).filter(({ json }) => json.type === 'text')

  it('in answer to our message confirms that guide, with its event, webhook and one word of thanks', async () => {
    const tienda = await environment.nuevoComercio('live')
    const entregas = await canal.conWebhook(tienda)
    const telefono = createTelefono()
    const [vieja, media, otra] = [
      await pedida(tienda, { telefono: `+${telefono}` }),
      await pedida(tienda, { telefono: `+${telefono}` }),
      await pedida(tienda, { telefono: `+${telefono}` }),
    ]
    const cuerpo = {
      messages: [
        mensaje(
          'location',
          { ...RECIPIENT_POSITION, name: 'Casa', address: '4a calle 1-23' },
          { de: telefono, inReplyTo: media.wamid },
        ),
      ],
    }
    // Meta repeats itself; the second time as another body.
    await Promise.all([canal.notify(cuerpo), canal.notify(cuerpo), canal.notify({ ...cuerpo, vuelta: 2 })])
    await canal.waitUntilProcessed()
    expect((await confirmada(tienda, media)).referencia).toBe('Casa, 4a calle 1-23')
    expect(await tipos(tienda, media)).toEqual(CONFIRMED_EVENTOS)
    for (const esta of [vieja, otra]) expect(await tipos(tienda, esta)).toEqual(REQUESTED_EVENTOS)
    await esperar(media, 'enviado', 2)
    await waitForQuiet()
    expect(acuses(media)).toHaveLength(1)
    expect(acuses(media)[0]!.json).toMatchObject({
      to: telefono,
      text: { preview_url: false, body: expect.stringMatching(/Gracias/) },
    })
    expect((await entregas()).filter((tipo) => tipo === 'ubicacion.confirmada')).toHaveLength(1)
    expect(await peticiones(vieja)).toEqual([])
    // The recipient's page says so, too.
    const token = listAcceptedMensajes(media)[1]!.json.template.components[1].parameters[0].text
    expect(await (await fetch(`${environment.url}/u/${token}`)).text()).toMatch(/Gracias|recibi|confirm/i)
  })

  it('that names our message confirms its guide without a sender, or with the number in another form', async () => {
    for (const from of [undefined, '5491123456789']) {
      const telefono = createTelefono()
      const [una, otra] = [
        await pedida(comercio, { telefono: `+${telefono}` }),
        await pedida(comercio, { telefono: `+${telefono}` }),
      ]
      await canal.notifyAndWait({
        messages: [{ ...mensaje('location', RECIPIENT_POSITION, { inReplyTo: una.wamid }), from }],
      })
      await confirmada(comercio, una)
      expect(await tipos(comercio, otra)).toEqual(REQUESTED_EVENTOS)
      expect(listAcceptedMensajes(una).at(-1)!.recipient).toBe(telefono)
    }
  })

  it('as a map link in a text confirms the guide, and a short link is followed', async () => {
    const conPunto = await pedida(comercio)
    const enlace = `https://www.google.com/maps?q=${RECIPIENT_POSITION.latitude},${RECIPIENT_POSITION.longitude}`
    await contestar('text', { body: `Mi casa:\n${enlace}.` }, conPunto)
    expect((await confirmada(comercio, conPunto)).maps_url).toBe(enlace)
    await esperar(conPunto, 'enviado', 2)
    const corto = await pedida(comercio)
    await contestar('text', { body: 'https://maps.app.goo.gl/abc123' }, corto)
    const { ubicacion } = await leer(comercio, corto)
    expect(ubicacion).toMatchObject({ estado: 'confirmada', maps_url: 'https://maps.app.goo.gl/abc123', lat: null })
    expect(await canal.query('select maps_url from enlace_corto')).toEqual([
      { maps_url: 'https://maps.app.goo.gl/abc123' },
    ])
    // The thanks would say that the place is known.
    await waitForQuiet()
    expect(await mensajes(corto)).toHaveLength(1)
  })

  it.each([
    ['shows a wide view', 'https://www.google.com/maps/@15.5,-90.2,6z'],
    ['is of no map', 'https://evil.example/?q=14.6,-90.5'],
  ])('is asked for when the link in a text %s', async (_caso, body) => {
    const esta = await pedida(comercio)
    await contestar('text', { body }, esta)
    expect(await tipos(comercio, esta)).toEqual(REQUESTED_EVENTOS)
    expect((await esperar(esta, 'enviado', 2)).tipo).toBe('peticion_interactiva')
  })

  it('without a context confirms the one guide that asks', async () => {
    const esta = await pedida(comercio)
    await contestar('location', RECIPIENT_POSITION, esta)
    await confirmada(comercio, esta)
    await esperar(esta, 'enviado', 2)
    expect(acuses(esta)).toHaveLength(1)
  })

  it('for several waiting guides is not guessed: the newest guide asks once again, and the answer confirms it', async () => {
    const telefono = createTelefono()
    const otra = await environment.nuevoComercio('live')
    const una = await pedida(comercio, { telefono: `+${telefono}` })
    const dos = await pedida(otra, { telefono: `+${telefono}` })
    await contestar('location', RECIPIENT_POSITION, { telefono })
    await contestar('location', { ...RECIPIENT_POSITION, latitude: 14.7 }, { telefono })
    await contestar('text', { body: 'ya se la mandé' }, { telefono })
    expect(await tipos(comercio, una)).toEqual(REQUESTED_EVENTOS)
    expect(await tipos(otra, dos)).toEqual(REQUESTED_EVENTOS)
    const { proveedor_id, tipo } = await esperar(dos, 'enviado', 2)
    expect(tipo).toBe('peticion_interactiva')
    await waitForQuiet()
    expect([await peticiones(una), (await peticiones(dos)).length]).toEqual([[], 1])
    const interactivos = pedidos({ telefono }).filter(({ json }) => json.type === 'interactive')
    expect(interactivos).toHaveLength(1)
    expect(interactivos[0]!.json.interactive).toMatchObject({
      type: 'location_request_message',
      action: { name: 'send_location' },
    })
    await contestar('location', RECIPIENT_POSITION, { telefono, inReplyTo: proveedor_id! })
    await confirmada(otra, dos)
    expect(await tipos(comercio, una)).toEqual(REQUESTED_EVENTOS)
    // Only one is left to mean.
    await contestar('location', RECIPIENT_POSITION, { telefono })
    await confirmada(comercio, una)
  })

  it('is not guessed either when the named guide also has messages whose id nobody knows', async () => {
    const telefono = createTelefono()
    canal.proveedor.porTelefono.set(telefono, { tipo: 'cerrar' })
    const una = await nueva(comercio, { telefono: `+${telefono}` })
    await esperar(una, 'dudoso')
    canal.proveedor.porTelefono.delete(telefono)
    await environment.request('POST', `/api/v1/guias/${una.guia}/reenviar-solicitud`, { llave: comercio.llave })
    const { proveedor_id } = await esperar(una, 'enviado', 2)
    const dos = await pedida(comercio, { telefono: `+${telefono}` })
    await contestar('location', RECIPIENT_POSITION, { telefono, inReplyTo: proveedor_id! })
    await confirmada(comercio, una)
    expect(await tipos(comercio, dos)).toEqual(REQUESTED_EVENTOS)
  })

  it('for a guide that is confirmed, on its way or over changes neither it nor another', async () => {
    const cerrar: [string, (esta: SentUbicacionRequest) => Promise<unknown>][] = [
      ['confirmed', (esta) => comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.5, lng: -90.4 })],
      [
        'on its way',
        async (esta) => {
          await comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.5, lng: -90.4 })
          for (const estado of ['recolectado', 'en_ruta'])
            await environment.operar('POST', `/guias/${esta.guia}/eventos`, { estado })
        },
      ],
      ['cancelled', (esta) => comercio.api.guias.cancelar(esta.guia)],
    ]
    for (const [que, hacer] of cerrar) {
      const telefono = createTelefono()
      const esta = await pedida(comercio, { telefono: `+${telefono}` })
      const otra = await pedida(comercio, { telefono: `+${telefono}` })
      await hacer(esta)
      const antes = await leer(comercio, esta)
      expect([que, antes.secuencia > 2]).toEqual([que, true])
      await contestar('location', RECIPIENT_POSITION, { telefono, inReplyTo: esta.wamid })
      await contestar('text', { body: 'gracias' }, { telefono, inReplyTo: esta.wamid })
      expect(await leer(comercio, esta)).toEqual(antes)
      expect([que, await tipos(comercio, otra)]).toEqual([que, REQUESTED_EVENTOS])
      expect(acuses(esta)).toEqual([])
      // Alone it is as harmless.
      await contestar('location', RECIPIENT_POSITION, { telefono, inReplyTo: otra.wamid })
      await contestar('location', { ...RECIPIENT_POSITION, latitude: 14.9 }, { telefono })
      expect(await leer(comercio, esta)).toEqual(antes)
      expect(await tipos(comercio, otra)).toEqual(CONFIRMED_EVENTOS)
    }
  })

  it('races with the merchant’s own word: one of both confirms, nothing is lost', async () => {
    const correr = async (_: unknown, i: number) => {
      const esta = await pedida(comercio)
      const carrera = [
        () => canal.notify({ messages: [mensaje('location', RECIPIENT_POSITION, { de: esta.telefono })] }),
        () => comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.5, lng: -90.4 }),
      ]
      await Promise.allSettled((i % 2 ? carrera.reverse() : carrera).map((llegar) => llegar()))
      await canal.waitUntilProcessed()
      const { ubicacion } = await leer(comercio, esta)
      expect(ubicacion.estado).toBe('confirmada')
      expect((await tipos(comercio, esta)).filter((tipo) => tipo === 'ubicacion.confirmada').length).toBeLessThan(3)
    }
    await Promise.all(Array.from({ length: 8 }, correr))
  })
})

describe('anything else', () => {
  const otros: [string, unknown][] = [
    ['text', { body: 'Hola, ¿dónde está mi paquete?' }],
    ['image', { id: '1', mime_type: 'image/jpeg', sha256: 'x', caption: 'mi casa' }],
    ['button', { payload: 'x', text: 'Enviar ubicación' }],
    ['interactive', { type: 'button_reply', button_reply: { id: '1', title: 'Sí' } }],
    ['reaction', { message_id: 'wamid.x', emoji: '👍' }],
    ['audio', { id: '2' }],
    ['unsupported', undefined],
    ['constructor', {}],
  ]
  it.concurrent.each(otros)('%s is one location request', async (tipo, contenido) => {
    const esta = await pedida(comercio)
    await contestar(tipo, contenido, esta)
    await esperar(esta, 'enviado', 2)
    expect((await peticiones(esta)).length).toBe(1)
    expect(await tipos(comercio, esta)).toEqual(REQUESTED_EVENTOS)
  })

  it('is one, however many texts come, in one body or in many at once', async () => {
    const esta = await pedida(comercio)
    const texto = (i: number) => mensaje('text', { body: `hola ${i}` }, { de: esta.telefono })
    await Promise.all(Array.from({ length: 15 }, (_, i) => canal.notify({ messages: [texto(i), texto(i + 100)] })))
    await canal.waitUntilProcessed()
    await esperar(esta, 'enviado', 2)
    await contestar('text', { body: 'otra vez' }, esta)
    await waitForQuiet()
    expect(await mensajes(esta)).toHaveLength(2)
    expect(pedidos(esta)).toHaveLength(2)
    const { proveedor_id } = (await peticiones(esta))[0]!
    await contestar('location', RECIPIENT_POSITION, { ...esta, inReplyTo: proveedor_id! })
    expect(await tipos(comercio, esta)).toEqual(CONFIRMED_EVENTOS)
  })

  it('from phones that nobody asked, from test guides or for another number is nobody’s business', async () => {
    const nadie = createTelefono()
    const prueba = await environment.nuevoComercio('test')
    const esta = await nueva(prueba)
    await esperar(esta, 'enviado')
    const ajena = await pedida(comercio)
    await contestar('location', RECIPIENT_POSITION, { telefono: nadie })
    await contestar('location', RECIPIENT_POSITION, esta)
    await contestar('text', { body: 'hola' }, esta)
    const deOtro = aviso(
      { messages: [mensaje('location', RECIPIENT_POSITION, { de: ajena.telefono })] },
      '999999999999999',
    )
    expect((await postSigned(JSON.stringify(deOtro))).status).toBe(200)
    const deOtroCampo = aviso(
      { messages: [mensaje('location', RECIPIENT_POSITION, { de: ajena.telefono })] },
      undefined,
      'history',
    )
    expect((await postSigned(JSON.stringify(deOtroCampo))).status).toBe(200)
    await canal.waitUntilProcessed()
    await waitForQuiet()
    expect(await tipos(prueba, esta)).toEqual(REQUESTED_EVENTOS)
    expect(await tipos(comercio, ajena)).toEqual(REQUESTED_EVENTOS)
    expect([pedidos({ telefono: nadie }), pedidos(esta), pedidos(ajena).length]).toEqual([[], [], 1])
  })
})

describe('the log', () => {
  it('has no phone, place, link or secret', () => {
    const { config, requests: todos } = canal.proveedor
    const tokens = todos.flatMap(({ json }) => json.template?.components[1].parameters[0].text ?? [])
    const telefonos = todos.map(({ json }) => json.to.slice(3) as string)
    const lugares = [
      String(RECIPIENT_POSITION.latitude),
      String(RECIPIENT_POSITION.longitude),
      '4a calle',
      'mi paquete',
    ]
    checkLog(canal, [config.token, config.appSecret, config.verifyToken, ...tokens, ...telefonos, ...lugares])
  })
})
