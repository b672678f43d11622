import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { GUIA_STATE_WORDS } from '../../server/domain/estados/estados.ts'
import type { Estado } from '../../server/generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import type { ShownShipment } from '../../server/pages/tracking/shipment.ts'
import { NEXT_SENTENCES } from '../../server/pages/tracking/story.ts'
import { STATE_LOOKS } from '../../server/pages/ui/states.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { inGroups } from '../../server/platform/codes/guideCode.ts'
import { createClock } from '../../server/platform/time/clock.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'

import { SHOWN_SHIPMENT, serveDetachedRastreo } from './trackingApart.ts'

const environment = shareEnvironment()
const ESTADOS = Object.keys(STATE_MACHINE.transiciones) as Estado[]

const ver = (codigo: string, init: RequestInit = {}) =>
  fetch(`${environment.url}/r/${codigo}`, { redirect: 'manual', ...init })
const html = async (codigo: string) => (await ver(codigo)).text()
const text = (page: string) => page.replace(/<style>[\s\S]*?<\/style>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')
/** The page’s own program, which the policy names by its digest. */
const removeScript = (page: string) => page.replace(/<script type="module">[\s\S]*?<\/script>/, '')
const registrar = async (guia: string, body: object) =>
  expect([body, (await environment.asOperador('POST', `/guias/${guia}/eventos`, body)).status]).toEqual([body, 201])

/** Everything that somebody might not want a stranger to read. */
const SECRET_GUIA = buildGuia({
  telefono: '+50241239876',
  destinatario: 'Marisol Quiñónez Tzul',
  municipio: 'Chinautla',
  direccion: '7a avenida 14-88, casa rosada',
  indicaciones: 'Timbre roto',
  contenido: 'Medicinas',
  lat: 14.7012345,
  lng: -90.4998765,
  external_ref: 'PEDIDO-SECRETO-77',
  recogida: { nombre: 'Bodega Escondida', lat: 14.5812345, lng: -90.5412345 },
})
const MUST_NOT_APPEAR =
  /41239876|\b4123\b|Marisol|Quiñónez|Tzul|7a avenida|\b14-88\b|rosada|Timbre|Medicinas|(?<!\d:)14\.70|90\.49|(?<!\d:)14\.58|90\.54|SECRETO|Escondida|perro|vecina|destinatario_ausente|com_|evt_/

describe('the page of a guide', () => {
  it('tells its whole life, and nothing that anybody wrote about it or that is personal', async () => {
    const comercio = await environment.createComercio('live')
    const { guia } = await comercio.api.guias.crear(SECRET_GUIA)
    await registrar(guia, { estado: 'recolectado', descripcion: 'Lo dio la vecina Marisol', lat: 14.58, lng: -90.54 })
    await registrar(guia, { tipo: 'guia.nota', descripcion: 'Cuidado con el perro' })
    await registrar(guia, { estado: 'en_ruta' })
    await registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente', descripcion: 'Salió la vecina' })
    await registrar(guia, { estado: 'en_bodega', ocurrido_en: new Date(Date.now() - 3_600_000).toISOString() })
    // The id of the request is ours, because a random one may contain the digits that are looked for.
    const response = await ver(guia, { headers: { 'X-Request-Id': 'of-this-test' } })
    const page = await response.text()
    expect(response.status).toBe(200)
    // In the headers neither.
    expect(JSON.stringify([...response.headers]) + page).not.toMatch(MUST_NOT_APPEAR)
    const seen = text(page)
    for (const expected of [
      inGroups(guia),
      'No se pudo entregar: No había nadie',
      'Tienda La Ceiba',
      'M.',
      'Chinautla',
      'En ruta de entrega',
    ])
      expect(seen).toContain(expected)
    expect(seen).toMatch(/Intentos de entrega fallidos 1 /)
    expect(seen).not.toMatch(/prueba|Anotación|Lectura|Falta saber/)
    // The newest first, with the day and the hour of its destination.
    const steps = [...page.matchAll(/<li><b>(.*?)<\/b><time datetime="(.*?)">(.*?)<\/time>/g)]
    expect(steps.map(([, kind]) => kind)).toEqual([
      'No se pudo entregar: no había nadie',
      'En ruta de entrega',
      'Recolectado',
      'Envío registrado',
    ])
    expect(steps[0]![3]).toMatch(/^\d+ \w+ 20\d\d, \d\d:\d\d$/)
    expect(seen).toContain('en hora de Guatemala')
    expect(/<title>(.*)<\/title>/.exec(page)?.[1]).toBe(`Envío ${inGroups(guia)}`)
  })

  it('tells that somebody decided about the parcel, and what became of it, without their words', async () => {
    const { api } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(SECRET_GUIA)
    await registrar(guia, { estado: 'recolectado' })
    await registrar(guia, { estado: 'en_ruta' })
    await registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await api.guias.corregir(guia, { direccion: '7a avenida 14-88, casa rosada, portón' })
    await api.guias.devolver(guia, { razon: 'Se arrepintió la vecina Marisol' })
    const page = await html(guia)
    expect(page).not.toMatch(MUST_NOT_APPEAR)
    expect([...page.matchAll(/<li><b>(.*?)<\/b>/g)].map(([, kind]) => kind).slice(0, 4)).toEqual([
      'De regreso a la tienda: a pedido del comercio',
      'La tienda pidió que vuelva',
      'Datos de la guía corregidos',
      'No se pudo entregar: no había nadie',
    ])
  })

  it('tells times by the clock of the destination', async () => {
    const { api } = await environment.createComercio('live')
    const { guia, creado_en: createdAt } = await api.guias.crear(
      buildGuia({ departamento: 'Panamá', municipio: 'San Miguelito', lat: 9.04, lng: -79.49 }),
    )
    const seen = text(await html(guia))
    expect(seen).toContain('en hora de Panamá')
    expect(seen).toContain(createClock('America/Panama').formatShort(createdAt).replace(/\s+/g, ' '))
  })

  it('is read as the code is typed', async () => {
    const { api } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(buildGuia())
    const hyphenatedGuia = `${guia.slice(0, 4)}-${guia.slice(4, 8)}-${guia.slice(8)}`.toLowerCase()
    for (const forma of [
      hyphenatedGuia,
      encodeURIComponent(hyphenatedGuia.replaceAll('-', ' ')),
      `${guia}/`.slice(0, -1),
    ])
      expect([forma, (await ver(forma)).status]).toEqual([forma, 200])
    const searchResponse = await fetch(`${environment.url}/r?guia=${encodeURIComponent(` ${hyphenatedGuia} `)}`, {
      redirect: 'manual',
    })
    expect([searchResponse.status, searchResponse.headers.get('location')]).toEqual([303, `r/${guia}`])
    expect((await fetch(`${environment.url}/r?guia=${hyphenatedGuia}`)).url).toBe(`${environment.url}/r/${guia}`)
  })

  it('is private, strict and light', async () => {
    const { api } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(buildGuia())
    const response = await ver(guia)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
      'content-encoding': 'gzip',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[\w+/=]+' 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      ),
    })
    expect(response.headers.get('set-cookie')).toBeNull()
    const page = await response.text()
    expect(page).toContain('<meta name="robots" content="noindex">')
    expect(removeScript(page)).not.toMatch(/<script| on\w+="|style="|https?:\/\/(?!www\.w3\.org)/)
    expect(gzipSync(page).length).toBeLessThan(15_000)
    const head = await ver(guia, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const other = await ver(guia, { method })
      expect([method, other.status, other.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  })

  it('says so when nothing is real', async () => {
    const { api } = await environment.createComercio('test')
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    const seen = text(await html(guia))
    expect(seen).toContain('Guía de prueba.')
    expect(seen).toContain('ese mensaje no sale a ningún teléfono')
  })

  it('says what is missing while nobody said where to deliver, and no longer than that', async () => {
    const comercio = await environment.createComercio('test')
    const { api } = comercio
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino({ telefono: '+50230004321' }))
    expect(text(await html(guia))).toContain('Quien recibe tiene un mensaje en su teléfono')
    await api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })
    expect(text(await html(guia))).toContain('no contestó a tiempo')
    await api.guias.reenviarSolicitud(guia)
    await api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' })
    expect(text(await html(guia))).toContain('no le llegó el mensaje')
    await api.simulador.confirmarUbicacion(guia)
    const seen = text(await html(guia))
    expect(seen).not.toContain('Falta saber')
    expect(seen).toContain('Lugar de entrega confirmado')
    // Nobody waits for an answer about what is over.
    const other = await api.guias.crear(buildGuiaWithoutDestino())
    await api.guias.cancelar(other.guia)
    expect(text(await html(other.guia))).not.toContain('Falta saber')
  })

  it.each(ESTADOS)('says of %s what it is and what comes next', async (estado) => {
    const separateOne = await serveDetachedRastreo(async () => ({
      ...SHOWN_SHIPMENT,
      estado,
      comercio: 'Calzado & Más',
    }))
    const page = await (await fetch(`${separateOne.url}/r/${newGuideCode()}`)).text()
    separateOne.close()
    expect(/<h1 tabindex="-1">(.*)<\/h1>/.exec(page)?.[1]).toBe(GUIA_STATE_WORDS[estado])
    const sentence = NEXT_SENTENCES[estado]?.('Calzado & Más').replaceAll('&', '&amp;')
    expect(/<p>([^<]*)<\/p><\/div>/.exec(page)?.[1]).toBe(sentence)
  })

  it.each(ESTADOS)(
    'shows %s in one colour: its heading, its progress and the newest step of its history',
    async (estado) => {
      const eventos = [{ tipo: `guia.${estado}` as const, ocurrido_en: new Date(), motivo: null }]
      const separateOne = await serveDetachedRastreo(async () => ({ ...SHOWN_SHIPMENT, estado, eventos }))
      const page = await (await fetch(`${separateOne.url}/r/${newGuideCode()}`)).text()
      separateOne.close()
      const tones = [...page.matchAll(/class="(etiqueta|linea)" data-tono="(\w+)"/g)].map(([, kind, tono]) => [
        kind,
        tono,
      ])
      const { tone: tono } = STATE_LOOKS[estado]
      expect(tones).toEqual([
        ['etiqueta', tono],
        ['linea', tono],
      ])
    },
  )

  it('gives each state a word and an icon of its own, and shows how far it has come', async () => {
    expect(new Set(Object.values(GUIA_STATE_WORDS)).size).toBe(11)
    expect(new Set(Object.values(STATE_LOOKS).map(({ icon }) => icon)).size).toBe(11)
    const stepsOf = async (estado: Estado) => {
      const separateOne = await serveDetachedRastreo(async () => ({ ...SHOWN_SHIPMENT, estado }))
      const page = await (await fetch(`${separateOne.url}/r/${newGuideCode()}`)).text()
      separateOne.close()
      const line = /<ol class="avance"[\s\S]*?<\/ol>/.exec(page)?.[0] ?? ''
      return [line.match(/class="hecho"/g)?.length ?? 0, /aria-current="step"><span>(.*?)</.exec(line)?.[1]]
    }
    expect(await stepsOf('aceptado')).toEqual([0, 'Registrado'])
    expect(await stepsOf('en_transito')).toEqual([2, 'En camino'])
    expect(await stepsOf('intento_fallido')).toEqual([3, 'En ruta'])
    expect(await stepsOf('entregado')).toEqual([4, 'Entregado'])
    expect(await stepsOf('en_devolucion')).toEqual([2, 'De regreso'])
    expect(await stepsOf('extraviado')).toEqual([0, undefined])
  })

  it('tells why it failed in plain words, and of a lost parcel nothing', async () => {
    const renderIn = async (estado: Estado, motivo: ShownShipment['eventos'][number]['motivo']) => {
      const eventos = [{ tipo: `guia.${estado}` as const, ocurrido_en: new Date(), motivo }]
      const separateOne = await serveDetachedRastreo(async () => ({ ...SHOWN_SHIPMENT, estado, eventos }))
      const page = await (await fetch(`${separateOne.url}/r/${newGuideCode()}`)).text()
      separateOne.close()
      return [/<h1.*?>(.*)<\/h1>/, /class="motivo">(.*?)</].map((pattern) => pattern.exec(page)?.[1])
    }
    // The reason of a failed attempt is the heading; its state is read out before it.
    const hiddenText = '<span class="oculto">No se pudo entregar: </span>'
    expect(await renderIn('intento_fallido', 'sin_respuesta')).toEqual([`${hiddenText}Nadie contestó`, undefined])
    expect(await renderIn('intento_fallido', 'destinatario_ausente')).toEqual([
      `${hiddenText}No había nadie`,
      undefined,
    ])
    expect(await renderIn('intento_fallido', 'otro')).toEqual(['No se pudo entregar', undefined])
    expect(await renderIn('en_devolucion', 'intentos_agotados')).toEqual([
      'De regreso a la tienda',
      'Motivo: se agotaron los intentos.',
    ])
    expect(await renderIn('extraviado', 'robo')).toEqual(['Lo estamos buscando', undefined])
  })

  const DECIDED = {
    estado: 'tomada',
    opciones: ['reintentar', 'devolver'],
    vence_en: '2026-11-28T15:04:05.000Z',
    accion: 'reintentar',
    fecha: '2026-11-25',
    franja: { desde: '14:00', hasta: '18:00' },
  } as const satisfies ShownShipment['decision']
  const PENDIENTE = { ...DECIDED, estado: 'pendiente', accion: null, fecha: null, franja: null } as const
  const ofPage = async (cambios: Partial<ShownShipment>) => {
    const separateOne = await serveDetachedRastreo(async () => ({ ...SHOWN_SHIPMENT, ...cambios }))
    const page = await (await fetch(`${separateOne.url}/r/${newGuideCode()}`)).text()
    separateOne.close()
    return page
  }

  it.each([
    [
      'the decided day and window',
      'en_bodega',
      DECIDED,
      'Lo llevamos el miércoles 25 de noviembre, de 14:00 a 18:00 .',
    ],
    ['tomorrow', 'en_bodega', { ...DECIDED, fecha: '2026-11-22', franja: null }, 'Lo llevamos mañana .'],
    ['today', 'en_bodega', { ...DECIDED, fecha: '2026-11-21', franja: null }, 'Lo llevamos hoy .'],
    [
      'the window of today, under way',
      'en_ruta',
      { ...DECIDED, estado: 'aplicada', fecha: '2026-11-21' },
      'Se pidió para hoy, de 14:00 a 18:00 .',
    ],
    [
      'a decided return',
      'en_ruta',
      { ...DECIDED, accion: 'devolver', fecha: null, franja: null },
      'Se decidió que vuelva a la tienda .',
    ],
    ['no day that has passed', 'en_bodega', { ...DECIDED, fecha: '2026-11-20' }, undefined],
    ['no day that an early departure overtook', 'en_ruta', { ...DECIDED, estado: 'aplicada' }, undefined],
    ['no day that facts overtook', 'entregado', { ...DECIDED, estado: 'superada' }, undefined],
    ['no day while nobody has decided', 'en_bodega', PENDIENTE, undefined],
    ['nothing where nothing is known', 'en_ruta', null, undefined],
  ] as const)('promises %s', async (_description, estado, decision, promise) => {
    const page = await ofPage({ estado, decision: decision as ShownShipment['decision'] })
    const expectedLine = /<p class="promesa">(.*?)<\/p>/.exec(page)?.[1]
    expect(expectedLine && text(expectedLine)).toBe(promise)
    // What may follow is no news where it is decided.
    const next = NEXT_SENTENCES[estado]?.(SHOWN_SHIPMENT.comercio)
    expect(next !== undefined && page.includes(next)).toBe(promise === undefined && estado !== 'entregado')
  })

  it('tells when the courier came, by the clock of the destination', async () => {
    const renderIn = async (estado: Estado, ocurrido: string) =>
      /<p class="promesa">(.*?)<\/p>/.exec(
        await ofPage({
          estado,
          eventos: [{ tipo: `guia.${estado}` as const, ocurrido_en: new Date(ocurrido), motivo: null }],
        }),
      )?.[1]
    expect(await renderIn('intento_fallido', '2026-11-21T16:42:00Z')).toBe('Fuimos hoy a las 10:42.')
    expect(await renderIn('entregado', '2026-11-21T05:59:00Z')).toBe('Se entregó ayer a las 23:59.')
    expect(await renderIn('entregado', '2026-11-18T18:00:00Z')).toBe(
      'Se entregó el miércoles 18 de noviembre a las 12:00.',
    )
    expect(await renderIn('en_bodega', '2026-11-21T16:42:00Z')).toBeUndefined()
  })

  it('says what the recipient can do, and only what still helps', async () => {
    const puede = async (cambios: Partial<ShownShipment>) => {
      const page = await ofPage(cambios)
      const part = /<section aria-labelledby="puede">([\s\S]*?)<\/section>/.exec(page)![1]!
      return [...part.matchAll(/<b>(.*?)<\/b>|class="opcion" href="(.*?)"/g)].map(([, kind, place]) => kind ?? place!)
    }
    const corregir = 'Corregir la dirección o el teléfono'
    const fallido = { estado: 'intento_fallido', intentos: 1 } as const
    expect(await puede({ estado: 'en_bodega' })).toEqual([corregir])
    expect(await puede({ estado: 'en_bodega', isRecipientPlace: true })).toEqual([
      'Corregir el lugar que nos dio',
      corregir,
    ])
    expect(await puede({ ...fallido, decision: PENDIENTE })).toEqual(['Pedir que se lo lleven otro día', corregir])
    // After an attempt, the link of that message changes no place.
    for (const estado of ['intento_fallido', 'en_bodega'] as const)
      expect(await puede({ estado, intentos: 1, isRecipientPlace: true })).toEqual([corregir])
    const askedShipment = { ...fallido, decision: PENDIENTE, wasAsked: true }
    expect(await puede(askedShipment)).toEqual(['Pedir otro día, otro lugar o un vecino', corregir])
    expect(text(await ofPage(askedShipment))).toContain(
      'Abra el enlace del mensaje que recibió. Hasta el sábado 28 de noviembre a las 09:04.',
    )
    const returnOnlyDecision = { ...PENDIENTE, opciones: ['devolver'] } as const
    const last = { ...askedShipment, decision: returnOnlyDecision as unknown as ShownShipment['decision'] }
    expect(await puede(last)).toEqual(['Decir si todavía lo quiere', corregir])
    // Whoever comes too late has the shop alone.
    const late = new Date('2026-11-29T00:00:00Z')
    expect(await puede({ ...askedShipment, now: late })).toEqual(['Pedir que se lo lleven otro día', corregir])
    expect(await puede({ ...fallido, decision: DECIDED })).toEqual([corregir])
    expect(await puede({ estado: 'en_ruta' })).toEqual([
      'Esté pendiente de su teléfono',
      'Procure que haya quien reciba',
    ])
    expect(await puede({ estado: 'entregado' })).toEqual([
      '¿No lo recibió usted?',
      `../verificar/${SHOWN_SHIPMENT.guia}`,
    ])
  })

  it('knows of a decision, and of the message that asks for it', async () => {
    const { api, comercio } = await environment.createComercio('test')
    const cambio = { politica_de_intentos: { destinatario_decide: true } }
    expect((await environment.asOperador('PATCH', `/comercios/${comercio}`, cambio)).status).toBe(200)
    const { guia } = await api.guias.crear(buildGuia())
    for (const body of [
      { estado: 'recolectado' },
      { estado: 'en_ruta' },
      { estado: 'intento_fallido', motivo: 'destinatario_ausente' },
    ])
      await registrar(guia, body)
    await environment.waitForQuiet()
    expect(text(await html(guia))).toContain('Abra el enlace del mensaje que recibió')
    const { decision } = await api.guias.reintentar(guia, { franja: { desde: '09:00', hasta: '13:00' } })
    expect(decision?.fecha).toBeTruthy()
    const seen = text(await html(guia))
    expect(seen).toMatch(/Fuimos hoy a las \d\d:\d\d\. Lo llevamos (hoy|mañana), de 09:00 a 13:00/)
    expect(seen).not.toContain('Abra el enlace')
  })

  it('escapes all values that it shows, and takes only a letter for an initial', async () => {
    const comercio = await environment.createComercio('live')
    const bad = `"><script>alert(1)</script>'&<b>`
    await environment.db.pool.query('update comercio set nombre = $2 where id = $1', [comercio.id, bad])
    for (const [destinatario, expectedInitial] of [
      ['<img src=x onerror=alert(1)>', null],
      ['Álvaro Tzul', 'Á.'],
      ['  ñusta', null],
      ['ñusta', 'Ñ.'],
      ['5 hermanos', null],
    ] as const) {
      if (destinatario.startsWith(' ')) continue // the contract refuses it
      const { guia } = await comercio.api.guias.crear(buildGuia({ municipio: bad, destinatario }))
      const page = await html(guia)
      expect(removeScript(page)).not.toMatch(/<script|<img|<b>"|onerror/)
      expect(page.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(3)
      expect(/<dt>Para<\/dt><dd>(.*?)<\/dd>/.exec(page)?.[1] ?? null).toBe(expectedInitial)
    }
  })

  it('shows the newest of a long history, and stays light', async () => {
    const { api } = await environment.createComercio('test')
    const { guia } = await api.guias.crear(buildGuia())
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const repeatStates = async (turns: number) => {
      for (let i = 0; i < turns; i++)
        for (const estado of ['en_bodega', 'en_transito'] as const) await api.simulador.avanzar(guia, { estado })
    }
    await repeatStates(29)
    const completa = await html(guia)
    expect(completa.match(/<li><b>/g)).toHaveLength(60)
    expect(completa).not.toContain('pasos más antiguos')
    await repeatStates(6)
    const response = await html(guia)
    expect(response.match(/<li><b>/g)).toHaveLength(60)
    expect(response).toContain('pasos más antiguos')
    expect(gzipSync(response).length).toBeLessThan(15_000)
  })
})
