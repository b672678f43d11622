import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage } from './inspect.ts'

/** Picture without content, in place of a map tile. */
const EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"/>'

const entorno = useEnvironment()
const { createComercio: tienda, createAskedGuia: preguntada, send: enviar, ver } = useQuestions(entorno)

describe('the page of a decision', () => {
  it('is private, loads only the map, and says nothing in its preview', async () => {
    const { enlace } = await preguntada()
    const respuesta = await fetch(entorno.url + enlace, { method: 'HEAD' })
    expect(Object.fromEntries(respuesta.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'self' 'sha256-\S+' 'sha256-\S+'; script-src 'self' 'sha256-\S+'; img-src 'self' data: https:\/\/tile\.openstreetmap\.org; form-action 'self'; base-uri/,
      ),
    })
    const { html: pagina } = await ver(enlace)
    // The map's module and style sheet are named, and loaded only when the map opens.
    expect(pagina.match(/(?:src|href)="(?!data:|tel:|\.\.\/)[^"]*"/g) ?? []).toEqual([])
    expect(pagina).toMatch(
      /data-modulo="\.\.\/u-recursos\/mapa\.\w+\.js" data-estilo="\.\.\/u-recursos\/mapa\.\w+\.css"/,
    )
    const previa = /<meta property="og:[\s\S]*?<meta name="description"[^>]*>/
    const leer = async (ruta: string) => previa.exec(await (await fetch(entorno.url + ruta)).text())?.[0]
    expect(await leer(enlace)).toBeDefined()
    expect(await leer(enlace)).toBe(await leer('/d/nada'))
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect((await fetch(entorno.url + enlace, { method })).headers.get('allow')).toBe('GET, HEAD, POST')
  })

  it('escapes all values that it shows', async () => {
    const malo = `"><script>alert(1)</script>'&`
    const { enlace, api, guia } = await preguntada()
    await api.guias.corregir(guia, { direccion: malo, contenido: malo, destinatario: malo })
    const { html } = await enviar(enlace, { eleccion: 'vecino', nombre: `1${'<b>'.repeat(40)}`, donde: malo })
    expect((await ver(enlace)).html.match(/&lt;script&gt;/g)!.length).toBeGreaterThanOrEqual(2)
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;')
    for (const pagina of [html, (await ver(enlace)).html]) expect(pagina).not.toMatch(/<script>|<b>1|<b><b>/)
  })
})

describe.skipIf(!hasBrowser)('in a browser without JavaScript', () => {
  let pagina: Page
  const abrir = async (enlace: string, javaScriptEnabled = false, options: BrowserContextOptions = {}) => {
    const contexto = await openContext({
      ...options,
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
      javaScriptEnabled,
    })
    pagina = await contexto.newPage()
    await pagina.goto(entorno.url + enlace)
  }
  afterEach(() => pagina?.context().close())
  const opcion = (nombre: string) => pagina.locator('summary', { hasText: nombre })
  const boton = (name: string) => pagina.getByRole('button', { name })
  const titulo = (name: string) => pagina.getByRole('heading', { name }).waitFor()

  it('a neighbour is named, and a fault keeps the words', async () => {
    const guia = await preguntada()
    await abrir(guia.enlace)
    await opcion('un vecino').tap()
    await pagina.getByLabel('¿Dónde vive?').fill('Casa verde de enfrente')
    await boton('Dejarlo con mi vecino').tap()
    await pagina.getByRole('alert').getByText('Falta el nombre de su vecino.').waitFor()
    // The open form is the first part below the summary.
    expect((await pagina.getByLabel('Nombre de su vecino').boundingBox())!.y).toBeLessThan(600)
    expect(await pagina.getByLabel('¿Dónde vive?').inputValue()).toBe('Casa verde de enfrente')
    await pagina.getByLabel('Nombre de su vecino').fill('Rosa Caal')
    await boton('Dejarlo con mi vecino').tap()
    await titulo('Gracias, ya quedó')
    expect((await guia.leer()).indicaciones).toBe('Dejar con un vecino: Rosa Caal, Casa verde de enfrente')
    expect(pagina.url()).toBe(entorno.url + guia.enlace)
  })

  it('another day, another place and a refusal are sent', async () => {
    const comercio = await tienda()
    const otroDia = await preguntada(comercio)
    await abrir(otroDia.enlace)
    await opcion('otro día').tap()
    await pagina.getByLabel('¿Qué día?').first().selectOption({ index: 3 })
    await boton('Pedir ese día').tap()
    await titulo('Gracias, ya quedó')
    await pagina.context().close()
    const otroLugar = await preguntada(comercio)
    await abrir(otroLugar.enlace)
    await opcion('otro lugar').tap()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('Aldea El Carmen, casa azul tras la escuela')
    await boton('Pedir ese lugar').tap()
    await titulo('Gracias, ya quedó')
    await pagina.context().close()
    const rechazo = await preguntada(comercio)
    await abrir(rechazo.enlace)
    await opcion('No lo quiero').tap()
    await boton('No lo quiero').tap()
    await titulo('¿Seguro que no lo quiere?')
    await pagina.getByRole('link', { name: 'No, sí lo quiero' }).tap()
    await titulo('¿Qué hacemos con su paquete?')
    await opcion('No lo quiero').tap()
    await boton('No lo quiero').tap()
    await boton('Sí, que vuelva a la tienda').tap()
    await titulo('De regreso a la tienda')
    const decididas = await Promise.all([otroDia, otroLugar, rechazo].map(({ leer }) => leer()))
    expect(decididas.map(({ decision }) => [decision!.accion, decision!.por])).toEqual([
      ['reintentar', 'destinatario'],
      ['reintentar', 'destinatario'],
      ['devolver', 'destinatario'],
    ])
  })

  it('another place is shown on the map, and one far away is asked about', async () => {
    const guia = await preguntada()
    await abrir(guia.enlace, true)
    // The browser has no network, so map tiles are an empty image.
    await pagina.route(/tile\.openstreetmap\.org/, (tile) =>
      tile.fulfill({ contentType: 'image/svg+xml', body: EMPTY }),
    )
    await opcion('otro lugar').tap()
    await pagina.getByLabel('Enlace del mapa, si tiene').fill('https://maps.app.goo.gl/x')
    await boton('Señalarlo en el mapa').tap()
    await pagina.locator('#mapa:not(.ciego) .leaflet-tile-loaded').first().waitFor()
    await pagina.locator('#mapa').tap({ position: { x: 200, y: 180 } })
    await pagina.getByText('El pin está a').waitFor()
    expect(await pagina.getByLabel('Enlace del mapa, si tiene').inputValue()).toBe('')
    await checkPage({ pagina, nombre: 'decidir-mapa', touchTargets: 'button, summary, input:not([type=hidden])' })
    await boton('Pedir ese lugar').tap()
    await titulo('Gracias, ya quedó')
    const { ubicacion } = await guia.leer()
    expect(ubicacion).toMatchObject({ estado: 'confirmada' })
    expect(ubicacion!.lat).toBeCloseTo(14.72, 1)
    const lejos = { eleccion: 'otro_lugar', lat: '16.9', lng: '-89.9', fecha: '' }
    const { enlace } = await preguntada()
    const pregunta = await enviar(enlace, lejos)
    expect([pregunta.status, pregunta.html]).toEqual([422, expect.stringContaining('name="lat" value="16.9"')])
    expect((await enviar(enlace, { ...lejos, lat: '160' })).html).toContain('No pudimos leer el lugar.')
    expect((await enviar(enlace, { ...lejos, seguro: '1' })).status).toBe(303)
  })

  it('the phone’s position is another place, and an imprecise one is asked about', async () => {
    const question = await preguntada()
    const position = { latitude: 14.721, longitude: -90.641, accuracy: 1_800 }
    await abrir(question.enlace, true, { permissions: ['geolocation'], geolocation: position })
    await pagina.route(/tile\.openstreetmap\.org/, (tile) =>
      tile.fulfill({ contentType: 'image/svg+xml', body: EMPTY }),
    )
    await opcion('otro lugar').tap()
    await boton('Estoy ahí ahora').tap()
    await pagina.getByText('precisión de unos 1.8 km').waitFor()
    await boton('Pedir ese lugar').tap()
    await pagina.getByRole('alert').getByText('Esta posición puede fallar por 1.8 km').waitFor()
    await pagina.getByText('precisión de unos 1.8 km').waitFor()
    await checkPage({ pagina, nombre: 'decidir-impreciso', touchTargets: 'button, summary, label.casilla' })
    await pagina.getByLabel('Está bien así, aunque sea cerca').check()
    await boton('Pedir ese lugar').tap()
    await titulo('Gracias, ya quedó')
    const { ubicacion } = await question.leer()
    expect(ubicacion).toMatchObject({ estado: 'confirmada', lat: 14.721, lng: -90.641, precision_m: 1_800 })
  })

  it('a phone without positions is told the buttons of the page', async () => {
    await abrir((await preguntada()).enlace, true)
    await opcion('otro lugar').tap()
    await boton('Estoy ahí ahora').tap()
    await pagina.getByText('El teléfono no nos dio permiso').waitFor()
    const named = (await pagina.locator('#estado-gps').innerText()).match(/«(?:Estoy|Señalarlo)[^»]*»/g) ?? []
    expect(named.length).toBeGreaterThanOrEqual(2)
    // The button that failed can be tapped again.
    for (const name of new Set(named)) expect(await boton(name.slice(1, -1)).isVisible()).toBe(true)
  })

  it('has no fault that axe finds, in light and dark and with letters twice as large', async () => {
    const guia = await preguntada()
    const blancos = 'button, a.boton, input:not([type=hidden]), select, textarea, summary, .errores a'
    const revisar = (nombre: string) => checkPage({ pagina, nombre: `decidir-${nombre}`, touchTargets: blancos })
    await abrir(guia.enlace, true)
    await revisar('pregunta')
    await opcion('otro lugar').tap()
    await revisar('lugar')
    await opcion('un vecino').tap()
    expect(await pagina.locator('details[open]').count()).toBe(1)
    await boton('Dejarlo con mi vecino').tap()
    await pagina.getByRole('alert').waitFor()
    await revisar('falta')
    await checkLargeText(pagina)
    await captureScreen(pagina, 'decidir-falta-200')
    await pagina.context().close()
    await abrir(guia.enlace, true)
    await checkLargeText(pagina)
    await captureScreen(pagina, 'decidir-pregunta-200')
    await pagina.context().close()
    await abrir(guia.enlace, true)
    await opcion('No lo quiero').tap()
    await boton('No lo quiero').tap()
    await titulo('¿Seguro que no lo quiere?')
    await revisar('seguro')
    await enviar(guia.enlace, { eleccion: 'otro_dia' })
    await pagina.goto(entorno.url + guia.enlace)
    await revisar('decidida')
  })
})
