import { createServer } from 'node:http'
import express from 'express'
import { describe, expect, it, vi } from 'vitest'
import { createLimit } from '../../../server/api/limits/buckets.ts'
import { serveUbicacion } from '../../../server/pages/location/route.ts'
import { BRAND_STYLE_HASH, DEFAULT_FRONT, stripBrandStyle } from '../../factories.ts'
import { advanceClock, fakePages, listenOnFreePort, submitForm, tilesUrl, url, useUbicacionService } from './service.ts'

useUbicacionService()

describe('the location page', () => {
  it('is private, strict and without effect, however often it is opened', async () => {
    const token = fakePages.createRequest()
    for (let i = 0; i < 50; i++) expect((await fetch(`${url}/u/${token}`)).status).toBe(200)
    const response = await fetch(`${url}/u/${token}`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(fakePages.confirmations).toEqual([])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' ${BRAND_STYLE_HASH}; img-src 'self' data: ${tilesUrl}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    })
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it('says whose parcel it is, what is in it, as far as it is short, and which', async () => {
    const contenido = `${'Refrigeradora de 12 pies, '.repeat(4)}y manuales`
    const html = await (await fetch(`${url}/u/${fakePages.createRequest({ contenido })}`)).text()
    expect(html).toContain('<strong>Zapatería El Paso</strong> le envía')
    // Long words may be divided between their syllables.
    expect(html).toContain('Refri\u00ADge\u00ADra\u00ADdora')
    expect(html.replaceAll('\u00AD', '')).toContain(
      '<strong>Refrigeradora de 12 pies, Refrigeradora de 12 pies, Refrigeradora de 12 pies,…</strong>',
    )
    expect(html).toContain('7K3M-9QX2-A1B4')
    expect(await (await fetch(`${url}/u/${fakePages.createRequest({ contenido: null })}`)).text()).toContain(
      'le envía un paquete.',
    )
  })

  it('shows the first name alone, and nobody in its title', async () => {
    const html = await (await fetch(`${url}/u/${fakePages.createRequest()}`)).text()
    expect(html).toContain('Hola, María.')
    expect(html).not.toMatch(/Ajú|López|Fernanda/)
    expect(/<title>(.*)<\/title>/.exec(html)?.[1]).toBe('¿Dónde le entregamos su paquete?')
    expect(stripBrandStyle(html)).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)| on\w+="/)
  })

  it.each([
    ['unknown', 'desconocido0000000000A', 404],
    ['too short', 'corto', 404],
    ['not of our letters', 'tok_00000000000000000%C3%B1', 404],
    ['badly encoded', 'tok_0000000000000000%ZZ', 404],
    ['below another', 'tok_000000000000000001/x', 404],
  ])('says 404 for a token that is %s', async (_description, token, status) => {
    const response = await fetch(`${url}/u/${token}`)
    expect(response.status).toBe(status)
    expect(await response.text()).toContain('No encontramos este enlace')
  })

  it.each([
    ['vencida', 410, 'Este enlace ya venció'],
    ['cerrada', 200, 'Ya no hace falta confirmar'],
  ] as const)('tells nothing of a parcel whose request is %s', async (estado, status, title) => {
    const token = fakePages.createRequest({ estado })
    for (const response of [await fetch(`${url}/u/${token}`), await submitForm(token, { enlace: 'geo:14.6,-90.5' })]) {
      expect(response.status).toBe(status)
      const html = await response.text()
      expect(html).toContain(title)
      expect(html).not.toMatch(/María|Zapatería|Mixco|calle/)
    }
  })

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('knows no %s', async (method) => {
    const response = await fetch(`${url}/u/${fakePages.createRequest()}`, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })

  it('escapes all values that it shows', async () => {
    const bad = `"><script>alert(1)</script>'&`
    const token = fakePages.createRequest({ comercio: bad, destinatario: bad, direccion: bad, municipio: bad })
    fakePages.responder(() => ({ ok: false, motivo: 'enlace_invalido', mensaje: bad }))
    const html = await (await submitForm(token, { referencia: `${bad}</textarea>`, enlace: bad, lat: bad })).text()
    expect(html).not.toMatch(/<script>|<\/textarea>[^<]*<\/textarea>/)
    expect(html.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(6)
  })

  it('answers an error of ours with a page, and no details', async () => {
    const token = fakePages.createRequest()
    const spy = vi.spyOn(fakePages.requestsPort, 'read').mockRejectedValue(new Error(`no database for ${token}`))
    const response = await fetch(`${url}/u/${token}`)
    spy.mockRestore()
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10'])
    const html = await response.text()
    expect(html).toContain('Algo nos falló')
    expect(html).not.toContain(token)
  })

  it('offers no map without tiles, and admits no foreign pictures then', async () => {
    const app = express()
    serveUbicacion(app, {
      front: DEFAULT_FRONT,
      retentionDays: 365,
      solicitudes: fakePages.requestsPort,
      readShipment: fakePages.readShipment,
      tiles: null,
    })
    const other = createServer(app)
    const response = await fetch(`${await listenOnFreePort(other)}/u/${fakePages.createRequest()}`)
    expect(await response.text()).not.toMatch(/id="mapa"|mapa\.[0-9a-f]+\.js/)
    expect(response.headers.get('content-security-policy')).toContain("img-src 'self' data:;")
    other.closeAllConnections()
    other.close()
  })
})

describe('the files of the location page', () => {
  it('have names that change with them, and are kept for ever', async () => {
    const html = await (await fetch(`${url}/u/${fakePages.createRequest()}`)).text()
    const names = [...html.matchAll(/\.\.\/(u-recursos\/[\w.]+)/g)].map(([, name]) => name!)
    expect(names.map((name) => name.replace(/[0-9a-f]{12}/, '#')).sort()).toEqual(
      ['estilo.#.css', 'mapa.#.css', 'mapa.#.js', 'navegador.#.js'].map((n) => `u-recursos/${n}`),
    )
    for (const name of names) {
      for (const encoding of ['br', 'gzip', 'identity']) {
        const response = await fetch(`${url}/${name}`, { headers: { 'Accept-Encoding': encoding } })
        expect(response.status).toBe(200)
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        expect(response.headers.get('x-content-type-options')).toBe('nosniff')
        expect(response.headers.get('content-type')).toMatch(
          { js: /^text\/javascript/, css: /^text\/css/, svg: /^image\/svg/ }[name.split('.').at(-1)!]!,
        )
        expect((await response.text()).length).toBeGreaterThan(100)
      }
    }
    expect((await fetch(`${url}/${names[0]!.replace(/[0-9a-f]{12}/, '0'.repeat(12))}`)).status).toBe(404)
    expect((await fetch(`${url}/${names[0]}`, { method: 'POST' })).status).toBe(405)
  })
})

describe('a posted form', () => {
  it('is confirmed and answered with the way back', async () => {
    const token = fakePages.createRequest()
    const response = await submitForm(token, {
      lat: '14.6349',
      lng: '-90.5069',
      precision_m: '12',
      metodo: 'gps',
      enlace: 'https://maps.app.goo.gl/viejo',
      referencia: '  portón\r\nverde\u202e ',
    })
    expect([response.status, response.headers.get('location')]).toEqual([303, token])
    expect(fakePages.confirmations).toEqual([
      {
        acceptsDistance: false,
        cambiar: false,
        method: 'gps',
        lat: 14.6349,
        lng: -90.5069,
        precision_m: 12,
        referencia: 'portón verde',
      },
    ])
    const thanksPage = await (await fetch(`${url}/u/${token}`)).text()
    expect(thanksPage).toContain('¡Gracias, María!')
    expect(thanksPage).toContain('portón verde')
  })

  it('may hold a link with words around it', async () => {
    await submitForm(fakePages.createRequest(), {
      enlace: 'Mi casa https://maps.app.goo.gl/abc123',
      lat: '',
      lng: '',
      metodo: '',
    })
    expect(fakePages.confirmations).toEqual([
      { acceptsDistance: false, cambiar: false, method: 'enlace', enlace: 'https://maps.app.goo.gl/abc123' },
    ])
  })

  it.each([
    ['nothing', {}, 'Falta el lugar'],
    ['a reference alone', { referencia: 'portón' }, 'Falta el lugar'],
    ['half a point', { metodo: 'mapa', lat: '14.6', lng: '' }, 'No pudimos leer el lugar'],
    ['a short description', { metodo: 'descripcion', referencia: 'casa' }, 'Describa el lugar con más detalle'],
    [
      'a position that is no door',
      { metodo: 'gps', lat: '14.6', lng: '-90.5', precision_m: '201' },
      'Esta posición puede fallar por 200 metros',
    ],
    ['no number', { metodo: 'gps', lat: '1e1', lng: '-90' }, 'No pudimos leer el lugar'],
    ['a point off the Earth', { metodo: 'gps', lat: '91', lng: '-90' }, 'No pudimos leer el lugar'],
    ['a long reference', { enlace: 'geo:14,-90', referencia: 'ñ'.repeat(201) }, 'La descripción es muy larga'],
  ] as [string, Record<string, string>, string][])(
    'with %s comes back as it was',
    async (_description, fields, mensaje) => {
      const response = await submitForm(fakePages.createRequest(), fields)
      expect(response.status).toBe(422)
      const html = await response.text()
      expect(html).toContain(mensaje)
      for (const value of Object.values(fields)) expect(html).toContain(value)
      expect(fakePages.confirmations).toEqual([])
    },
  )

  it('keeps how inexact a position is, if the person says that it is right', async () => {
    const fields = { metodo: 'gps', lat: '14.6', lng: '-90.5', aproximado: '1' }
    for (const precision_m of ['1800', '250000'])
      await submitForm(fakePages.createRequest(), { ...fields, precision_m })
    expect(fakePages.confirmations.map(({ precision_m }) => precision_m)).toEqual([1_800, 100_000])
  })

  it('may describe the place with words alone', async () => {
    const referencia = 'Aldea El Carmen, casa azul tras la escuela'
    for (const asSpecified of [{ metodo: 'descripcion' }, { accion: 'describir' }] as Record<string, string>[]) {
      expect((await submitForm(fakePages.createRequest(), { ...asSpecified, referencia, enlace: '' })).status).toBe(303)
    }
    const describedPlace = { acceptsDistance: false, cambiar: false, method: 'descripcion', referencia }
    expect(fakePages.confirmations).toEqual([describedPlace, describedPlace])
  })

  it('may say the place anew while the courier isn’t on his way', async () => {
    const token = fakePages.createRequest()
    await submitForm(token, { enlace: 'https://maps.app.goo.gl/abc', referencia: 'portón verde' })
    const change = await (await fetch(`${url}/u/${token}?cambiar`)).text()
    expect(change).toContain('name="cambiar" value="1"')
    expect(change).toContain('portón verde</textarea>')
    await submitForm(token, { enlace: 'geo:14.6,-90.5', cambiar: '1' })
    expect(fakePages.confirmations.map(({ cambiar: change }) => change)).toEqual([false, true])
    fakePages.responder(() => ({ ok: false, motivo: 'agotada' }))
    const exhaustedResponse = await submitForm(token, { enlace: 'geo:14.6,-90.5', cambiar: '1' })
    expect([exhaustedResponse.status, (await exhaustedResponse.text()).includes('muchas veces')]).toEqual([409, true])
    const confirmado = { lat: 14.6, lng: -90.5, precision_m: null, enlace: null, referencia: null, lectura: null }
    const late = fakePages.createRequest({ estado: 'confirmada', confirmed: confirmado, correctable: false })
    expect(await (await fetch(`${url}/u/${late}`)).text()).not.toContain('?cambiar')
    expect(await (await fetch(`${url}/u/${late}?cambiar`)).text()).toContain('Ya no se puede cambiar aquí')
  })

  it('says what became of the parcel once the courier has left, and no thanks', async () => {
    const confirmed = { lat: 14.6, lng: -90.5, precision_m: null, enlace: null, referencia: 'portón', lectura: null }
    const seen = async (estado: typeof fakePages.parcel.estado, correctable: boolean) => {
      fakePages.parcel.estado = estado
      const token = fakePages.createRequest({ estado: 'confirmada', confirmed, correctable })
      return (await fetch(`${url}/u/${token}`)).text()
    }
    for (const [estado, correctable, heading, place] of [
      ['recolectado', true, '¡Gracias, María!', true],
      ['intento_fallido', true, 'No se pudo entregar', true],
      ['extraviado', true, 'Lo estamos buscando', true],
      ['en_ruta', false, 'En ruta de entrega', true],
      ['entregado', false, 'Entregado', false],
      ['en_devolucion', false, 'De regreso a la tienda', false],
    ] as const) {
      const html = await seen(estado, correctable)
      expect([estado, /<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1]]).toEqual([estado, heading])
      expect([estado, html.includes('>portón<'), html.includes('?cambiar')]).toEqual([estado, place, correctable])
      expect(html).toContain('<h2 id="historial">')
    }
  })

  it.each([
    ['enlace_invalido', 'enlace'],
    ['coordenadas_invalidas', 'lugar'],
    ['sin_lugar', 'lugar'],
    ['referencia_larga', 'referencia'],
  ] as const)('that is refused as %s says so where it is put right', async (motivo, field) => {
    fakePages.responder(() => ({ ok: false, motivo, mensaje: 'Esto no <sirve>.' }))
    const response = await submitForm(fakePages.createRequest(), {
      enlace: 'https://example.com/',
      referencia: 'portón',
    })
    expect(response.status).toBe(422)
    const html = await response.text()
    expect(html).toContain(`<a href="#${field}">Esto no &lt;sirve&gt;.</a>`)
    expect(html).toContain('value="https://example.com/"')
    expect(html).toContain('portón')
  })

  it('is asked about when it is far away, and may be corrected or insisted on', async () => {
    fakePages.responder(({ acceptsDistance }) =>
      acceptsDistance ? undefined : { ok: false, motivo: 'lejos', distancia_km: 171.6 },
    )
    const token = fakePages.createRequest()
    const fields = { metodo: 'mapa', lat: '15.5', lng: '-89.1', referencia: 'frente al muelle' }
    const askedQuestion = await submitForm(token, fields)
    expect(askedQuestion.status).toBe(422)
    const html = await askedQuestion.text()
    expect(html).toContain('172\u00a0km')
    expect(html).toContain('Mixco, Guatemala')
    const corrected = await submitForm(token, { ...fields, accion: 'corregir' })
    expect(corrected.status).toBe(200)
    expect(await corrected.text()).toContain('frente al muelle')
    expect((await submitForm(token, { ...fields, seguro: '1' })).status).toBe(303)
    expect(fakePages.confirmations.at(-1)).toMatchObject({
      acceptsDistance: true,
      lat: 15.5,
      referencia: 'frente al muelle',
    })
  })

  it.each([
    ['another type', '{}', { 'Content-Type': 'application/json' }, 415],
    ['compression', 'enlace=x', { 'Content-Encoding': 'gzip' }, 415],
    ['8 KB', `enlace=${'x'.repeat(8_192)}`, {}, 413],
    ['a field that is not ours', 'enlace=x&admin=1', {}, 400],
    ['a field twice', 'enlace=x&enlace=y', {}, 400],
    ['half an escape', 'enlace=%4', {}, 400],
    ['something that is not UTF-8', 'enlace=%ff', {}, 400],
  ] as [string, string, Record<string, string>, number][])(
    'with %s is refused',
    async (_description, body, extra, status) => {
      const response = await fetch(`${url}/u/${fakePages.createRequest()}`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...extra },
      })
      expect(response.status).toBe(status)
      expect(await response.text()).toContain('No pudimos leer eso')
      expect(fakePages.confirmations).toEqual([])
    },
  )
})

it('the service reads no more of a form than the limit, also without an announced length', async () => {
  const largeBody = new ReadableStream({
    start(output) {
      output.enqueue(new TextEncoder().encode(`enlace=${'x'.repeat(9_000)}`))
      output.close()
    },
  })
  const response = await fetch(`${url}/u/${fakePages.createRequest()}`, {
    method: 'POST',
    body: largeBody,
    duplex: 'half',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  } as RequestInit)
  expect(response.status).toBe(413)
})

describe('the limits', () => {
  it('give a network so many other links', async () => {
    for (let i = 0; i < 30; i++) {
      const token = fakePages.createRequest({ estado: 'vencida' })
      expect((await submitForm(token, { accion: 'otro' })).status).toBe(200)
    }
    const last = await submitForm(fakePages.createRequest({ estado: 'vencida' }), { accion: 'otro' })
    expect([last.status, (await last.text()).includes('No podemos mandarle otro enlace')]).toEqual([429, true])
    expect(fakePages.others).toHaveLength(30)
  })

  it('hold per address and link, and say for how long', async () => {
    const [token, other] = [fakePages.createRequest(), fakePages.createRequest()]
    for (let i = 0; i < 10; i++) expect((await submitForm(token, {})).status).toBe(422)
    const response = await submitForm(token, {})
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '6'])
    expect(await response.text()).toContain('en 6 segundos')
    expect((await submitForm(other, {})).status).toBe(422)
    expect((await fetch(`${url}/u/${token}`)).status).toBe(200)
    advanceClock(6_000)
    expect((await submitForm(token, {})).status).toBe(422)
    for (let i = 0; i < 59; i++) await fetch(`${url}/u/${other}`)
    expect((await fetch(`${url}/u/${other}`)).status).toBe(200)
    expect((await fetch(`${url}/u/${other}`)).status).toBe(429)
  })

  it('hold for a client that asks among many others', () => {
    const limite = createLimit(1, { clock: () => 0, max: 2 })
    expect(['a', 'a', 'b', 'c', 'a'].map(limite)).toEqual([0, 60, 0, 0, 60])
  })
})
