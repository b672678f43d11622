import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage } from './inspect.ts'

/** Picture without content, in place of a map tile. */
const EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"/>'

const environment = useEnvironment()
const { createComercio: shop, createAskedGuia: askedGuia, send, ver } = useQuestions(environment)

describe('the page of a decision', () => {
  it('is private, loads only the map, and says nothing in its preview', async () => {
    const { enlace } = await askedGuia()
    const response = await fetch(environment.url + enlace, { method: 'HEAD' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'self' 'sha256-\S+' 'sha256-\S+'; script-src 'self' 'sha256-\S+'; img-src 'self' data: https:\/\/tile\.openstreetmap\.org; form-action 'self'; base-uri/,
      ),
    })
    const { html: page } = await ver(enlace)
    // The map's module and style sheet are named, and loaded only when the map opens.
    expect(page.match(/(?:src|href)="(?!data:|tel:|\.\.\/)[^"]*"/g) ?? []).toEqual([])
    expect(page).toMatch(/data-modulo="\.\.\/u-recursos\/mapa\.\w+\.js" data-estilo="\.\.\/u-recursos\/mapa\.\w+\.css"/)
    const preview = /<meta property="og:[\s\S]*?<meta name="description"[^>]*>/
    const read = async (path: string) => preview.exec(await (await fetch(environment.url + path)).text())?.[0]
    expect(await read(enlace)).toBeDefined()
    expect(await read(enlace)).toBe(await read('/d/nada'))
    // Only a page that asks for data says how they are used.
    const noticeAt = async (path: string) =>
      (await (await fetch(environment.url + path)).text()).includes('Lo usamos solo')
    expect([await noticeAt(enlace), await noticeAt('/d/nada'), await noticeAt('/u/nada')]).toEqual([true, false, false])
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect((await fetch(environment.url + enlace, { method })).headers.get('allow')).toBe('GET, HEAD, POST')
  })

  it('escapes all values that it shows', async () => {
    const bad = `"><script>alert(1)</script>'&`
    const { enlace, api, guia } = await askedGuia()
    await api.guias.corregir(guia, { direccion: bad, contenido: bad, destinatario: bad })
    const { html } = await send(enlace, { eleccion: 'vecino', nombre: `1${'<b>'.repeat(40)}`, donde: bad })
    expect((await ver(enlace)).html.match(/&lt;script&gt;/g)!.length).toBeGreaterThanOrEqual(2)
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;')
    for (const page of [html, (await ver(enlace)).html]) expect(page).not.toMatch(/<script>|<b>1|<b><b>/)
  })
})

describe.skipIf(!hasBrowser)('in a browser without JavaScript', () => {
  let pagina: Page
  const open = async (link: string, javaScriptEnabled = false, options: BrowserContextOptions = {}) => {
    const context = await openContext({
      ...options,
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
      javaScriptEnabled,
    })
    pagina = await context.newPage()
    await pagina.goto(environment.url + link)
  }
  afterEach(() => pagina?.context().close())
  const option = (name: string) => pagina.locator('summary', { hasText: name })
  const button = (name: string) => pagina.getByRole('button', { name })
  const title = (name: string) => pagina.getByRole('heading', { name }).waitFor()

  it('a neighbour is named, and a fault keeps the words', async () => {
    const guia = await askedGuia()
    await open(guia.enlace)
    await option('un vecino').tap()
    await pagina.getByLabel('¿Dónde vive?').fill('Casa verde de enfrente')
    await button('Dejarlo con mi vecino').tap()
    await pagina.getByRole('alert').getByText('Falta el nombre de su vecino.').waitFor()
    // The open form is the first part below the summary.
    expect((await pagina.getByLabel('Nombre de su vecino').boundingBox())!.y).toBeLessThan(600)
    expect(await pagina.getByLabel('¿Dónde vive?').inputValue()).toBe('Casa verde de enfrente')
    await pagina.getByLabel('Nombre de su vecino').fill('Rosa Caal')
    await button('Dejarlo con mi vecino').tap()
    await title('Gracias, ya quedó')
    expect((await guia.read()).indicaciones).toBe('Dejar con un vecino: Rosa Caal, Casa verde de enfrente')
    // The correction of the guide's data is the decision itself.
    expect(await pagina.getByText('Datos de la guía corregidos').count()).toBe(0)
    expect(pagina.url()).toBe(environment.url + guia.enlace)
  })

  it('another day, another place and a refusal are sent', async () => {
    const comercio = await shop()
    const otherDay = await askedGuia(comercio)
    await open(otherDay.enlace)
    await option('otro día').tap()
    await pagina.getByLabel('¿Qué día?').first().selectOption({ index: 3 })
    await button('Pedir ese día').tap()
    await title('Gracias, ya quedó')
    await pagina.context().close()
    const otherPlace = await askedGuia(comercio)
    await open(otherPlace.enlace)
    await option('otro lugar').tap()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('Aldea El Carmen, casa azul tras la escuela')
    await button('Pedir ese lugar').tap()
    await title('Gracias, ya quedó')
    await pagina.context().close()
    const refusal = await askedGuia(comercio)
    await open(refusal.enlace)
    await option('No lo quiero').tap()
    await button('No lo quiero').tap()
    await title('¿Seguro que no lo quiere?')
    await pagina.getByRole('link', { name: 'No, sí lo quiero' }).tap()
    await title('¿Qué hacemos con su paquete?')
    await option('No lo quiero').tap()
    await button('No lo quiero').tap()
    await button('Sí, que vuelva a la tienda').tap()
    await title('De regreso a la tienda')
    const decidedGuias = await Promise.all([otherDay, otherPlace, refusal].map(({ read }) => read()))
    expect(decidedGuias.map(({ decision }) => [decision!.accion, decision!.por])).toEqual([
      ['reintentar', 'destinatario'],
      ['reintentar', 'destinatario'],
      ['devolver', 'destinatario'],
    ])
  })

  it('another place is shown on the map, and one far away is asked about', async () => {
    const guia = await askedGuia()
    await open(guia.enlace, true)
    // The browser has no network, so map tiles are an empty image.
    await pagina.route(/tile\.openstreetmap\.org/, (tile) =>
      tile.fulfill({ contentType: 'image/svg+xml', body: EMPTY }),
    )
    await option('otro lugar').tap()
    await pagina.getByLabel('Enlace del mapa, si tiene').fill('https://maps.app.goo.gl/x')
    await button('Señalarlo en el mapa').tap()
    await pagina.locator('#mapa:not(.ciego) .leaflet-tile-loaded').first().waitFor()
    await pagina.locator('#mapa').tap({ position: { x: 200, y: 180 } })
    await pagina.getByText('El pin está a').waitFor()
    expect(await pagina.getByLabel('Enlace del mapa, si tiene').inputValue()).toBe('')
    await checkPage({ pagina, nombre: 'decidir-mapa', touchTargets: 'button, summary, input:not([type=hidden])' })
    await button('Pedir ese lugar').tap()
    await title('Gracias, ya quedó')
    const { ubicacion } = await guia.read()
    expect(ubicacion).toMatchObject({ estado: 'confirmada' })
    expect(ubicacion!.lat).toBeCloseTo(14.72, 1)
    const far = { eleccion: 'otro_lugar', lat: '16.9', lng: '-89.9', fecha: '' }
    const { enlace } = await askedGuia()
    const askedQuestion = await send(enlace, far)
    expect([askedQuestion.status, askedQuestion.html]).toEqual([
      422,
      expect.stringContaining('name="lat" value="16.9"'),
    ])
    expect((await send(enlace, { ...far, lat: '160' })).html).toContain('No pudimos leer el lugar.')
    expect((await send(enlace, { ...far, seguro: '1' })).status).toBe(303)
  })

  it('the phone’s position is another place, and an imprecise one is asked about', async () => {
    const question = await askedGuia()
    const position = { latitude: 14.721, longitude: -90.641, accuracy: 1_800 }
    await open(question.enlace, true, { permissions: ['geolocation'], geolocation: position })
    await pagina.route(/tile\.openstreetmap\.org/, (tile) =>
      tile.fulfill({ contentType: 'image/svg+xml', body: EMPTY }),
    )
    await option('otro lugar').tap()
    await button('Estoy ahí ahora').tap()
    await pagina.getByText('precisión de unos 1.8 km').waitFor()
    await button('Pedir ese lugar').tap()
    await pagina.getByRole('alert').getByText('Esta posición puede fallar por 1.8 km').waitFor()
    await pagina.getByText('precisión de unos 1.8 km').waitFor()
    await checkPage({ pagina, nombre: 'decidir-impreciso', touchTargets: 'button, summary, label.casilla' })
    await pagina.getByLabel('Está bien así, aunque sea cerca').check()
    await button('Pedir ese lugar').tap()
    await title('Gracias, ya quedó')
    const { ubicacion } = await question.read()
    expect(ubicacion).toMatchObject({ estado: 'confirmada', lat: 14.721, lng: -90.641, precision_m: 1_800 })
  })

  it('a phone without positions is told the buttons of the page', async () => {
    await open((await askedGuia()).enlace, true)
    await option('otro lugar').tap()
    await button('Estoy ahí ahora').tap()
    await pagina.getByText('El teléfono no nos dio permiso').waitFor()
    const named = (await pagina.locator('#estado-gps').innerText()).match(/«(?:Estoy|Señalarlo)[^»]*»/g) ?? []
    expect(named.length).toBeGreaterThanOrEqual(2)
    // The button that failed can be tapped again.
    for (const name of new Set(named)) expect(await button(name.slice(1, -1)).isVisible()).toBe(true)
  })

  it('has no fault that axe finds, in light and dark and with letters twice as large', async () => {
    const guia = await askedGuia()
    const touchTargets = 'button, a.boton, input:not([type=hidden]), select, textarea, summary, .errores a'
    const revisar = (name: string) => checkPage({ pagina, nombre: `decidir-${name}`, touchTargets })
    await open(guia.enlace, true)
    await revisar('pregunta')
    await option('otro lugar').tap()
    await revisar('lugar')
    await option('un vecino').tap()
    expect(await pagina.locator('details[open]').count()).toBe(1)
    await button('Dejarlo con mi vecino').tap()
    await pagina.getByRole('alert').waitFor()
    await revisar('falta')
    await checkLargeText(pagina)
    await captureScreen(pagina, 'decidir-falta-200')
    await pagina.context().close()
    await open(guia.enlace, true)
    await checkLargeText(pagina)
    await captureScreen(pagina, 'decidir-pregunta-200')
    await pagina.context().close()
    await open(guia.enlace, true)
    await option('No lo quiero').tap()
    await button('No lo quiero').tap()
    await title('¿Seguro que no lo quiere?')
    await revisar('seguro')
    await send(guia.enlace, { eleccion: 'otro_dia' })
    await pagina.goto(environment.url + guia.enlace)
    await revisar('decidida')
  })
})
