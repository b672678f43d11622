import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../../browser.ts'
import { FULL_RUN_ONLY, hasta } from '../../factories.ts'
import { en, PHONE_POSITION, useRecipientPage } from './phone.ts'
import { fakePages, MIXCO, tileReferers, tileServer, tilesUrl, url, useUbicacionService } from './service.ts'

useUbicacionService()

describe.skipIf(!hasBrowser)('a place on the map', () => {
  const {
    open: abrir,
    button: boton,
    conMosaicos,
    context: contexto,
    enfocado,
    evaluar,
    gracias,
    oculto,
    pagina,
    requestedUrls: pedidas,
    quieto,
    check: revisar,
    texto,
    titulo,
    tocarMapa,
    alturaDeConfirmar,
  } = useRecipientPage()

  it('confirms the phone’s position in two taps, without scrolling, by a button that never moves', async () => {
    await abrir(fakePages.createRequest(), en(12))
    // Whose parcel it is, what is in it and which; and all the ways, at once.
    for (const cual of ['Zapatería El Paso', '2 pares de zapatos', '7K3M-9QX2-A1B4'])
      expect(await texto(cual).isVisible()).toBe(true)
    const bajo = await evaluar<number>(
      `Math.max(...[...document.querySelectorAll('.formas button')].map((b) => b.getBoundingClientRect().bottom))`,
    )
    expect(bajo).toBeLessThanOrEqual(740)
    await boton('Usar mi ubicación').tap()
    await titulo('¿Es aquí?').waitFor()
    const antes = await alturaDeConfirmar()
    await conMosaicos()
    await texto('precisión de unos 12 metros').waitFor()
    await quieto()
    expect([await alturaDeConfirmar(), await evaluar('scrollY')]).toEqual([antes, 0])
    expect(antes).toBeLessThanOrEqual(740 - 64)
    // The pin stands where the phone says, within its circle.
    expect(await pagina().locator('.pin').isVisible()).toBe(true)
    expect(await pagina().locator('#mapa .precision').count()).toBe(1)
    await revisar('gps')
    await pagina().mouse.wheel(0, 300)
    await expect.poll(() => evaluar<number>('scrollY')).toBeGreaterThan(0)
    expect(await alturaDeConfirmar()).toBe(antes)
    await boton('Confirmar').tap()
    await titulo('¡Gracias, María!').waitFor()
    expect(fakePages.confirmaciones).toEqual([
      {
        seguro: false,
        cambiar: false,
        method: 'gps',
        lat: PHONE_POSITION.latitude,
        lng: PHONE_POSITION.longitude,
        precision_m: 12,
      },
    ])
    expect(await enfocado()).toBe('H1')
    expect(await evaluar('sessionStorage.length')).toBe(0)
    await revisar('gracias')
    await pagina().reload()
    await titulo('¡Gracias, María!').waitFor()
    // How the door looks is asked now, and can be put right later.
    const senas = pagina().getByLabel('¿Cómo se reconoce la puerta?')
    const guardar = boton('Guardar las señas')
    await senas.fill('portón verde, frente a la tienda')
    await guardar.tap()
    await texto('Cambiar las señas').waitFor()
    expect([await enfocado(), fakePages.words]).toEqual(['H1', ['portón verde, frente a la tienda']])
    await revisar('gracias-con-senas')
    await texto('Cambiar las señas').tap()
    expect(await senas.inputValue()).toBe('portón verde, frente a la tienda')
    await senas.fill('portón negro')
    await guardar.tap()
    await pagina().locator('dd', { hasText: 'portón negro' }).waitFor()
    expect(fakePages.confirmaciones).toHaveLength(1)
  })

  it('asks to move the pin of a position that is no door, or to say that it will do', FULL_RUN_ONLY, async () => {
    await abrir(fakePages.createRequest(), en(1_800))
    await boton('Usar mi ubicación').tap()
    await texto('Esta posición puede fallar por 1.8 km').waitFor()
    await conMosaicos()
    await boton('Confirmar').tap()
    await texto('Mueva el pin hasta su puerta, o marque que está bien.').waitFor()
    expect(await enfocado()).toBe('aproximado')
    expect(fakePages.confirmaciones).toEqual([])
    await revisar('gps-impreciso')
    // The pin that somebody put is as exact as he put it.
    await hasta(async () => {
      await tocarMapa(200, 60)
      return (await oculto('metodo')) === 'mapa'
    })
    expect(await texto('Esta posición puede fallar').isVisible()).toBe(false)
    expect(await pagina().locator('#mapa .precision').count()).toBe(0)
    await boton('Atrás').tap()
    await boton('Usar mi ubicación').tap()
    await pagina().getByLabel('Está bien así, aunque sea cerca').check()
    await boton('Confirmar').tap()
    await gracias()
    expect(fakePages.confirmaciones).toMatchObject([{ method: 'gps', precision_m: 1_800 }])
    await texto('Cerca del punto que dio su teléfono, a 1.8 km o menos.').waitFor()
  })

  it('prefers a better position', FULL_RUN_ONLY, async () => {
    await abrir(fakePages.createRequest(), en(1_450))
    await boton('Usar mi ubicación').tap()
    await texto('Seguimos buscando').waitFor()
    await contexto().setGeolocation({ latitude: 14.641, longitude: -90.611, accuracy: 18 })
    await texto('precisión de unos 18 metros').waitFor()
    expect([await oculto('lat'), await oculto('precision_m')]).toEqual(['14.6410000', '18'])
    expect(await texto('Esta posición puede fallar').isVisible()).toBe(false)
  })

  it('goes on looking for a better position when the phone fails after the first one', async () => {
    await abrir(fakePages.createRequest())
    await evaluar(`navigator.geolocation.watchPosition = (hallar, fallar) => {
      hallar({ coords: { latitude: 14.64, longitude: -90.61, accuracy: 1450 } })
      setTimeout(() => {
        fallar({ code: 2, PERMISSION_DENIED: 1 })
        document.title = 'falló'
      })
      return 1
    }, 0`)
    await boton('Usar mi ubicación').tap()
    await expect.poll(() => evaluar('document.title')).toBe('falló')
    expect(await evaluar('document.querySelector("#estado-gps").textContent')).toMatch(/^Buscando/)
  })

  it('asks again whether a position will do when a new one takes its place', async () => {
    await abrir(fakePages.createRequest(), en(1_800))
    const aproximado = pagina().getByLabel('Está bien así, aunque sea cerca')
    await boton('Usar mi ubicación').tap()
    await aproximado.check()
    await boton('Atrás').tap()
    await contexto().setGeolocation({ ...PHONE_POSITION, accuracy: 2_500 })
    await boton('Usar mi ubicación').tap()
    await texto('Esta posición puede fallar por 2.5 km').waitFor()
    expect(await aproximado.isChecked()).toBe(false)
  })

  it('shows a map, and takes the pin where it is put', async () => {
    tileReferers.length = 0
    await abrir(fakePages.createRequest())
    expect(pedidas.some((una) => una.startsWith(tilesUrl))).toBe(false)
    await boton('Señalarlo en el mapa').tap()
    const antes = await alturaDeConfirmar()
    await conMosaicos()
    await quieto()
    expect(await alturaDeConfirmar()).toBe(antes)
    await boton('Confirmar').tap()
    await texto('Toque su casa en el mapa para poner el pin.').waitFor()
    expect([await oculto('metodo'), await alturaDeConfirmar()]).toEqual(['', antes])
    await revisar('falta-pin')
    await tocarMapa(220, 220)
    await texto(/El pin está a .* al sureste del centro de Mixco/).waitFor()
    const [lat, lng] = [Number(await oculto('lat')), Number(await oculto('lng'))]
    expect([await oculto('metodo'), lat < MIXCO.lat, lng > MIXCO.lng]).toEqual(['mapa', true, true])
    const caja = (await pagina().locator('.pin').boundingBox())!
    const raton = pagina().mouse
    await raton.move(caja.x + 24, caja.y + 24)
    await raton.down()
    await raton.move(caja.x + 24, caja.y - 60, { steps: 8 })
    await raton.up()
    expect(Number(await oculto('lat'))).toBeGreaterThan(lat)
    // Zooming drops tiles that are on their way.
    for (const nombre of ['Acercar el mapa', 'Acercar el mapa', 'Alejar el mapa']) await boton(nombre).tap()
    await quieto()
    await texto('Mover el pin con botones').tap()
    const previa = Number(await oculto('lng'))
    await boton('Este →').tap()
    expect(Number(await oculto('lng'))).toBeGreaterThan(previa)
    await quieto()
    await revisar('mapa')
    expect(await texto('© OpenStreetMap').count()).toBe(1)
    // OpenStreetMap wants to know the site. The token is none of its business.
    expect(new Set(tileReferers)).toEqual(new Set([`${url}/`]))
    await boton('Confirmar').tap()
    await gracias()
    expect(fakePages.confirmaciones[0]).toMatchObject({ method: 'mapa', seguro: false })
  })

  it('takes no blind tap: without tiles the other ways lead', async () => {
    tileServer.fallan = true
    await abrir(fakePages.createRequest())
    await boton('Señalarlo en el mapa').tap()
    const antes = await alturaDeConfirmar()
    await texto('No se pudo cargar el mapa').waitFor()
    const { x, y } = await evaluar<{ x: number; y: number }>(
      `(({ x, y }) => ({ x: x + 150, y: y + 5 }))(document.querySelector('#con-mapa').getBoundingClientRect())`,
    )
    for (const abajo of [60, 120, 180]) await pagina().touchscreen.tap(x, y + abajo - 40)
    expect([await pagina().locator('.pin').isVisible(), await oculto('metodo')]).toEqual([false, ''])
    expect(await alturaDeConfirmar()).toBe(antes)
    await revisar('sin-mapa')
    await boton('Confirmar').tap()
    expect(fakePages.confirmaciones).toEqual([])
    tileServer.fallan = false
    await pagina().locator('#con-mapa').getByRole('button', { name: 'Cargar el mapa otra vez' }).tap()
    await conMosaicos()
    expect(await texto('No se pudo cargar el mapa').isVisible()).toBe(false)
  })

  it('puts no pin where the map’s picture hasn’t come', FULL_RUN_ONLY, async () => {
    await abrir(fakePages.createRequest())
    await boton('Señalarlo en el mapa').tap()
    await conMosaicos()
    await quieto()
    await tocarMapa(100, 100)
    await expect.poll(() => oculto('metodo')).toBe('mapa')
    const puesto = await oculto('lat')
    // As while the tiles of another place are on their way.
    await evaluar(
      `document.querySelectorAll('.leaflet-tile').forEach((una) => una.classList.remove('leaflet-tile-loaded'))`,
    )
    await tocarMapa(250, 200)
    await texto('Ahí todavía no se ve el mapa').waitFor()
    expect(await oculto('lat')).toBe(puesto)
  })

  it('can be done with the keyboard alone', FULL_RUN_ONLY, async () => {
    await abrir(fakePages.createRequest())
    const { keyboard } = pagina()
    const llegarA = async (cual: string) => {
      for (let i = 0; i < 30 && (await enfocado()) !== cual; i++) await keyboard.press('Tab')
      expect(await enfocado()).toBe(cual)
    }
    await llegarA('gps')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await conMosaicos()
    await quieto()
    expect(await enfocado()).toBe('titulo')
    await llegarA('pin')
    for (const tecla of ['ArrowUp', 'ArrowUp', 'Shift+ArrowLeft', '+']) await keyboard.press(tecla)
    expect(Number(await oculto('lat'))).toBeGreaterThan(MIXCO.lat)
    expect(Number(await oculto('lng'))).toBeLessThan(MIXCO.lng)
    await texto(/al noroeste|al oeste/).waitFor()
    await llegarA('atras')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await gracias()
    await llegarA('referencia')
    await keyboard.type('casa de dos pisos')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await pagina().locator('dd', { hasText: 'casa de dos pisos' }).waitFor()
    expect(fakePages.confirmaciones).toMatchObject([{ method: 'mapa' }])
  })
})
