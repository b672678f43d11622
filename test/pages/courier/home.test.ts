import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../../browser.ts'
import { checkBars, checkLargeText } from '../inspect.ts'
import {
  checkWindow,
  createGuiaIn,
  createTestRepartidor,
  dumpPhoneDatabase,
  evaluateOnPhone,
  goHome,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  openStep,
  pagina,
  phoneContext,
  registerAsOperador,
  signInOnPage,
  titulo,
  usePhone,
} from './phone.ts'

usePhone()

const HERE = { lat: 14.7189, lng: -90.6442 }
const pointAtMetres = (meters: number) => ({ lat: HERE.lat + meters / 111_200, lng: HERE.lng })
const LONG_GUIA = {
  destinatario: 'María José Ajú Xicará de la Cruz y Hernández',
  direccion: '2a calle 3-45, zona 1, segundo portón verde después de la iglesia',
  indicaciones: 'Portón negro, frente a la tienda La Bendición',
}
const stop = () => pagina.locator('.parada')
const buttons = () => stop().locator('.par a').allTextContents()
const setPosition = (meters: number) =>
  phoneContext.setGeolocation({ latitude: pointAtMetres(meters).lat, longitude: HERE.lng, accuracy: 8 })

/** Parcels at these distances to the north, in the hands of a courier who has just signed in. */
async function carryThrough(estados: readonly string[], ...far: number[]) {
  const { codigo, repartidor } = await createTestRepartidor()
  const guias: string[] = []
  for (const [i, meters] of far.entries()) {
    const datos = i === 0 ? LONG_GUIA : { destinatario: `Vecina ${i}`, direccion: `${i}a avenida 5-67, zona 3` }
    guias.push(await createGuiaIn(repartidor, estados, { ...datos, ...pointAtMetres(meters) }))
  }
  await openPhone()
  await signInOnPage(codigo)
  await stop().waitFor()
  return guias as [string, ...string[]]
}

describe.skipIf(!hasBrowser)('the first screen', () => {
  it('shows the next stop with what to do there, and the two after it, on a small phone', async () => {
    const [first] = await carryThrough(['recolectado', 'en_ruta'], 330, 700, 1_200, 2_000)
    await titulo('4 por entregar').waitFor()
    await stop().getByText('a 330 m').waitFor()
    for (const message of [
      LONG_GUIA.direccion,
      LONG_GUIA.destinatario,
      LONG_GUIA.indicaciones,
      'San Juan Sacatepéquez, Guatemala',
    ])
      await stop().getByText(message, { exact: true }).waitFor()
    expect(await stop().getByRole('link', { name: 'Llamar' }).getAttribute('href')).toBe('tel:+50231481676')
    expect(await stop().getByRole('link', { name: 'Ir' }).getAttribute('href')).toContain('maps/dir/')
    expect(await buttons()).toEqual(['Ir', 'Entregar'])
    // With the longest texts, one more stop is whole above the bar; with short ones, two are.
    const visibleNames = () =>
      evaluateOnPhone<number>(`(() => { const bar = document.querySelector('.pestanas').getBoundingClientRect().top
        return [...document.querySelectorAll('.breve')].filter((f) => f.getBoundingClientRect().bottom <= bar).length })()`)
    expect(await visibleNames()).toBeGreaterThanOrEqual(1)
    await checkWindow('inicio')
    await checkBars(pagina)
    await checkLargeText(pagina)
    await registerAsOperador(first, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await pagina.reload()
    await stop().getByText('Vecina 1').waitFor()
    await titulo('3 por entregar').waitFor()
    await pagina.getByRole('region', { name: 'Vuelven a bodega' }).getByText(LONG_GUIA.destinatario).waitFor()
    expect(await visibleNames()).toBeGreaterThanOrEqual(2)
  })

  it('offers the way from afar, and the delivery at the door', async () => {
    await carryThrough(['recolectado', 'en_ruta'], 330, 700)
    expect(await buttons()).toEqual(['Ir', 'Entregar'])
    await setPosition(300)
    await stop().getByText('Ya está aquí').waitFor()
    expect(await buttons()).toEqual(['Entregar', 'No se pudo entregar'])
    await checkWindow('inicio-en-la-puerta')
    await link('Entregar').tap()
    await titulo('Tome una foto').waitFor()
  })

  it('takes all parcels out from the first screen, and says of one door how many it gets', async () => {
    await carryThrough(['recolectado'], 330, 700)
    expect(await buttons()).toEqual(['Salir a ruta con 2'])
    await link('Salir a ruta con 2').tap()
    await titulo('Marcar varias').waitFor()
    expect(await pagina.getByRole('checkbox', { checked: true }).count()).toBe(2)
    await locateButton('Salir a ruta con 2').tap()
    await titulo('En ruta: 2 guías').waitFor()
    await link('Ver la lista').tap()
    await expect.poll(buttons).toEqual(['Ir', 'Entregar'])
  })

  it('counts the parcels of one door', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    for (const meters of [330, 340, 900])
      await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], pointAtMetres(meters))
    await openPhone()
    await signInOnPage(codigo)
    await stop().getByText('2 paquetes en esta puerta').waitFor()
  })

  it('keeps the colours that the courier chose, also after he left', async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone({ colorScheme: 'light' })
    await signInOnPage(codigo)
    const background = () => evaluateOnPhone<string>(`getComputedStyle(document.body).backgroundColor`)
    const readThemeColor = () =>
      evaluateOnPhone<string>(`[...document.querySelectorAll('meta[name=theme-color]')]
        .filter(({ media }) => matchMedia(media).matches).map(({ content }) => content).join()`)
    const [lightBackground, lightThemeColor] = [await background(), await readThemeColor()]
    await link('Más').tap()
    await pagina.getByText('Oscuro').tap()
    await expect.poll(background).not.toBe(lightBackground)
    expect(await readThemeColor()).toBe('#0d1110')
    await checkWindow('oscuro')
    await pagina.reload()
    await expect.poll(background).not.toBe(lightBackground)
    await locateButton('Salir').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await background()).not.toBe(lightBackground)
    await signInOnPage(codigo)
    await link('Más').tap()
    await pagina.getByText('Del teléfono').tap()
    await expect.poll(background).toBe(lightBackground)
    expect(await readThemeColor()).toBe(lightThemeColor)
  })

  it('leads to what is to be sent, and to a delivery that is not finished', async () => {
    const [first] = await carryThrough(['recolectado', 'en_ruta'], 330)
    await phoneContext.setOffline(true)
    await openGuiaPage(first)
    await link('Anotar algo').tap()
    await pagina.getByRole('textbox').fill('El portón está cerrado')
    await locateButton('Guardar la nota').tap()
    await locateButton('Guardar la nota').waitFor({ state: 'detached' })
    await openStep(first, 'quien')
    await pagina.getByLabel('Nombre').fill('María López')
    await expect.poll(dumpPhoneDatabase).toContain('María López')
    await goHome()
    await pagina.getByRole('link', { name: /Hecho.*1 por enviar/ }).waitFor()
    await pagina.getByRole('link', { name: 'Terminar la entrega de' }).waitFor()
    await checkWindow('inicio-con-pendientes')
    await phoneContext.setOffline(false)
    await expect.poll(() => pagina.getByText('por enviar', { exact: true }).count()).toBe(0)
  })
})
