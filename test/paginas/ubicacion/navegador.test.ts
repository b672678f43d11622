import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { COMPLETO, hasta } from '../../fabricas.ts'
import { abrirContexto, hayNavegador } from '../../navegador.ts'
import { evaluarEn, revisarPagina } from '../revisar.ts'
import { falso, MIXCO, mosaico, remitentes, url, usarServicio } from './servicio.ts'

usarServicio()

describe.skipIf(!hayNavegador)('in a browser', () => {
  let contexto: BrowserContext
  let pagina: Page
  const quejas: string[] = []
  const pedidas: string[] = []

  afterEach(async () => {
    await contexto?.close()
    expect([...new Set(quejas)]).toEqual([])
    expect(pedidas.filter((una) => !una.startsWith(`${url}/`) && !una.startsWith(`${mosaico}/`))).toEqual([])
  })

  async function abrir(token: string, opciones: BrowserContextOptions = {}) {
    quejas.length = 0
    pedidas.length = 0
    contexto = await abrirContexto({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
      ...opciones,
    })
    contexto.on('request', (solicitud) => pedidas.push(solicitud.url()))
    contexto.on('console', (mensaje) => {
      const ajeno = /ERR_INTERNET_DISCONNECTED|status of 4\d\d/.test(mensaje.text())
      if (['error', 'warning'].includes(mensaje.type()) && !ajeno) quejas.push(mensaje.text().slice(0, 300))
    })
    contexto.on('weberror', (error) => quejas.push(`uncaught: ${error.error().message}`))
    if (opciones.javaScriptEnabled !== false) {
      await contexto.exposeFunction('violada', (que: string) => quejas.push(`CSP: ${que}`))
      await contexto.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
        window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
    }
    pagina = await contexto.newPage()
    await pagina.goto(`${url}/u/${token}`, { waitUntil: 'networkidle' })
  }

  /** Not Playwright's `evaluate()`, which the page's policy would report as an eval. */
  const evaluar = <T>(expression: string) => evaluarEn<T>(pagina, expression)
  const blancos = 'button, input:not([type=hidden]), textarea, summary, .errores a, dd a, .pin'
  const revisar = (nombre: string) => revisarPagina({ pagina, nombre: `ubicacion-${nombre}`, blancos })

  const oculto = (nombre: string) => pagina.locator(`input[name=${nombre}]`).inputValue()
  const boton = (name: string | RegExp) => pagina.getByRole('button', { name })
  const enfocado = () => evaluar<string>('document.activeElement.id || document.activeElement.tagName')

  it('weighs little before anybody wants the map', COMPLETO, async () => {
    const token = falso.nueva()
    await abrir(token)
    const sesion = await contexto.newCDPSession(pagina)
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.setCacheDisabled', { cacheDisabled: true })
    await pagina.reload({ waitUntil: 'networkidle' })
    console.log(`the page with headers, gzip: ${bytes} bytes in ${new Set(pedidas).size} requests`)
    expect(bytes).toBeGreaterThan(4_000)
    expect(bytes).toBeLessThan(15_000)
    expect(pedidas.filter((una) => una.includes('/mapa.'))).toEqual([])
    await revisar('inicio')
    await pagina.setViewportSize({ width: 360, height: 1_600 }) // nothing to scroll, which would open it, too
    await boton('Ver el mapa').tap()
    await pagina.locator('.pin').waitFor()
    await pagina.waitForLoadState('networkidle')
    console.log(`with the map and its tiles: ${bytes} bytes`)
    expect(bytes).toBeLessThan(100_000)
  })

  it('takes the position the phone gives', async () => {
    const token = falso.nueva()
    await abrir(token, {
      permissions: ['geolocation'],
      geolocation: { latitude: 14.64, longitude: -90.61, accuracy: 12 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('precisión de unos 12 metros').first().waitFor()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde, frente a la tienda')
    await revisar('gps')
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect(falso.confirmaciones).toEqual([
      {
        seguro: false,
        metodo: 'gps',
        lat: 14.64,
        lng: -90.61,
        precision_m: 12,
        referencia: 'portón verde, frente a la tienda',
      },
    ])
    expect(await enfocado()).toBe('H1')
    expect(await evaluar('sessionStorage.length')).toBe(0)
    await revisar('gracias')
    await pagina.reload()
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
  })

  it('warns of a position that is none, and prefers a better one', COMPLETO, async () => {
    await abrir(falso.nueva(), {
      permissions: ['geolocation'],
      geolocation: { latitude: 14.64, longitude: -90.61, accuracy: 1_450 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('Seguimos buscando').waitFor()
    await pagina.getByText('Es poco exacta').waitFor()
    await revisar('gps-impreciso')
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('Seguimos buscando').waitFor()
    await contexto.setGeolocation({ latitude: 14.641, longitude: -90.611, accuracy: 18 })
    await pagina.getByText('precisión de unos 18 metros').first().waitFor()
    expect([await oculto('lat'), await oculto('precision_m')]).toEqual(['14.6410000', '18'])
  })

  it('explains what to do without permission', COMPLETO, async () => {
    await abrir(falso.nueva(), { permissions: [] })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('no nos dio permiso').waitFor()
    expect(await oculto('metodo')).toBe('')
    await revisar('gps-denegado')
  })

  it('shows a map when it is scrolled to, and takes the pin where it is put', COMPLETO, async () => {
    remitentes.length = 0
    await abrir(falso.nueva())
    expect(pedidas.some((una) => una.startsWith(mosaico))).toBe(false)
    await pagina.mouse.wheel(0, 400)
    await pagina.locator('.pin').waitFor()
    await pagina.waitForLoadState('networkidle')
    await pagina.getByText('El pin está en el centro de Mixco').waitFor()
    expect(await oculto('metodo')).toBe('')
    // A tap does what dragging does; but not the one that was meant for the button before the map.
    await hasta(async () => {
      await pagina.locator('#mapa').tap({ position: { x: 220, y: 220 } })
      return (await oculto('metodo')) === 'mapa'
    })
    await pagina.getByText(/El pin está a .* al sureste del centro de Mixco/).waitFor()
    const [lat, lng] = [Number(await oculto('lat')), Number(await oculto('lng'))]
    expect([await oculto('metodo'), lat < MIXCO.lat, lng > MIXCO.lng]).toEqual(['mapa', true, true])
    const caja = (await pagina.locator('.pin').boundingBox())!
    await pagina.mouse.move(caja.x + 24, caja.y + 24)
    await pagina.mouse.down()
    await pagina.mouse.move(caja.x + 24, caja.y - 60, { steps: 8 })
    await pagina.mouse.up()
    expect(Number(await oculto('lat'))).toBeGreaterThan(lat)
    // Zooming drops tiles that are on their way.
    for (const nombre of ['Acercar el mapa', 'Acercar el mapa', 'Alejar el mapa']) await boton(nombre).tap()
    await pagina.getByText('Mover el pin con botones').tap()
    const antes = Number(await oculto('lng'))
    await boton('Este →').tap()
    expect(Number(await oculto('lng'))).toBeGreaterThan(antes)
    // It has come to rest.
    await expect
      .poll(() =>
        evaluar(`!document.querySelector('.leaflet-zoom-anim, .leaflet-pan-anim') &&
          [...document.querySelectorAll('.leaflet-tile')].every((una) => getComputedStyle(una).opacity === '1')`),
      )
      .toBe(true)
    await revisar('mapa')
    expect(await pagina.getByText('© OpenStreetMap').count()).toBe(1)
    // OpenStreetMap wants to know the site. The token is none of its business.
    expect(new Set(remitentes)).toEqual(new Set([`${url}/`]))
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: /Gracias/ }).waitFor()
    expect(falso.confirmaciones[0]).toMatchObject({ metodo: 'mapa', seguro: false })
  })

  it('can be done with the keyboard alone', COMPLETO, async () => {
    await abrir(falso.nueva())
    const llegarA = async (...cuales: string[]) => {
      for (let i = 0; i < 30 && !cuales.includes(await enfocado()); i++) await pagina.keyboard.press('Tab')
      expect(cuales).toContain(await enfocado())
    }
    // Reaching the button scrolls to it, and so opens the map: the focus is handed to the pin.
    await llegarA('abrir-mapa', 'pin')
    await pagina.locator('.pin:focus').waitFor()
    for (const tecla of ['ArrowUp', 'ArrowUp', 'Shift+ArrowLeft', '+']) await pagina.keyboard.press(tecla)
    expect(Number(await oculto('lat'))).toBeGreaterThan(MIXCO.lat)
    expect(Number(await oculto('lng'))).toBeLessThan(MIXCO.lng)
    await pagina.getByText(/al noroeste|al oeste/).waitFor()
    await pagina.screenshot({ path: '/tmp/ubicacion-teclado.png' })
    await llegarA('referencia')
    await pagina.keyboard.type('casa de dos pisos')
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Enter')
    await pagina.getByRole('heading', { name: /Gracias/ }).waitFor()
    expect(falso.confirmaciones[0]).toMatchObject({ metodo: 'mapa', referencia: 'casa de dos pisos' })
  })

  it('works without JavaScript', COMPLETO, async () => {
    falso.responder(({ enlace }) =>
      enlace?.includes('goo.gl')
        ? undefined
        : { ok: false, motivo: 'enlace_invalido', mensaje: 'Ese enlace no es de un mapa.' },
    )
    await abrir(falso.nueva(), { javaScriptEnabled: false })
    expect(await boton('Usar mi ubicación').count()).toBe(0)
    await pagina.screenshot({ path: '/tmp/ubicacion-sin-js.png', fullPage: true })
    await pagina.getByLabel('Enlace del mapa').fill('https://example.com/x')
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await boton('Confirmar').tap()
    await pagina.getByRole('alert').getByText('Ese enlace no es de un mapa.').waitFor()
    expect(await enfocado()).toBe('errores')
    expect(await pagina.getByLabel('Enlace del mapa').inputValue()).toBe('https://example.com/x')
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    await pagina.screenshot({ path: '/tmp/ubicacion-sin-js-error.png', fullPage: true })
    await pagina.getByLabel('Enlace del mapa').fill('https://maps.app.goo.gl/abc')
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: /Gracias/ }).waitFor()
    expect(falso.confirmaciones.at(-1)).toEqual({
      seguro: false,
      metodo: 'enlace',
      enlace: 'https://maps.app.goo.gl/abc',
      referencia: 'portón verde',
    })
  })

  it('says what is missing, at the place where the eye is', COMPLETO, async () => {
    await abrir(falso.nueva())
    await boton('Confirmar').tap()
    await pagina.getByRole('alert').waitFor()
    expect(await enfocado()).toBe('errores')
    expect(falso.confirmaciones).toEqual([])
    await revisar('falta-lugar')
    falso.responder(() => ({ ok: false, motivo: 'enlace_invalido', mensaje: 'Ese enlace no es de un mapa.' }))
    await pagina.getByText('Pegar un enlace de mapa').tap()
    await pagina.getByLabel('Enlace del mapa').fill('https://example.com/')
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await boton('Confirmar').tap()
    await pagina.getByRole('link', { name: 'Ese enlace no es de un mapa.' }).waitFor()
    expect(await enfocado()).toBe('errores')
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    await revisar('enlace-invalido')
  })

  it('keeps what was filled in when there is no network, and sends it when there is', COMPLETO, async () => {
    await abrir(falso.nueva(), {
      permissions: ['geolocation'],
      geolocation: { latitude: 14.64, longitude: -90.61, accuracy: 9 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('precisión de unos 9 metros').first().waitFor()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await contexto.setOffline(true)
    await boton('Confirmar').tap()
    await pagina.getByText('No hay señal').waitFor()
    await revisar('sin-red')
    expect(falso.confirmaciones).toEqual([])
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    await contexto.setOffline(false)
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect(falso.confirmaciones).toHaveLength(1)
    expect(falso.confirmaciones[0]).toMatchObject({ lat: 14.64, referencia: 'portón verde' })
  })

  it('remembers what was filled in when Android drops the page', COMPLETO, async () => {
    await abrir(falso.nueva())
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await pagina.getByText('Pegar un enlace de mapa').tap()
    await pagina.getByLabel('Enlace del mapa').fill('https://maps.app.goo.gl/abc')
    await pagina.reload()
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    expect(await pagina.getByLabel('Enlace del mapa').inputValue()).toBe('https://maps.app.goo.gl/abc')
    await pagina.getByText('Lugar elegido: el enlace que pegó.').waitFor()
  })

  it('asks about a place far away', COMPLETO, async () => {
    falso.responder(({ seguro }) => (seguro ? undefined : { ok: false, motivo: 'lejos', distancia_km: 171.6 }))
    await abrir(falso.nueva(), {
      permissions: ['geolocation'],
      geolocation: { latitude: 15.7, longitude: -88.6, accuracy: 9 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('precisión de unos 9 metros').first().waitFor()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('frente al muelle')
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: '¿Seguro que es ahí?' }).waitFor()
    await revisar('lejos')
    await boton(/No, quiero/).tap()
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('frente al muelle')
    await pagina.getByText('Lugar elegido: su ubicación').waitFor()
    await boton('Confirmar').tap()
    await boton(/^Sí/).tap()
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect(falso.confirmaciones.map(({ seguro }) => seguro)).toEqual([false, false, true])
  })

  it.each(['vencida', 'cerrada', 'desconocida'] as const)(
    'is readable when the request is %s',
    COMPLETO,
    async (estado) => {
      await abrir(estado === 'desconocida' ? 'desconocido0000000000A' : falso.nueva({ estado }))
      await revisar(estado)
    },
  )

  it('survives long names and a wide screen', COMPLETO, async () => {
    const token = falso.nueva({
      comercio: 'Comercializadora Centroamericana de Electrodomésticos, S. A.',
      destinatario: 'Maximilianoooooooooooooooooooooooooooooooooooooo',
      direccion: `${'Kilómetro 14.5 carretera a El Salvador, condominio Las Luces, casa 12, '.repeat(2)}`,
      municipio: 'San Miguel Ixtahuacán',
      departamento: 'San Marcos',
      centro: null,
    })
    await abrir(token)
    await revisar('largo')
    await pagina.setViewportSize({ width: 1280, height: 800 })
    await pagina.screenshot({ path: '/tmp/ubicacion-ancho.png' })
    // 400 % zoom of a phone.
    await pagina.setViewportSize({ width: 320, height: 256 })
    expect(await evaluar<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  })
})
