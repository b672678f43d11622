import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Comercio } from '../entorno.ts'
import { hasta } from '../fabricas.ts'
import { nuevoTelefono, type Pedida, RUTA, revisarLog, usarCanal } from './canal.ts'
import { aviso, estado, firmar, mensaje } from './proveedor.ts'

const canal = usarCanal()
const { entorno, nueva, pedida, esperar, mensajes, aceptados, pedidos, tipos, leer, quietud, contestar, consultar } =
  canal
let comercio: Comercio
beforeAll(async () => {
  comercio = await entorno.nuevoComercio('live')
})
const AHI = { latitude: 14.6123457, longitude: -90.5198763 }
const CONFIRMADA = ['guia.aceptado', 'ubicacion.solicitada', 'ubicacion.confirmada']
const SOLICITADA = CONFIRMADA.slice(0, 2)

const publicar = async (cuerpo: string | Uint8Array<ArrayBuffer>, cabeceras: Record<string, string> = {}) => {
  const crudo = typeof cuerpo === 'string' ? new TextEncoder().encode(cuerpo) : cuerpo
  return entorno.pedir('POST', RUTA, {
    crudo,
    cabeceras: {
      'Content-Type': 'application/json',
      'X-Hub-Signature-256': firmar(Buffer.from(crudo), canal.proveedor.config.appSecret),
      ...cabeceras,
    },
  })
}
const filasDe = async (cuerpo: string) =>
  (
    await consultar<{ n: number }>('select count(*)::int n from entrante where huella = $1', [
      createHash('sha256').update(cuerpo).digest(),
    ])
  )[0]!.n
const peticiones = async (esta: { guia: string }) =>
  (await mensajes(esta)).filter(({ tipo }) => tipo === 'peticion_interactiva')

describe('the challenge', () => {
  const pedir = (consulta: Record<string, string>) => entorno.pedir('GET', `${RUTA}?${new URLSearchParams(consulta)}`)
  const bueno = () => ({
    'hub.mode': 'subscribe',
    'hub.verify_token': canal.proveedor.config.verifyToken,
    'hub.challenge': '1158201444',
  })

  it('is answered as text to who knows the password', async () => {
    const { status, cuerpo, cabeceras } = await pedir(bueno())
    expect([status, cuerpo, cabeceras.get('content-type')]).toEqual([200, '1158201444', 'text/plain; charset=utf-8'])
  })

  it('is refused with another password, mode or challenge', async () => {
    for (const cambio of [
      { 'hub.verify_token': 'otra' },
      { 'hub.verify_token': `${bueno()['hub.verify_token']} ` },
      { 'hub.mode': 'unsubscribe' },
      { 'hub.challenge': '<script>alert(1)</script>' },
    ]) {
      const { status, cuerpo } = await pedir({ ...bueno(), ...cambio })
      expect([cambio, status, cuerpo.codigo]).toEqual([cambio, 403, 'firma_invalida'])
      expect(JSON.stringify(cuerpo)).not.toContain('script')
    }
  })

  it('is a 400 with anything missing, twice or unknown', async () => {
    for (const nombre of Object.keys(bueno())) {
      const { [nombre as 'hub.mode']: _, ...resto } = bueno()
      expect([nombre, (await pedir(resto)).status]).toEqual([nombre, 400])
    }
    const todo = new URLSearchParams(bueno())
    for (const mas of ['hub.mode=subscribe', 'otro=1', 'hub.verify_token[]=x'])
      expect([mas, (await entorno.pedir('GET', `${RUTA}?${todo}&${mas}`)).status]).toEqual([mas, 400])
  })
})

describe('the signature', () => {
  const cuerpo = '{"object":"whatsapp_business_account","entry":[],"n":"ñ🏠 0123456789012345678901234567890123456789"}'
  const buena = () => firmar(cuerpo, canal.proveedor.config.appSecret)

  it('is what lets a body in', async () => {
    const { status, cuerpo: respuesta } = await publicar(cuerpo)
    expect([status, respuesta]).toEqual([200, { ok: true }])
    expect(
      (await publicar(cuerpo, { 'X-Hub-Signature-256': buena().toUpperCase().replace('SHA256', 'sha256') })).status,
    ).toBe(200)
    // The same bytes are one row.
    expect(await filasDe(cuerpo)).toBe(1)
  })

  it('keeps every other out, before it is read as JSON', async () => {
    const alterado = cuerpo.replace('entry', 'entrY')
    const sha1 = `sha1=${buena().slice(7, 47)}`
    const casos: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>][] = [
      ['altered byte', alterado, { 'X-Hub-Signature-256': buena() }],
      ['a byte more', `${cuerpo} `, { 'X-Hub-Signature-256': buena() }],
      ['missing', cuerpo, { 'X-Hub-Signature-256': '' }],
      ['other secret', cuerpo, { 'X-Hub-Signature-256': firmar(cuerpo, 'otro') }],
      ['empty secret', cuerpo, { 'X-Hub-Signature-256': firmar(cuerpo, '') }],
      ['of the verify token', cuerpo, { 'X-Hub-Signature-256': firmar(cuerpo, canal.proveedor.config.verifyToken) }],
      ['sha1', cuerpo, { 'X-Hub-Signature-256': sha1 }],
      ['cut', cuerpo, { 'X-Hub-Signature-256': buena().slice(0, -1) }],
      ['too much', cuerpo, { 'X-Hub-Signature-256': `${buena()}0` }],
      ['no JSON', '{', { 'X-Hub-Signature-256': buena() }],
      ['nothing', '', { 'X-Hub-Signature-256': buena() }],
    ]
    for (const [que, crudo, cabeceras] of casos) {
      const respuesta = await publicar(crudo, cabeceras)
      expect([que, respuesta.status, respuesta.cuerpo.codigo]).toEqual([que, 403, 'firma_invalida'])
    }
    const sin = await entorno.pedir('POST', RUTA, { crudo: cuerpo, cabeceras: { 'Content-Type': 'application/json' } })
    expect(sin.status).toBe(403)
    const nada = await entorno.pedir('POST', RUTA)
    expect([nada.status, nada.cuerpo.codigo]).toEqual([403, 'firma_invalida'])
    expect(await filasDe(alterado)).toBe(0)
  })

  it('is read whatever else is wrong: every other declared answer', async () => {
    for (const malo of ['', '{', 'nul', '{"a":1}{', '\ufeff{}', '[1,]']) {
      const { status, cuerpo: problema } = await publicar(malo)
      expect([malo, status, problema.codigo]).toEqual([malo, 400, 'json_invalido'])
    }
    expect((await publicar(cuerpo, { 'X-Hub-Signature-256': 'x'.repeat(201) })).status).toBe(400)
    expect(
      (await entorno.pedir('POST', `${RUTA}?x=1`, { crudo: cuerpo, cabeceras: { 'Content-Type': 'application/json' } }))
        .status,
    ).toBe(400)
    for (const tipo of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])
      expect([tipo, (await publicar(cuerpo, { 'Content-Type': tipo })).status]).toEqual([tipo, 415])
    for (const metodo of ['PUT', 'PATCH', 'DELETE']) expect((await entorno.pedir(metodo, RUTA)).status).toBe(405)
  })

  it('takes 3 MB and not a byte more', async () => {
    const LIMITE = 3 * 1024 * 1024
    const llena = (bytes: number) => {
      const vacia = JSON.stringify(aviso({ relleno: '' }))
      return vacia.replace('"relleno":""', `"relleno":"${'x'.repeat(bytes - vacia.length)}"`)
    }
    expect(Buffer.byteLength(llena(LIMITE))).toBe(LIMITE)
    expect((await publicar(llena(LIMITE))).status).toBe(200)
    const larga = await publicar(llena(LIMITE + 1))
    expect([larga.status, larga.cuerpo.codigo]).toEqual([413, 'cuerpo_demasiado_grande'])
    await canal.procesado()
  })

  it('is answered while the jobs can’t get on', async () => {
    const esta = await pedida(comercio)
    const entregado = (i: number) =>
      canal.avisar({
        statuses: [estado('delivered', { wamid: esta.wamid, para: esta.telefono, en: new Date(1.7e12 + i * 1_000) })],
      })
    const cliente = await entorno.db.pool.connect()
    try {
      await cliente.query('begin')
      await cliente.query('lock table mensaje in access exclusive mode')
      await entregado(0)
      await hasta(
        async () => (await consultar(`select from pg_locks where not granted and relation = 'mensaje'::regclass`))[0],
      )
      await Promise.all(Array.from({ length: 40 }, (_, i) => entregado(i + 1)))
    } finally {
      await cliente.query('rollback')
      cliente.release()
    }
    await canal.procesado()
    await esperar(esta, 'entregado')
  })
})

describe('statuses', () => {
  const NOMBRES = ['sent', 'delivered', 'read'] as const
  const permutar = <T>(lista: readonly T[]): T[][] =>
    lista.length < 2 ? [[...lista]] : lista.flatMap((uno, i) => permutar(lista.toSpliced(i, 1)).map((r) => [uno, ...r]))
  const en = (i: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, i * 10))

  it.each(permutar(NOMBRES).map((orden) => [orden.join(' '), orden] as const))(
    'in the order %s, doubled, end in the same',
    async (_orden, orden) => {
      const esta = await pedida(comercio)
      for (const [vuelta, status] of [...orden, ...orden].entries()) {
        const datos = { wamid: esta.wamid, para: esta.telefono, nuestroId: esta.id, en: en(NOMBRES.indexOf(status)) }
        // Another body each time, or the second would be no second row.
        await canal.contar({ statuses: [estado(status, datos)], vuelta })
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
      expect(await tipos(comercio, esta)).toEqual(SOLICITADA)
    },
  )

  it('all in one body are as good', async () => {
    const esta = await pedida(comercio)
    const datos = { wamid: esta.wamid, para: esta.telefono, en: en(1) }
    await canal.contar({ statuses: ['read', 'sent', 'delivered', 'nada', 'read'].map((s) => estado(s, datos)) })
    expect((await mensajes(esta))[0]!.estado).toBe('leido')
  })

  it.each([
    [['sent', 'failed']],
    [['failed', 'sent']],
    [['failed', 'failed']],
    [['sent', 'failed', 'failed', 'sent', 'delivered']],
  ])('%j: failed, once, with a reason', async (orden) => {
    const tienda = await entorno.nuevoComercio('live')
    const entregas = await canal.conWebhook(tienda)
    const esta = await pedida(tienda)
    for (const [vuelta, status] of orden.entries()) {
      const error = { code: 131026, title: 'Message undeliverable', detalles: `No se pudo con ${esta.telefono}` }
      const datos = { wamid: esta.wamid, para: esta.telefono, ...(status === 'failed' && { error }) }
      await canal.contar({ statuses: [estado(status, datos)], vuelta })
    }
    const [fila] = await mensajes(esta)
    expect([fila!.estado, fila!.codigo]).toEqual(['fallido', '131026'])
    expect(fila!.motivo).toMatch(/no usa WhatsApp/)
    expect(fila!.motivo).not.toContain(esta.telefono)
    const { ubicacion } = await leer(tienda, esta)
    expect(ubicacion).toMatchObject({ estado: 'fallida', solicitud: { estado: 'fallido', motivo: fila!.motivo } })
    expect(await tipos(tienda, esta)).toEqual([...SOLICITADA, 'ubicacion.fallida'])
    expect(await entregas()).toEqual(['ubicacion.solicitada', 'ubicacion.fallida'])
  })

  it('of nobody’s message, another number or with ids that aren’t ours are harmless', async () => {
    const esta = await pedida(comercio)
    const datos = { wamid: 'wamid.nadie', para: esta.telefono }
    await canal.contar({
      statuses: [
        estado('read', datos),
        estado('read', { ...datos, nuestroId: '-'.repeat(36) }),
        estado('read', { ...datos, nuestroId: '0123456789abcdef0123456789abcdef0123' }),
        estado('read', { ...datos, nuestroId: esta.guia }),
        estado('failed', { ...datos, nuestroId: '01a204b8-7ab8-7000-beff-e7566cf9e000' }),
      ],
    })
    const deOtro = aviso({ statuses: [estado('read', { ...datos, wamid: esta.wamid })] }, '999999999999999')
    expect((await publicar(JSON.stringify(deOtro))).status).toBe(200)
    await canal.procesado()
    expect((await mensajes(esta))[0]!.estado).toBe('enviado')
  })
})

describe('a location', () => {
  const confirmada = async (tienda: Comercio, esta: Pedida) => {
    const { ubicacion } = await leer(tienda, esta)
    expect(ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: AHI.latitude,
      lng: AHI.longitude,
    })
    expect((await tipos(tienda, esta)).at(-1)).toBe('ubicacion.confirmada')
    return ubicacion
  }
  const acuses = (esta: Pedida) => aceptados(esta).filter(({ json }) => json.type === 'text')

  it('in answer to our message confirms that guide, with its event, webhook and one word of thanks', async () => {
    const tienda = await entorno.nuevoComercio('live')
    const entregas = await canal.conWebhook(tienda)
    const telefono = nuevoTelefono()
    const [vieja, media, otra] = [
      await pedida(tienda, { telefono: `+${telefono}` }),
      await pedida(tienda, { telefono: `+${telefono}` }),
      await pedida(tienda, { telefono: `+${telefono}` }),
    ]
    const cuerpo = {
      messages: [
        mensaje(
          'location',
          { ...AHI, name: 'Casa', address: '4a calle 1-23' },
          { de: telefono, enRespuestaA: media.wamid },
        ),
      ],
    }
    // Meta repeats itself; the second time as another body.
    await Promise.all([canal.avisar(cuerpo), canal.avisar(cuerpo), canal.avisar({ ...cuerpo, vuelta: 2 })])
    await canal.procesado()
    expect((await confirmada(tienda, media)).referencia).toBe('Casa, 4a calle 1-23')
    expect(await tipos(tienda, media)).toEqual(CONFIRMADA)
    for (const esta of [vieja, otra]) expect(await tipos(tienda, esta)).toEqual(SOLICITADA)
    await esperar(media, 'enviado', 2)
    await quietud()
    expect(acuses(media)).toHaveLength(1)
    expect(acuses(media)[0]!.json).toMatchObject({
      to: telefono,
      text: { preview_url: false, body: expect.stringMatching(/Gracias/) },
    })
    expect((await entregas()).filter((tipo) => tipo === 'ubicacion.confirmada')).toHaveLength(1)
    expect(await peticiones(vieja)).toEqual([])
    // The recipient's page says so, too.
    const token = aceptados(media)[1]!.json.template.components[1].parameters[0].text
    expect(await (await fetch(`${entorno.url}/u/${token}`)).text()).toMatch(/Gracias|recibi|confirm/i)
  })

  it('without a context confirms the one guide that asks', async () => {
    const esta = await pedida(comercio)
    await contestar('location', AHI, esta)
    await confirmada(comercio, esta)
    await esperar(esta, 'enviado', 2)
    expect(acuses(esta)).toHaveLength(1)
  })

  it('of several that ask is not guessed: the newest is asked for once, and its answer confirms it', async () => {
    const telefono = nuevoTelefono()
    const otra = await entorno.nuevoComercio('live')
    const una = await pedida(comercio, { telefono: `+${telefono}` })
    const dos = await pedida(otra, { telefono: `+${telefono}` })
    await contestar('location', AHI, { telefono })
    await contestar('location', { ...AHI, latitude: 14.7 }, { telefono })
    await contestar('text', { body: 'ya se la mandé' }, { telefono })
    expect(await tipos(comercio, una)).toEqual(SOLICITADA)
    expect(await tipos(otra, dos)).toEqual(SOLICITADA)
    const { proveedor_id, tipo } = await esperar(dos, 'enviado', 2)
    expect(tipo).toBe('peticion_interactiva')
    await quietud()
    expect([await peticiones(una), (await peticiones(dos)).length]).toEqual([[], 1])
    const interactivos = pedidos({ telefono }).filter(({ json }) => json.type === 'interactive')
    expect(interactivos).toHaveLength(1)
    expect(interactivos[0]!.json.interactive).toMatchObject({
      type: 'location_request_message',
      action: { name: 'send_location' },
    })
    await contestar('location', AHI, { telefono, enRespuestaA: proveedor_id! })
    await confirmada(otra, dos)
    expect(await tipos(comercio, una)).toEqual(SOLICITADA)
    // Only one is left to mean.
    await contestar('location', AHI, { telefono })
    await confirmada(comercio, una)
  })

  it('is not guessed either when the named guide also has messages whose id nobody knows', async () => {
    const telefono = nuevoTelefono()
    canal.proveedor.porTelefono.set(telefono, { tipo: 'cerrar' })
    const una = await nueva(comercio, { telefono: `+${telefono}` })
    await esperar(una, 'dudoso')
    canal.proveedor.porTelefono.delete(telefono)
    await entorno.pedir('POST', `/api/v1/guias/${una.guia}/reenviar-solicitud`, { llave: comercio.llave })
    const { proveedor_id } = await esperar(una, 'enviado', 2)
    const dos = await pedida(comercio, { telefono: `+${telefono}` })
    await contestar('location', AHI, { telefono, enRespuestaA: proveedor_id! })
    await confirmada(comercio, una)
    expect(await tipos(comercio, dos)).toEqual(SOLICITADA)
  })

  it('for a guide that is confirmed, on its way or over changes neither it nor another', async () => {
    const cerrar: [string, (esta: Pedida) => Promise<unknown>][] = [
      ['confirmed', (esta) => comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.5, lng: -90.4 })],
      [
        'on its way',
        async (esta) => {
          await comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.5, lng: -90.4 })
          for (const estado of ['recolectado', 'en_ruta'])
            await entorno.operar('POST', `/guias/${esta.guia}/eventos`, { estado })
        },
      ],
      ['cancelled', (esta) => comercio.api.guias.cancelar(esta.guia)],
    ]
    for (const [que, hacer] of cerrar) {
      const telefono = nuevoTelefono()
      const esta = await pedida(comercio, { telefono: `+${telefono}` })
      const otra = await pedida(comercio, { telefono: `+${telefono}` })
      await hacer(esta)
      const antes = await leer(comercio, esta)
      expect([que, antes.secuencia > 2]).toEqual([que, true])
      await contestar('location', AHI, { telefono, enRespuestaA: esta.wamid })
      await contestar('text', { body: 'gracias' }, { telefono, enRespuestaA: esta.wamid })
      expect(await leer(comercio, esta)).toEqual(antes)
      expect([que, await tipos(comercio, otra)]).toEqual([que, SOLICITADA])
      expect(acuses(esta)).toEqual([])
      // Alone it is as harmless.
      await contestar('location', AHI, { telefono, enRespuestaA: otra.wamid })
      await contestar('location', { ...AHI, latitude: 14.9 }, { telefono })
      expect(await leer(comercio, esta)).toEqual(antes)
      expect(await tipos(comercio, otra)).toEqual(CONFIRMADA)
    }
  })

  it('races with the merchant’s own word: one of both confirms, nothing is lost', async () => {
    for (let i = 0; i < 8; i++) {
      const esta = await pedida(comercio)
      const carrera = [
        () => canal.avisar({ messages: [mensaje('location', AHI, { de: esta.telefono })] }),
        () => comercio.api.guias.confirmarUbicacion(esta.guia, { lat: 14.5, lng: -90.4 }),
      ]
      await Promise.allSettled((i % 2 ? carrera.reverse() : carrera).map((correr) => correr()))
      await canal.procesado()
      const { ubicacion } = await leer(comercio, esta)
      expect(ubicacion.estado).toBe('confirmada')
      expect((await tipos(comercio, esta)).filter((tipo) => tipo === 'ubicacion.confirmada').length).toBeLessThan(3)
    }
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
  it.each(otros)('%s is one location request', async (tipo, contenido) => {
    const esta = await pedida(comercio)
    await contestar(tipo, contenido, esta)
    await esperar(esta, 'enviado', 2)
    expect((await peticiones(esta)).length).toBe(1)
    expect(await tipos(comercio, esta)).toEqual(SOLICITADA)
  })

  it('is one, however many texts come, in one body or in many at once', async () => {
    const esta = await pedida(comercio)
    const texto = (i: number) => mensaje('text', { body: `hola ${i}` }, { de: esta.telefono })
    await Promise.all(Array.from({ length: 15 }, (_, i) => canal.avisar({ messages: [texto(i), texto(i + 100)] })))
    await canal.procesado()
    await esperar(esta, 'enviado', 2)
    await contestar('text', { body: 'otra vez' }, esta)
    await quietud()
    expect(await mensajes(esta)).toHaveLength(2)
    expect(pedidos(esta)).toHaveLength(2)
    const { proveedor_id } = (await peticiones(esta))[0]!
    await contestar('location', AHI, { ...esta, enRespuestaA: proveedor_id! })
    expect(await tipos(comercio, esta)).toEqual(CONFIRMADA)
  })

  it('from phones that nobody asked, from test guides or for another number is nobody’s business', async () => {
    const nadie = nuevoTelefono()
    const prueba = await entorno.nuevoComercio('test')
    const esta = await nueva(prueba)
    await esperar(esta, 'enviado')
    const ajena = await pedida(comercio)
    await contestar('location', AHI, { telefono: nadie })
    await contestar('location', AHI, esta)
    await contestar('text', { body: 'hola' }, esta)
    const deOtro = aviso({ messages: [mensaje('location', AHI, { de: ajena.telefono })] }, '999999999999999')
    expect((await publicar(JSON.stringify(deOtro))).status).toBe(200)
    const deOtroCampo = aviso({ messages: [mensaje('location', AHI, { de: ajena.telefono })] }, undefined, 'history')
    expect((await publicar(JSON.stringify(deOtroCampo))).status).toBe(200)
    await canal.procesado()
    await quietud()
    expect(await tipos(prueba, esta)).toEqual(SOLICITADA)
    expect(await tipos(comercio, ajena)).toEqual(SOLICITADA)
    expect([pedidos({ telefono: nadie }), pedidos(esta), pedidos(ajena).length]).toEqual([[], [], 1])
  })
})

describe('garbage', () => {
  it('of any shape is a 200 and no more', async () => {
    const dentro = (valor: unknown) => aviso(valor as never)
    const uno = mensaje('text', { body: 'x' })
    const formas: unknown[] = [
      ...[null, 1, 'x', true, [], {}, [[]], { object: 1 }, { object: 'page', entry: [] }],
      ...[null, 1, 'x', {}, [null], [1], [{ changes: null }], [{ changes: 'x' }], [{ changes: [null, 1, {}] }]].map(
        (entry) => ({ object: 'whatsapp_business_account', entry }),
      ),
      ...[null, 1, 'x', {}, [null, 1, 'x', [], {}]].flatMap((x) => [dentro({ messages: x }), dentro({ statuses: x })]),
      ...[null, 1, {}, [], '', 'x'].flatMap((x) =>
        ['id', 'from', 'timestamp', 'type', 'context', 'text', 'location', 'errors'].map((campo) =>
          dentro({
            messages: [{ ...uno, [campo]: x }],
            statuses: [{ ...estado('failed', { wamid: 'w', para: '50255551234' }), [campo]: x }],
          }),
        ),
      ),
      dentro({
        messages: [
          { ...uno, type: '__proto__' },
          { ...uno, type: 'toString' },
          { ...uno, timestamp: '9'.repeat(40) },
        ],
      }),
      dentro({ messages: [{ ...uno, type: 'location', location: { latitude: '14', longitude: -90 } }] }),
      dentro({ messages: [{ ...uno, type: 'location', location: { latitude: 1e300, longitude: 200 } }] }),
      dentro({
        statuses: [{ ...estado('failed', { wamid: 'w', para: '50255551234' }), errors: [{ code: { a: 1 } }, 3] }],
      }),
    ]
    for (const forma of formas) {
      const { status } = await publicar(JSON.stringify(forma))
      expect([JSON.stringify(forma).slice(0, 300), status]).toEqual([expect.anything(), 200])
    }
    expect((await publicar('['.repeat(200_000) + ']'.repeat(200_000))).status).toBe(200)
    expect((await publicar('{"__proto__":{"a":1},"a":1,"a":2,"n":1e999}')).status).toBe(200)
    await canal.procesado()
  })

  it('in texts (NUL, lone surrogates, halves of characters) does no harm to what is good in them', async () => {
    const casos = [
      { name: 'a\u0000b\ud800c', address: '\udc00\u0000' },
      { name: `${'x'.repeat(199)}🏠`, address: 'y' },
      { name: `${'🏠'.repeat(150)}`, address: `\u202e${'z'.repeat(900)}` },
    ]
    for (const nombres of casos) {
      const esta = await pedida(comercio)
      await contestar('text', { body: `\u0000\ud83d${nombres.name}` }, esta)
      await contestar('location', { ...AHI, ...nombres }, esta)
      const { ubicacion } = await leer(comercio, esta)
      expect([ubicacion.estado, ubicacion.referencia!.length <= 200, ubicacion.referencia!.isWellFormed()]).toEqual([
        'confirmada',
        true,
        true,
      ])
    }
    // NUL bytes as such, and bytes that are no UTF-8.
    const esta = await pedida(comercio)
    const crudo = JSON.stringify(aviso({ messages: [mensaje('text', { body: 'aXbY' }, { de: esta.telefono })] }))
    const bytes = new Uint8Array(Buffer.from(crudo))
    bytes[crudo.indexOf('aXbY') + 1] = 0
    bytes[crudo.indexOf('aXbY') + 3] = 0xff
    expect((await publicar(bytes)).status).toBe(200)
    await esperar(esta, 'enviado', 2)
  })

  it('that can’t be worked on keeps nothing else waiting', async () => {
    const [mala, buena] = [await pedida(comercio), await pedida(comercio)]
    await consultar(`create function estorbar() returns trigger language plpgsql as
      $$ begin if new.guia = '${mala.guia}' and new.numero > 1 then raise 'estorbo'; end if; return new; end $$`)
    await consultar('create trigger estorbo before insert on mensaje for each row execute function estorbar()')
    try {
      await canal.avisar({ messages: [mensaje('text', { body: 'x' }, { de: mala.telefono })] })
      await canal.avisar({ messages: [mensaje('location', AHI, { de: buena.telefono })] })
      await hasta(async () => (await leer(comercio, buena)).ubicacion.estado === 'confirmada')
    } finally {
      await consultar('drop trigger estorbo on mensaje')
      await consultar('drop function estorbar')
    }
    await canal.procesado()
    await esperar(mala, 'enviado', 2)
    expect(canal.apartarErrores(/"inbound"/).length).toBeGreaterThan(0)
  })
})

describe('the log', () => {
  it('has no phone, place, link or secret', () => {
    const { config, pedidos: todos } = canal.proveedor
    const tokens = todos.flatMap(({ json }) => json.template?.components[1].parameters[0].text ?? [])
    const telefonos = todos.map(({ json }) => json.to.slice(3) as string)
    const lugares = [String(AHI.latitude), String(AHI.longitude), '4a calle', 'mi paquete']
    revisarLog(canal, [config.token, config.appSecret, config.verifyToken, ...tokens, ...telefonos, ...lugares])
  })
})
