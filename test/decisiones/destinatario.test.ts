import { beforeAll, describe, expect, it } from 'vitest'
import { addDays, dayIn, dayInWords, shortDay } from '../../server/platform/time/day.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { registerEntrega } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'
import { useUbicacionRequests } from '../ubicacion/requests.ts'
import { answerWith, useReceivers } from '../webhooks/receiver.ts'
import { apiFault } from '../webhooks/webhooks.ts'
import { useIntentos } from './move.ts'
import { CON_ROSA, OTHER_DAY_CHOICE, REFUSAL_CHOICE, useQuestions } from './questions.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()
const {
  createComercio: shop,
  politica,
  createAskedGuia: askedGuia,
  mensajes,
  linkOf,
  ver,
  send,
} = useQuestions(environment)
const { createGuia: fresh } = useIntentos(environment)
// The day does not change while the tests run.
beforeAll(() => environment.freezeClock())
const BY_DESTINATARIO = { estado: 'tomada', accion: 'reintentar', por: 'destinatario' }
/** The last events of a guide, without `guia.`. */
const ultimos = async ({ read }: Pick<Awaited<ReturnType<typeof askedGuia>>, 'read'>, count: number) =>
  (await read()).eventos.datos.slice(-count)

describe('a recipient who decides', () => {
  it('asks for another day', async () => {
    const guia = await askedGuia()
    const { fecha_desde } = (await guia.read()).decision!
    const fecha = addDays(fecha_desde!, 2)
    const { html } = await ver(guia.enlace)
    expect(html).toContain(`<option value="${fecha}">${shortDay(fecha)}</option>`)
    expect((await send(guia.enlace, { ...OTHER_DAY_CHOICE, fecha })).status).toBe(303)
    expect(await guia.read()).toMatchObject({
      estado: 'intento_fallido',
      decision: { ...BY_DESTINATARIO, fecha, franja: null },
    })
    const [tomada] = await ultimos(guia, 1)
    expect(tomada).toMatchObject({
      tipo: 'guia.decision_tomada',
      descripcion: 'El destinatario pidió otro día',
      decision: BY_DESTINATARIO,
    })
    const after = await ver(guia.enlace)
    expect(after.html).toContain(`<li><b>Pidió que lo llevemos el ${dayInWords(fecha)}</b>`)
    for (const message of [
      'Gracias, ya quedó',
      'Se lo llevamos otro día',
      `Lo llevamos <b>el ${dayInWords(fecha)}`,
      'Usted',
    ])
      expect(after.html).toContain(message)
  })

  it('is offered every day that the service takes, from the first to the last', async () => {
    const guia = await askedGuia()
    const { html } = await ver(guia.enlace)
    const days = [...new Set([...html.matchAll(/<option value="([\d-]+)"/g)].map(([, day]) => day!))]
    const [first, last] = [days[0]!, days.at(-1)!]
    expect(first).toBe((await guia.read()).decision!.fecha_desde)
    expect(days).toEqual(days.map((_dia, i) => addDays(first, i)))
    const request = (fecha: string) => send(guia.enlace, { ...OTHER_DAY_CHOICE, fecha })
    expect((await request(addDays(last, 1))).status).toBe(422)
    expect((await request(last)).status).toBe(303)
  })

  it('asks for another place, by a link or by words, in one transaction', async () => {
    const guia = await askedGuia()
    const link = 'https://www.google.com/maps?q=14.6301,-90.6071'
    const place = { eleccion: 'otro_lugar', enlace: `Mi trabajo ${link}`, referencia: 'portón negro' }
    expect((await send(guia.enlace, place)).status).toBe(303)
    const read = await guia.read()
    expect(read).toMatchObject({
      decision: { ...BY_DESTINATARIO, fecha: read.decision!.fecha_desde },
      ubicacion: {
        estado: 'confirmada',
        origen: 'destinatario',
        lat: 14.6301,
        lng: -90.6071,
        referencia: 'portón negro',
      },
    })
    expect((await ultimos(guia, 2)).map(({ tipo, registrado_en }) => [tipo, registrado_en])).toEqual([
      ['ubicacion.confirmada', read.actualizado_en],
      ['guia.decision_tomada', read.actualizado_en],
    ])
    const describedPlace = await askedGuia()
    const words = { eleccion: 'otro_lugar', referencia: 'Aldea El Carmen, casa azul tras la escuela' }
    expect((await send(describedPlace.enlace, words)).status).toBe(303)
    expect(await describedPlace.read()).toMatchObject({
      decision: BY_DESTINATARIO,
      ubicacion: { lat: null, referencia: words.referencia },
    })
    expect((await ver(describedPlace.enlace)).html).toContain('Lo llevamos al lugar que nos dio')
  })

  it('is asked again about a place that is far away', async () => {
    const guia = await askedGuia()
    const far = { eleccion: 'otro_lugar', enlace: 'https://www.google.com/maps?q=16.93,-89.89' }
    const { status, html } = await send(guia.enlace, far)
    expect([status, html.includes('¿Seguro que es ahí?')]).toEqual([422, true])
    const corregir = await send(guia.enlace, { ...far, seguro: 'no' })
    expect([corregir.status, corregir.html.includes(`value="${far.enlace}"`)]).toEqual([200, true])
    expect((await guia.read()).decision).toMatchObject({ estado: 'pendiente' })
    expect((await send(guia.enlace, { ...far, seguro: '1' })).status).toBe(303)
    expect((await guia.read()).decision).toMatchObject(BY_DESTINATARIO)
  })

  it('keeps the day and the words of a far place while it is asked about', async () => {
    const guia = await askedGuia()
    const fecha = addDays((await guia.read()).decision!.fecha_desde!, 3)
    const far = { eleccion: 'otro_lugar', enlace: 'https://www.google.com/maps?q=16.93,-89.89' }
    const { html } = await send(guia.enlace, { ...far, referencia: 'portón negro', fecha })
    const hiddenFields = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
    const fields = Object.fromEntries(hiddenFields.map(([, name, value]) => [name!, value!]))
    expect((await send(guia.enlace, { ...fields, seguro: '1' })).status).toBe(303)
    expect(await guia.read()).toMatchObject({
      decision: { ...BY_DESTINATARIO, fecha },
      ubicacion: { lat: 16.93, lng: -89.89, referencia: 'portón negro' },
    })
  })

  it('ends the link with the telephone, also if a correction brings the telephone back', async () => {
    const { guia, enlace, api } = await askedGuia()
    const { telefono } = await api.guias.obtener(guia)
    expect((await ver(enlace)).status).toBe(200)
    await api.guias.corregir(guia, { telefono: '+50255556677' })
    await api.guias.corregir(guia, { telefono: telefono! })
    expect((await ver(enlace)).status).toBe(404)
  })

  it('names a neighbour, who becomes indications for the courier', async () => {
    const guia = await askedGuia(await shop({ maximos: 5 }))
    await guia.api.guias.corregir(guia.guia, { indicaciones: 'Tocar el timbre' })
    expect((await send(guia.enlace, CON_ROSA)).status).toBe(303)
    expect(await guia.read()).toMatchObject({
      indicaciones: 'Dejar con un vecino: Rosa Caal, casa verde de enfrente\nTocar el timbre',
      decision: BY_DESTINATARIO,
    })
    const [corrected, tomada] = await ultimos(guia, 2)
    expect(corrected).toMatchObject({ tipo: 'guia.corregida', campos: ['/indicaciones'] })
    for (const { descripcion } of [corrected!, tomada!])
      expect(descripcion).toBe('El destinatario pidió que se deje con un vecino')
    const { html } = await ver(guia.enlace)
    expect(html).toContain('Lo dejamos con su vecino')
    expect(html).toContain('<dd>Rosa Caal, casa verde de enfrente</dd>')
    // The next attempt fails, too, and another neighbour takes the place of the first.
    await guia.scan('en_ruta', 'intento_fallido')
    await environment.waitForQuiet()
    await guia.api.guias.corregir(guia.guia, {
      indicaciones: `${(await guia.read()).indicaciones}\n${'x'.repeat(420)}`,
    })
    const length = { eleccion: 'vecino', nombre: 'José Ajú', donde: 'd'.repeat(120) }
    expect((await send(await linkOf(guia.guia), length)).status).toBe(303)
    const { indicaciones } = await guia.read()
    expect(indicaciones).toMatch(/^Dejar con un vecino: José Ajú, d{120}\nTocar el timbre\nx+…$/)
    expect(indicaciones).toHaveLength(500)
    await guia.api.guias.corregir(guia.guia, { indicaciones: 'Dejar con un vecino: José Ajú\nTocar el timbre' })
    // The third attempt fails, and the recipient wants the parcel at his own door.
    await guia.scan('en_ruta', 'intento_fallido')
    await environment.waitForQuiet()
    expect((await send(await linkOf(guia.guia), OTHER_DAY_CHOICE)).status).toBe(303)
    expect(await guia.read()).toMatchObject({ indicaciones: 'Tocar el timbre', decision: BY_DESTINATARIO })
  })

  it('refuses, after a second question, and the parcel returns for that reason', async () => {
    const guia = await askedGuia()
    const seguro = await send(guia.enlace, { eleccion: 'rechazo' })
    expect([seguro.status, seguro.html.includes('¿Seguro que no lo quiere?')]).toEqual([200, true])
    expect((await guia.read()).estado).toBe('intento_fallido')
    expect((await send(guia.enlace, REFUSAL_CHOICE)).status).toBe(303)
    expect(await guia.read()).toMatchObject({
      estado: 'en_devolucion',
      decision: { estado: 'aplicada', accion: 'devolver', por: 'destinatario' },
    })
    const [tomada, returningGuia] = await ultimos(guia, 2)
    expect([tomada!.descripcion, returningGuia!.tipo, returningGuia!.motivo]).toEqual([
      'El destinatario no lo quiere',
      'guia.en_devolucion',
      'destinatario_rechaza',
    ])
    expect((await ver(guia.enlace)).html).toContain('El paquete vuelve a la tienda')
  })

  it('is in the webhooks, whose bodies stay the same', async () => {
    const comercio = await shop()
    const receptor = await openReceiver(answerWith(204))
    const { webhook } = await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['guia.decision_tomada'] })
    const { guia, enlace, read } = await askedGuia(comercio)
    await send(enlace, CON_ROSA)
    await environment.waitForQuiet()
    const entrega = `avi_${webhook.slice(3)}_${guia}_${(await read()).secuencia}`
    const before = (await comercio.api.webhooks.obtenerAviso(webhook, entrega)).cuerpo!
    expect(JSON.parse(before).datos).toMatchObject({
      guia: { decision: BY_DESTINATARIO },
      evento: { decision: BY_DESTINATARIO },
    })
    await comercio.api.guias.corregir(guia, { indicaciones: null })
    expect((await comercio.api.webhooks.obtenerAviso(webhook, entrega)).cuerpo).toBe(before)
  })
})

describe('the page', () => {
  it('says who asks, what happened, which choices there are, and until when', async () => {
    const comercio = await shop()
    const { enlace, read, guia } = await askedGuia(comercio)
    const { status, html } = await ver(enlace)
    expect(status).toBe(200)
    for (const message of [
      '<strong>Tienda La Ceiba</strong>',
      'Hola, Ana.',
      'otro día',
      'otro lugar',
      'un vecino',
      'No lo quiero',
      '(hora de Guatemala)',
      'Después, vuelve a la tienda.',
      `${guia.slice(0, 4)}-${guia.slice(4, 8)}`,
      dayInWords(dayIn(new Date((await read()).decision!.vence_en!), 'America/Guatemala')).split(' ')[0]!,
    ])
      expect(html).toContain(message)
    expect(html).not.toMatch(/Pérez|<script(?! type="module">)/)
    expect(/<title>(.*)<\/title>/.exec(html)?.[1]).toBe('¿Qué hacemos con su paquete?')
  })

  it('shows faults beside their fields, keeps what was written, and changes nothing', async () => {
    const guia = await askedGuia()
    for (const [fields, mensaje] of [
      [{ eleccion: 'vecino', donde: 'la esquina' }, 'Falta el nombre de su vecino.'],
      [{ eleccion: 'vecino', nombre: 'R'.repeat(81) }, 'use 80 letras o menos'],
      [{ eleccion: 'otro_lugar' }, 'pegue un enlace de mapa o descríbalo'],
      [{ eleccion: 'otro_lugar', referencia: 'aquí' }, 'con más detalle'],
      [{ eleccion: 'otro_lugar', enlace: 'https://example.com/' }, 'no es un mapa admitido'],
      [{ eleccion: 'otro_dia', fecha: '2020-01-01' }, 'Ese día ya no se puede'],
      [{ eleccion: 'otro_dia', fecha: '2026-13-45' }, 'Ese día ya no se puede'],
    ] as const) {
      const { status, html } = await send(guia.enlace, fields)
      expect([fields, status]).toEqual([fields, 422])
      expect(html).toContain(mensaje)
      expect(html).toMatch(/<details name="eleccion" open>/)
      if ('donde' in fields) expect(html).toContain('value="la esquina"')
    }
    expect((await send(guia.enlace, {})).status).toBe(400)
    expect((await send(guia.enlace, { ...OTHER_DAY_CHOICE, otro: '1' })).status).toBe(400)
    expect((await guia.read()).secuencia).toBe(5)
  })

  it('after the last attempt leaves refusing alone', async () => {
    const comercio = await shop({ maximos: 1, al_vencer: 'esperar' })
    const { enlace, read } = await askedGuia(comercio)
    const { html } = await ver(enlace)
    expect(html).toContain('Ya se hicieron todos los intentos')
    expect(html).not.toContain('un vecino')
    expect((await send(enlace, OTHER_DAY_CHOICE)).status).toBe(409)
    expect((await send(enlace, REFUSAL_CHOICE)).status).toBe(303)
    expect((await read()).estado).toBe('en_devolucion')
  })

  it('opens for nobody who has the code alone, another kind of link, or a broken one', async () => {
    const { guia, enlace } = await askedGuia()
    for (const path of [`/d/${guia}`, '/d/', `${enlace}x`, `${enlace.slice(0, -1)}-`, `/d/${'A'.repeat(22)}`]) {
      expect([path, (await ver(path)).status]).toEqual([path, 404])
      expect((await send(path, REFUSAL_CHOICE)).status).toBe(404)
    }
    expect((await ver(enlace.replace('/d/', '/u/'))).status).toBe(404)
    const guiaWithoutPlace = await (await shop()).api.guias.crear(buildGuiaWithoutDestino())
    await environment.waitForQuiet()
    const ofPlace = await useUbicacionRequests(environment).linkOf(guiaWithoutPlace.guia)
    expect([(await ver(ofPlace)).status, (await ver(ofPlace.replace('/u/', '/d/'))).status]).toEqual([200, 404])
    expect((await ver(`/r/${guia}`)).html).not.toContain('/d/')
    const other = await askedGuia()
    await send(other.enlace, REFUSAL_CHOICE)
    expect((await ver(enlace)).status).toBe(200)
  })

  it('is limited like the links to a place', async () => {
    const { enlace } = await askedGuia()
    const bad = () => send(enlace, { eleccion: 'vecino' })
    const estados = (await Promise.all(Array.from({ length: 11 }, bad))).map(({ status }) => status)
    expect(estados.filter((status) => status === 429)).toHaveLength(1)
  })
})

describe('a link', () => {
  it('shows who decided before, in general terms, and changes nothing', async () => {
    const decidedByShop = await askedGuia()
    await decidedByShop.api.guias.reintentar(decidedByShop.guia, { franja: { desde: '14:00', hasta: '18:00' } })
    for (const { html, status } of [
      await ver(decidedByShop.enlace),
      await send(decidedByShop.enlace, REFUSAL_CHOICE),
    ]) {
      expect([200, 409]).toContain(status)
      for (const message of ['<dd>La tienda</dd>', 'Se lo llevamos otra vez', 'de 14:00 a 18:00'])
        expect(html).toContain(message)
      expect(html).not.toMatch(/\bAna\b|Pérez/)
    }
    const ofCompany = await askedGuia()
    await environment.asOperador('POST', `/guias/${ofCompany.guia}/devolver`, { razon: 'Doña Ana llamó' })
    const { html, status } = await send(ofCompany.enlace, OTHER_DAY_CHOICE)
    expect([status, html.includes('Ya se había decidido')]).toEqual([409, true])
    expect(html).toContain('<dd>El servicio de mensajería</dd>')
    expect(html).not.toMatch(/\bAna\b|\bop_/)
  })

  it('shows the merchant that the recipient was first', async () => {
    const { enlace, api, guia } = await askedGuia()
    await send(enlace, OTHER_DAY_CHOICE)
    expect(await apiFault(api.guias.devolver(guia, { razon: 'Ya no' }))).toMatchObject({
      codigo: 'decision_tomada',
      decision: { por: 'destinatario' },
      message: expect.stringContaining('El destinatario ya decidió: reintentar'),
    })
  })

  it('ends when facts come first, and with the next failed attempt', async () => {
    const guia = await askedGuia()
    await guia.scan('en_ruta')
    const first = guia.enlace
    const { html, status } = await send(first, REFUSAL_CHOICE)
    expect([status, html.includes('Ya no hace falta decidir')]).toEqual([409, true])
    await guia.scan('intento_fallido')
    await environment.waitForQuiet()
    expect(await mensajes(guia.guia)).toHaveLength(2)
    expect((await send(first, REFUSAL_CHOICE)).status).toBe(409)
    expect((await guia.read()).decision).toMatchObject({ estado: 'pendiente' })
    await guia.scan('en_bodega')
    await registerEntrega(environment, guia.guia)
    expect((await ver(await linkOf(guia.guia))).html).toContain('Ya no hace falta decidir')
  })

  it('ends with the deadline under every policy', async () => {
    const wait = await askedGuia(await shop({ al_vencer: 'esperar' }))
    const returningGuia = await askedGuia()
    environment.advance(5 * DAY_MS)
    for (const { enlace } of [wait, returningGuia])
      expect([410, 409]).toContain((await send(enlace, OTHER_DAY_CHOICE)).status)
    await environment.waitForQuiet()
    const { status, html } = await ver(wait.enlace)
    expect([status, html.includes('Este enlace ya venció')]).toEqual([410, true])
    expect(html).not.toMatch(/Ceiba|\bAna\b/)
    expect((await wait.read()).decision).toMatchObject({ estado: 'pendiente' })
    expect((await ver(returningGuia.enlace)).html).toContain('Nadie decidió a tiempo')
  })

  it('ends with the telephone that got it, and the new one gets no second message', async () => {
    const { api, guia, enlace } = await askedGuia()
    const openLinkHint = 'Abra el enlace del mensaje que recibió.'
    expect((await ver(`/r/${guia}`)).html).toContain(openLinkHint)
    await api.guias.corregir(guia, { telefono: '+50259871234' })
    await environment.waitForQuiet()
    expect((await ver(`/r/${guia}`)).html).not.toContain(openLinkHint)
    expect((await ver(enlace)).status).toBe(404)
    expect((await send(enlace, REFUSAL_CHOICE)).status).toBe(404)
    expect(await mensajes(guia)).toHaveLength(1)
  })

  it('shows what the recipient chose after an operator undid the return', async () => {
    const { guia, enlace, read } = await askedGuia()
    expect((await send(enlace, REFUSAL_CHOICE)).status).toBe(303)
    const { secuencia } = await read()
    const requestData = { razon: 'Lo quiere', secuencia }
    expect((await environment.asOperador('POST', `/guias/${guia}/rectificar`, requestData)).status).toBe(200)
    expect((await send(enlace, CON_ROSA)).status).toBe(303)
    expect((await ver(enlace)).html).toContain('Lo dejamos con su vecino')
  })

  it('waits while the parcel is lost', async () => {
    const { enlace, scan } = await askedGuia()
    await scan('extraviado')
    const { status, html } = await send(enlace, OTHER_DAY_CHOICE)
    expect([status, html.includes('Estamos buscando su paquete')]).toEqual([409, true])
    await scan('en_bodega')
    expect((await send(enlace, OTHER_DAY_CHOICE)).status).toBe(303)
  })
})

describe('with concurrent decisions', () => {
  it('the first wins, among the recipient’s own and against the merchant', async () => {
    const comercio = await shop()
    for (let round = 0; round < 3; round++) {
      const { enlace, api, guia, tipos, read } = await askedGuia(comercio)
      const responses = await Promise.all([
        send(enlace, OTHER_DAY_CHOICE),
        send(enlace, CON_ROSA),
        send(enlace, REFUSAL_CHOICE),
        api.guias.reintentar(guia).then(
          () => ({ status: 303 }),
          () => ({ status: 409 }),
        ),
      ])
      expect(responses.map(({ status }) => status).sort()).toEqual([303, 409, 409, 409])
      expect((await tipos()).filter((tipo) => tipo === 'decision_tomada')).toHaveLength(1)
      const { eventos, secuencia } = await read()
      expect(eventos.datos.map((evento) => evento.secuencia)).toEqual(
        Array.from({ length: secuencia }, (_, i) => i + 1),
      )
    }
  })

  it('a scan keeps a decision that came before it, and supersedes one that did not', async () => {
    const comercio = await shop()
    for (let round = 0; round < 3; round++) {
      const { enlace, scan, read, tipos } = await askedGuia(comercio)
      const [{ status }] = await Promise.all([send(enlace, CON_ROSA), scan('en_ruta')])
      const { decision, indicaciones } = await read()
      if (status === 303) expect([decision!.estado, decision!.por]).toEqual(['aplicada', 'destinatario'])
      else expect([status, decision!.estado, indicaciones]).toEqual([409, 'superada', null])
      expect((await tipos()).at(-1)).toBe('en_ruta')
    }
  })
})

describe('nobody is asked', () => {
  it('by default, and after the setting is off again', async () => {
    const comercio = await environment.createComercio()
    expect((await comercio.api.cuenta.obtener()).politica_de_intentos.destinatario_decide).toBe(false)
    const { guia, scan } = await fresh(comercio, 'recolectado', 'en_ruta', 'intento_fallido')
    expect(await mensajes(guia)).toEqual([])
    await politica(comercio, { destinatario_decide: true })
    expect((await comercio.api.cuenta.obtener()).politica_de_intentos.destinatario_decide).toBe(true)
    await scan('en_ruta', 'intento_fallido')
    expect(await mensajes(guia)).toHaveLength(1)
    await politica(comercio, { destinatario_decide: false, maximos: 4 })
    await scan('en_ruta', 'intento_fallido')
    expect(await mensajes(guia)).toHaveLength(1)
  })

  it('if the policy returns the parcel at once', async () => {
    const { guia, read } = await fresh(await shop({ maximos: 1 }), 'recolectado', 'en_ruta', 'intento_fallido')
    await environment.waitForQuiet()
    expect([(await read()).estado, await mensajes(guia)]).toEqual(['en_devolucion', []])
  })
})
