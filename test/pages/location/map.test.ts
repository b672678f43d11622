import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../../browser.ts'
import { FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import { optionsFor, PHONE_POSITION, useRecipientPage } from './phone.ts'
import { fakePages, MIXCO, tileReferers, tileServer, tilesUrl, url, useUbicacionService } from './service.ts'

useUbicacionService()

describe.skipIf(!hasBrowser)('a place on the map', () => {
  const {
    open,
    button,
    waitForTiles,
    context,
    readFocused,
    evaluate,
    waitForThanks,
    readHiddenField,
    pagina,
    requestedUrls: sentRequests,
    waitForStillMap,
    check: revisar,
    texto: text,
    titulo,
    tapMap,
    readConfirmTop,
  } = useRecipientPage()

  it('confirms the phone’s position in two taps, without scrolling, by a button that never moves', async () => {
    await open(fakePages.createRequest(), optionsFor(12))
    // Whose parcel it is, what is in it and which; and all the ways, at once.
    for (const target of ['Zapatería El Paso', '2 pares de zapatos', '7K3M-9QX2-A1B4'])
      expect(await text(target).isVisible()).toBe(true)
    const bottom = await evaluate<number>(
      `Math.max(...[...document.querySelectorAll('.formas button')].map((b) => b.getBoundingClientRect().bottom))`,
    )
    expect(bottom).toBeLessThanOrEqual(740)
    await button('Usar mi ubicación').tap()
    await titulo('¿Es aquí?').waitFor()
    const before = await readConfirmTop()
    await waitForTiles()
    await text('precisión de unos 12 metros').waitFor()
    await waitForStillMap()
    expect([await readConfirmTop(), await evaluate('scrollY')]).toEqual([before, 0])
    expect(before).toBeLessThanOrEqual(740 - 64)
    // The pin stands where the phone says, within its circle.
    expect(await pagina().locator('.pin').isVisible()).toBe(true)
    expect(await pagina().locator('#mapa .precision').count()).toBe(1)
    await revisar('gps')
    await pagina().mouse.wheel(0, 300)
    await expect.poll(() => evaluate<number>('scrollY')).toBeGreaterThan(0)
    expect(await readConfirmTop()).toBe(before)
    await button('Confirmar').tap()
    await titulo('¡Gracias, María!').waitFor()
    expect(fakePages.confirmations).toEqual([
      {
        acceptsDistance: false,
        cambiar: false,
        method: 'gps',
        lat: PHONE_POSITION.latitude,
        lng: PHONE_POSITION.longitude,
        precision_m: 12,
      },
    ])
    expect(await readFocused()).toBe('H1')
    expect(await evaluate('sessionStorage.length')).toBe(0)
    await revisar('gracias')
    await pagina().reload()
    await titulo('¡Gracias, María!').waitFor()
    // How the door looks is asked now, and can be put right later.
    const doorHints = pagina().getByLabel('¿Cómo se reconoce la puerta?')
    const save = button('Guardar las señas')
    await doorHints.fill('portón verde, frente a la tienda')
    await save.tap()
    await text('Cambiar las señas').waitFor()
    expect([await readFocused(), fakePages.words]).toEqual(['H1', ['portón verde, frente a la tienda']])
    await revisar('gracias-con-senas')
    await text('Cambiar las señas').tap()
    expect(await doorHints.inputValue()).toBe('portón verde, frente a la tienda')
    await doorHints.fill('portón negro')
    await save.tap()
    await pagina().locator('dd', { hasText: 'portón negro' }).waitFor()
    expect(fakePages.confirmations).toHaveLength(1)
  })

  it('asks to move the pin of a position that is no door, or to say that it will do', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest(), optionsFor(1_800))
    await button('Usar mi ubicación').tap()
    await text('Esta posición puede fallar por 1.8 km').waitFor()
    await waitForTiles()
    await button('Confirmar').tap()
    await text('Ponga el pin en su puerta, o marque que está bien.').waitFor()
    expect(await readFocused()).toBe('aproximado')
    expect(fakePages.confirmations).toEqual([])
    await revisar('gps-impreciso')
    // The pin that somebody put is as exact as he put it.
    await waitUntil(async () => {
      await tapMap(200, 60)
      return (await readHiddenField('metodo')) === 'mapa'
    })
    expect(await text('Esta posición puede fallar').isVisible()).toBe(false)
    expect(await pagina().locator('#mapa .precision').count()).toBe(0)
    await button('Atrás').tap()
    await button('Usar mi ubicación').tap()
    await pagina().getByLabel('Está bien así, aunque sea cerca').check()
    await button('Confirmar').tap()
    await waitForThanks()
    expect(fakePages.confirmations).toMatchObject([{ method: 'gps', precision_m: 1_800 }])
    await text('Cerca del punto que dio su teléfono, a 1.8 km o menos.').waitFor()
  })

  it('prefers a better position', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest(), optionsFor(1_450))
    await button('Usar mi ubicación').tap()
    await text('Seguimos buscando').waitFor()
    await context().setGeolocation({ latitude: 14.641, longitude: -90.611, accuracy: 18 })
    await text('precisión de unos 18 metros').waitFor()
    expect([await readHiddenField('lat'), await readHiddenField('precision_m')]).toEqual(['14.6410000', '18'])
    expect(await text('Esta posición puede fallar').isVisible()).toBe(false)
  })

  it('goes on looking for a better position when the phone fails after the first one', async () => {
    await open(fakePages.createRequest())
    await evaluate(`navigator.geolocation.watchPosition = (hallar, fallar) => {
      hallar({ coords: { latitude: 14.64, longitude: -90.61, accuracy: 1450 } })
      setTimeout(() => {
        fallar({ code: 2, PERMISSION_DENIED: 1 })
        document.title = 'falló'
      })
      return 1
    }, 0`)
    await button('Usar mi ubicación').tap()
    await expect.poll(() => evaluate('document.title')).toBe('falló')
    expect(await evaluate('document.querySelector("#estado-gps").textContent')).toMatch(/^Buscando/)
  })

  it('asks again whether a position will do when a new one takes its place', async () => {
    await open(fakePages.createRequest(), optionsFor(1_800))
    const aproximado = pagina().getByLabel('Está bien así, aunque sea cerca')
    await button('Usar mi ubicación').tap()
    await aproximado.check()
    await button('Atrás').tap()
    await context().setGeolocation({ ...PHONE_POSITION, accuracy: 2_500 })
    await button('Usar mi ubicación').tap()
    await text('Esta posición puede fallar por 2.5 km').waitFor()
    expect(await aproximado.isChecked()).toBe(false)
  })

  it('shows a map, and takes the pin where it is put', async () => {
    tileReferers.length = 0
    await open(fakePages.createRequest())
    expect(sentRequests.some((one) => one.startsWith(tilesUrl))).toBe(false)
    await button('Señalarlo en el mapa').tap()
    const before = await readConfirmTop()
    await waitForTiles()
    await waitForStillMap()
    expect(await readConfirmTop()).toBe(before)
    await button('Confirmar').tap()
    await text('El pin todavía no está en su puerta. Mueva el mapa, o toque su casa en él.').waitFor()
    expect([await readHiddenField('metodo'), await readConfirmTop()]).toEqual(['', before])
    await revisar('falta-pin')
    await tapMap(220, 220)
    await text(/El pin está a .* al sureste del centro de Mixco/).waitFor()
    const [lat, lng] = [Number(await readHiddenField('lat')), Number(await readHiddenField('lng'))]
    expect([await readHiddenField('metodo'), lat < MIXCO.lat, lng > MIXCO.lng]).toEqual(['mapa', true, true])
    const pin = await pagina().locator('.pin').boundingBox()
    const mouse = pagina().mouse
    await mouse.move(pin!.x + 24, pin!.y + 24)
    await mouse.down()
    await mouse.move(pin!.x + 24, pin!.y + 84, { steps: 8 })
    await mouse.up()
    // The ground goes south below the pin, which stays in the middle.
    await expect.poll(async () => Number(await readHiddenField('lat'))).toBeGreaterThan(lat)
    expect(await pagina().locator('.pin').boundingBox()).toEqual(pin)
    const map = (await pagina().locator('#mapa').boundingBox())!
    expect([pin!.x + 24 - map.x, pin!.y + 58 - map.y]).toEqual([map.width / 2, map.height / 2])
    // Zooming drops tiles that are on their way.
    for (const name of ['Acercar el mapa', 'Acercar el mapa', 'Alejar el mapa']) await button(name).tap()
    await waitForStillMap()
    await text('Mover el pin con botones').tap()
    const preview = Number(await readHiddenField('lng'))
    await button('Este →').tap()
    expect(Number(await readHiddenField('lng'))).toBeGreaterThan(preview)
    await waitForStillMap()
    await revisar('mapa')
    expect(await text('© OpenStreetMap').count()).toBe(1)
    // OpenStreetMap wants to know the site. The token is none of its business.
    expect(new Set(tileReferers)).toEqual(new Set([`${url}/`]))
    await button('Confirmar').tap()
    await waitForThanks()
    expect(fakePages.confirmations[0]).toMatchObject({ method: 'mapa', acceptsDistance: false })
    // The thanks show the place, with tiles that are asked for alike.
    const areTilesShown = `(() => {
      const tiles = [...document.querySelectorAll('.croquis img')]
      return tiles.length > 1 && tiles.every((tile) => tile.naturalWidth > 0)
    })()`
    await expect.poll(() => evaluate(areTilesShown)).toBe(true)
    expect(new Set(tileReferers)).toEqual(new Set([`${url}/`]))
  })

  it('takes no blind tap: without tiles the other ways lead', async () => {
    tileServer.isFailing = true
    await open(fakePages.createRequest())
    await button('Señalarlo en el mapa').tap()
    const before = await readConfirmTop()
    await text('No se pudo cargar el mapa').waitFor()
    const { x, y } = await evaluate<{ x: number; y: number }>(
      `(({ x, y }) => ({ x: x + 150, y: y + 5 }))(document.querySelector('#con-mapa').getBoundingClientRect())`,
    )
    for (const abajo of [60, 120, 180]) await pagina().touchscreen.tap(x, y + abajo - 40)
    expect([await pagina().locator('.pin').isVisible(), await readHiddenField('metodo')]).toEqual([false, ''])
    expect(await readConfirmTop()).toBe(before)
    await revisar('sin-mapa')
    await button('Confirmar').tap()
    expect(fakePages.confirmations).toEqual([])
    tileServer.isFailing = false
    await pagina().locator('#con-mapa').getByRole('button', { name: 'Cargar el mapa otra vez' }).tap()
    await waitForTiles()
    expect(await text('No se pudo cargar el mapa').isVisible()).toBe(false)
  })

  it('takes a place where the map’s picture hasn’t come once it comes', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest())
    await button('Señalarlo en el mapa').tap()
    await waitForTiles()
    await waitForStillMap()
    await tapMap(100, 100)
    await expect.poll(() => readHiddenField('lat')).not.toBe('')
    await waitForStillMap()
    // As while the tiles of another place are on their way.
    await evaluate(
      `document.querySelectorAll('.leaflet-tile').forEach((una) => una.classList.remove('leaflet-tile-loaded'))`,
    )
    await tapMap(200, 180)
    await text('Ahí todavía no se ve el mapa').waitFor()
    expect(await readHiddenField('lat')).toBe('')
    await button('Confirmar').tap()
    await text('Ahí todavía no se ve el mapa').waitFor()
    expect(fakePages.confirmations).toEqual([])
    await evaluate(`document.querySelectorAll('.leaflet-tile').forEach((una) => {
      const { src } = una
      una.src = ''
      una.src = src
    })`)
    await expect.poll(() => readHiddenField('lat')).not.toBe('')
    expect(await text('Ahí todavía no se ve el mapa').isVisible()).toBe(false)
  })

  it('can be done with the keyboard alone', FULL_RUN_ONLY, async () => {
    await open(fakePages.createRequest())
    const { keyboard } = pagina()
    const moveFocusTo = async (target: string) => {
      for (let i = 0; i < 30 && (await readFocused()) !== target; i++) await keyboard.press('Tab')
      expect(await readFocused()).toBe(target)
    }
    await moveFocusTo('gps')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await waitForTiles()
    await waitForStillMap()
    expect(await readFocused()).toBe('titulo')
    await moveFocusTo('pin')
    for (const keystroke of ['ArrowUp', 'ArrowUp', 'Shift+ArrowLeft', '+']) await keyboard.press(keystroke)
    expect(Number(await readHiddenField('lat'))).toBeGreaterThan(MIXCO.lat)
    expect(Number(await readHiddenField('lng'))).toBeLessThan(MIXCO.lng)
    await text(/al noroeste|al oeste/).waitFor()
    await moveFocusTo('atras')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await waitForThanks()
    await moveFocusTo('referencia')
    await keyboard.type('casa de dos pisos')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await pagina().locator('dd', { hasText: 'casa de dos pisos' }).waitFor()
    expect(fakePages.confirmations).toMatchObject([{ method: 'mapa' }])
  })
})
