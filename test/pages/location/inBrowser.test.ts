import { describe, expect, it } from 'vitest'
import { captureScreen, hasBrowser } from '../../browser.ts'
import { FULL_RUN_ONLY } from '../../factories.ts'
import { checkBars, checkLargeText } from '../inspect.ts'
import { optionsFor, useRecipientPage } from './phone.ts'
import { fakePages, url, useUbicacionService } from './service.ts'

useUbicacionService()
const ENLACE = 'https://www.google.com/maps/place/Casa/@14.1,-90.1,17z/data=!3d14.6341!4d-90.6055'

describe.skipIf(!hasBrowser)('in a browser', () => {
  const {
    open,
    button,
    waitForTiles,
    context,
    readFocused,
    enlace,
    evaluate,
    waitForThanks,
    readHiddenField,
    pagina,
    findBrokenWords,
    requestedUrls: sentRequests,
    waitForStillMap,
    referencia,
    check: revisar,
    texto: text,
    titulo,
    readConfirmTop,
  } = useRecipientPage()

  it('weighs little before anybody wants the map', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest())
    const sesion = await context().newCDPSession(pagina())
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.setCacheDisabled', { cacheDisabled: true })
    await pagina().reload({ waitUntil: 'networkidle' })
    console.log(`the page with headers, gzip: ${bytes} bytes in ${new Set(sentRequests).size} requests`)
    expect(bytes).toBeGreaterThan(4_000)
    expect(bytes).toBeLessThan(15_000)
    expect(sentRequests.filter((one) => one.includes('/mapa.'))).toEqual([])
    await revisar('inicio')
    await button('Señalarlo en el mapa').tap()
    await waitForTiles()
    await pagina().waitForLoadState('networkidle')
    console.log(`with the map and its tiles: ${bytes} bytes`)
    expect(bytes).toBeLessThan(100_000)
  })

  it.each([
    ['Chrome', undefined, 'Toque «Permisos» y encienda «Ubicación».'],
    [
      'Safari',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Toque «Ubicación» y elija «Permitir».',
    ],
    [
      'WhatsApp',
      'Mozilla/5.0 (Linux; Android 14; SM-A155M; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36 WhatsApp/2.24.20.89',
      '«Abrir en el navegador»',
    ],
  ])('without permission says what to tap in %s', async (name, userAgent, step) => {
    await open(fakePages.createRequest(), { permissions: [], ...(userAgent ? { userAgent } : {}) })
    await button('Usar mi ubicación').tap()
    await text('no nos dio permiso').waitFor()
    expect(await text(step).isVisible()).toBe(true)
    expect(await readHiddenField('metodo')).toBe('')
    await revisar(`gps-denegado-${name}`)
  })

  it('works without JavaScript, by a link or a description', FULL_RUN_ONLY, async () => {
    fakePages.responder(({ enlace }) =>
      enlace?.includes('example')
        ? { ok: false, motivo: 'enlace_invalido', mensaje: 'Ese enlace no es de un mapa.' }
        : undefined,
    )
    await open(fakePages.createRequest(), { javaScriptEnabled: false })
    for (const target of ['Usar mi ubicación', 'Atrás']) expect(await button(target).count()).toBe(0)
    await captureScreen(pagina(), 'ubicacion-sin-js')
    await enlace().fill('https://example.com/x')
    await referencia().fill('portón verde')
    await button('Confirmar').tap()
    await pagina().getByRole('alert').getByText('Ese enlace no es de un mapa.').waitFor()
    expect(await readFocused()).toBe('errores')
    expect([await enlace().inputValue(), await referencia().inputValue()]).toEqual([
      'https://example.com/x',
      'portón verde',
    ])
    await captureScreen(pagina(), 'ubicacion-sin-js-error')
    await enlace().fill('https://maps.app.goo.gl/abc')
    await button('Confirmar').tap()
    await waitForThanks()
    expect(fakePages.confirmations.at(-1)).toEqual({
      acceptsDistance: false,
      cambiar: false,
      method: 'enlace',
      enlace: 'https://maps.app.goo.gl/abc',
      referencia: 'portón verde',
    })
    await pagina().goto(`${url}/u/${fakePages.createRequest()}`)
    await referencia().fill('Aldea El Carmen, casa azul tras la escuela')
    await button('No tengo enlace: basta con la descripción').tap()
    await waitForThanks()
    expect(fakePages.confirmations.at(-1)).toMatchObject({ method: 'descripcion' })
  })

  it('shows the pin of a link that names its point, and of a wrong link the error alone', async () => {
    await open(fakePages.createRequest())
    await button('Pegar un enlace de mapa').tap()
    expect(await readFocused()).toBe('enlace')
    await enlace().fill('https://example.com/')
    await button('Confirmar').tap()
    await text('«example.com» no es un mapa admitido').waitFor()
    expect([await readFocused(), await enlace().getAttribute('aria-invalid'), await readHiddenField('metodo')]).toEqual(
      ['enlace', 'true', ''],
    )
    expect(
      await evaluate(
        `[...document.querySelectorAll('.estado')].filter((e) => e.checkVisibility()).map((e) => e.innerText).join('')`,
      ),
    ).toBe('')
    expect(await pagina().locator('#mapa').isVisible()).toBe(false)
    expect(fakePages.confirmations).toEqual([])
    await revisar('enlace-invalido')
    await enlace().fill(ENLACE)
    await waitForTiles()
    expect(await text('no es un mapa admitido').isVisible()).toBe(false)
    expect([await readHiddenField('lat'), await readHiddenField('metodo')]).toEqual(['14.6341000', 'enlace'])
    await waitForStillMap()
    const { y, height } = (await pagina().locator('#mapa').boundingBox())!
    expect([y >= 0, y + height <= (await readConfirmTop())]).toEqual([true, true])
    await revisar('enlace')
    await button('Confirmar').tap()
    await waitForThanks()
    expect(fakePages.confirmations).toMatchObject([{ method: 'enlace', enlace: ENLACE }])
  })

  it('says what the server refuses at its field, with what was filled in', FULL_RUN_ONLY, async () => {
    fakePages.responder(() => ({ ok: false, motivo: 'enlace_invalido', mensaje: 'Ese enlace ya no sirve.' }))
    await open(fakePages.createRequest())
    await button('Pegar un enlace de mapa').tap()
    await enlace().fill('https://maps.app.goo.gl/abc')
    await button('Confirmar').tap()
    await pagina().getByRole('link', { name: 'Ese enlace ya no sirve.' }).tap()
    expect([await readFocused(), await enlace().inputValue()]).toEqual(['enlace', 'https://maps.app.goo.gl/abc'])
    await revisar('enlace-rechazado')
  })

  it('takes a description alone, if it is one', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest())
    await button('Describirlo con palabras').tap()
    await referencia().fill('casa')
    await button('Confirmar').tap()
    await text('Describa el lugar con más detalle').waitFor()
    expect([await readFocused(), await referencia().getAttribute('aria-invalid')]).toEqual(['referencia', 'true'])
    await revisar('descripcion-corta')
    await referencia().fill('Aldea El Carmen, casa azul tras la escuela')
    await button('Confirmar').tap()
    await waitForThanks()
    expect(fakePages.confirmations).toMatchObject([
      { method: 'descripcion', referencia: 'Aldea El Carmen, casa azul tras la escuela' },
    ])
  })

  it('goes back to the choice by the phone’s own button, and chooses anew', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest(), optionsFor(9))
    await button('Usar mi ubicación').tap()
    await titulo('¿Es aquí?').waitFor()
    await pagina().goBack()
    await titulo('¿Dónde le entregamos su paquete?').waitFor()
    await button('Describirlo con palabras').tap()
    expect([await readHiddenField('metodo'), await readHiddenField('lat')]).toEqual(['descripcion', ''])
    await button('Atrás').tap()
    await titulo('¿Dónde le entregamos su paquete?').waitFor()
  })

  it(
    'keeps what was filled in when there is no network, says so in full view, and sends it when there is',
    FULL_RUN_ONLY,
    async () => {
      await open(fakePages.createRequest(), optionsFor(9))
      await button('Usar mi ubicación').tap()
      await text('precisión de unos 9 metros').waitFor()
      await waitForStillMap()
      const before = await readConfirmTop()
      await context().setOffline(true)
      await button('Confirmar').tap()
      await text('No hay señal').waitFor()
      const caja = (await text('No hay señal').boundingBox())!
      expect(caja.y).toBeGreaterThanOrEqual(0)
      expect(caja.y + caja.height).toBeLessThanOrEqual(740)
      expect(await readConfirmTop()).toBe(before)
      await revisar('sin-red')
      expect(fakePages.confirmations).toEqual([])
      expect(await readHiddenField('lat')).toBe('14.6400000')
      await context().setOffline(false)
      await titulo('¡Gracias, María!').waitFor()
      expect(fakePages.confirmations).toHaveLength(1)
      expect(fakePages.confirmations[0]).toMatchObject({ lat: 14.64, lng: -90.61 })
    },
  )

  it('remembers what was filled in when Android drops the page', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest())
    await button('Pegar un enlace de mapa').tap()
    await enlace().fill('https://maps.app.goo.gl/abc')
    await pagina().reload()
    await titulo('Pegue el enlace').waitFor()
    expect([await enlace().inputValue(), await readHiddenField('metodo')]).toEqual([
      'https://maps.app.goo.gl/abc',
      'enlace',
    ])
  })

  it('asks about a place far away', FULL_RUN_ONLY, async () => {
    fakePages.responder(({ acceptsDistance }) =>
      acceptsDistance ? undefined : { ok: false, motivo: 'lejos', distancia_km: 171.6 },
    )
    await open(fakePages.createRequest(), optionsFor(9))
    await button('Usar mi ubicación').tap()
    await titulo('¿Es aquí?').waitFor()
    await button('Confirmar').tap()
    await titulo('¿Seguro que es ahí?').waitFor()
    await revisar('lejos')
    await button(/No, quiero/).tap()
    await titulo('¿Es aquí?').waitFor()
    expect(await readHiddenField('lat')).toBe('14.6400000')
    await button('Confirmar').tap()
    await button(/^Sí/).tap()
    await titulo('¡Gracias, María!').waitFor()
    expect(fakePages.confirmations.map(({ acceptsDistance }) => acceptsDistance)).toEqual([false, false, true])
  })

  it('says the place anew afterwards, by the same link, and leads to the tracking', async () => {
    await open(fakePages.createRequest(), optionsFor(9))
    await button('Usar mi ubicación').tap()
    await titulo('¿Es aquí?').waitFor()
    await button('Confirmar').tap()
    await waitForThanks()
    const links = pagina().getByRole('link')
    expect(await links.filter({ hasText: 'Seguir mi paquete' }).getAttribute('href')).toBe('../r/7K3M9QX2A1B4')
    await links.filter({ hasText: 'Cambiar el lugar' }).tap()
    await text('Diga otra vez el lugar').waitFor()
    await revisar('cambiar')
    await button('Describirlo con palabras').tap()
    await referencia().fill('Aldea El Carmen, casa azul tras la escuela')
    await button('Confirmar').tap()
    await titulo('¿Quitamos el lugar del mapa?').waitFor()
    await revisar('quitar-el-lugar')
    await button(/^Quitar el lugar/).tap()
    await waitForThanks()
    expect(fakePages.confirmations.map(({ method, cambiar: change }) => [method, change])).toEqual([
      ['gps', false],
      ['descripcion', true],
      ['descripcion', true],
    ])
    await revisar('gracias-cambiado')
  })

  it('shows that a link is being read, and by itself what became of it', async () => {
    const confirmado = { lat: null, lng: null, precision_m: null, referencia: null, enlace: ENLACE }
    const token = fakePages.createRequest({
      estado: 'confirmada',
      correctable: true,
      confirmed: { ...confirmado, lectura: 'leyendo' },
    })
    await open(token)
    await titulo('Estamos leyendo su enlace').waitFor()
    await revisar('leyendo-el-enlace')
    fakePages.change(token, { confirmed: { ...confirmado, lectura: 'sin_lugar' } })
    await text('no lleva a un lugar del mapa').waitFor()
    expect(await readHiddenField('cambiar')).toBe('1')
    await revisar('enlace-sin-lugar')
  })

  it('does not mind a map that opens after the place was sent', async () => {
    const { promise: puedeAbrir, resolve: allowOpening } = Promise.withResolvers<void>()
    await open(fakePages.createRequest(), optionsFor(9))
    await context().route(/mapa[^/]*\.js/, async (path) => {
      await puedeAbrir
      await path.continue()
    })
    await button('Usar mi ubicación').tap()
    await titulo('¿Es aquí?').waitFor()
    await button('Confirmar').tap()
    await waitForThanks()
    const mapScript = pagina().waitForResponse((response) => /mapa[^/]*\.js/.test(response.url()))
    allowOpening()
    await (await mapScript).finished()
    // The page complains, if it does, before it draws again twice.
    await evaluate('new Promise((listo) => requestAnimationFrame(() => requestAnimationFrame(listo)))')
    await new Promise((resolve) => setTimeout(resolve, 300))
  })

  it('offers another link where one is no longer good', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest({ estado: 'vencida' }))
    await revisar('vencida')
    await button('Mandarme otro enlace').tap()
    await titulo('Le mandamos otro enlace').waitFor()
    expect(await text(/teléfono que termina en 76/).isVisible()).toBe(true)
    expect(fakePages.others).toHaveLength(1)
    await revisar('otro-enlace')
  })

  it.each(['cerrada', 'desconocida'] as const)('is readable when the request is %s', FULL_RUN_ONLY, async (estado) => {
    await open(estado === 'desconocida' ? 'desconocido0000000000A' : fakePages.createRequest({ estado }))
    await revisar(estado)
  })

  it('breaks no word in letters twice as large', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest(), optionsFor(1_800))
    const look = async (name: string) => {
      await captureScreen(pagina(), `ubicacion-200-${name}`)
      expect([name, await findBrokenWords()]).toEqual([name, []])
      expect(await evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    }
    await checkLargeText(pagina())
    await look('elegir')
    await button('Usar mi ubicación').tap()
    await text('Esta posición puede fallar').waitFor()
    await button('Confirmar').tap()
    await look('gps')
    await button('Atrás').tap()
    await button('Pegar un enlace de mapa').tap()
    await look('enlace')
    await button('Atrás').tap()
    await button('Describirlo con palabras').tap()
    await referencia().fill('Aldea El Carmen, casa azul tras la escuela')
    await look('descripcion')
    await button('Confirmar').tap()
    await waitForThanks()
    await look('gracias')
  })

  it('keeps the button in reach of the thumb, and covers little with letters twice as large', async () => {
    await open(fakePages.createRequest(), optionsFor(8))
    await button('Usar mi ubicación').tap()
    await waitForTiles()
    const isInWindow = () =>
      evaluate<boolean>(`(() => {
      const { top, bottom } = document.querySelector('.barra .principal').getBoundingClientRect()
      return scrollY === 0 && document.documentElement.scrollHeight > innerHeight && top > 600 && bottom <= innerHeight
    })()`)
    await text('Mover el pin con botones').tap()
    await evaluate('scrollTo(0, 0)')
    expect(await isInWindow()).toBe(true)
    await checkBars(pagina())
    await pagina().setViewportSize({ width: 740, height: 360 })
    expect(await evaluate(`getComputedStyle(document.querySelector('.barra')).position`)).toBe('static')
  })

  it('survives long names and a wide screen', FULL_RUN_ONLY, async () => {
    const token = fakePages.createRequest({
      comercio: 'Comercializadora Centroamericana de Electrodomésticos, S. A.',
      contenido: 'Refrigeradora de 12 pies, estufa de 6 hornillas y lavadora de 18 kg, con sus accesorios y manuales',
      destinatario: 'Maximilianoooooooooooooooooooooooooooooooooooooo',
      direccion: `${'Kilómetro 14.5 carretera a El Salvador, condominio Las Luces, casa 12, '.repeat(2)}`,
      municipio: 'San Miguel Ixtahuacán',
      departamento: 'San Marcos',
      centre: null,
    })
    await open(token)
    await revisar('largo')
    await button('Señalarlo en el mapa').tap()
    await waitForTiles()
    await pagina().setViewportSize({ width: 1280, height: 800 })
    await captureScreen(pagina(), 'ubicacion-ancho')
    // 400 % zoom of a phone.
    await pagina().setViewportSize({ width: 320, height: 256 })
    expect(await evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  })
})
