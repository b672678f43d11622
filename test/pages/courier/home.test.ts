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

const AQUI = { lat: 14.7189, lng: -90.6442 }
const aMetros = (metros: number) => ({ lat: AQUI.lat + metros / 111_200, lng: AQUI.lng })
const LARGA = {
  destinatario: 'María José Ajú Xicará de la Cruz y Hernández',
  direccion: '2a calle 3-45, zona 1, segundo portón verde después de la iglesia',
  indicaciones: 'Portón negro, frente a la tienda La Bendición',
}
const parada = () => pagina.locator('.parada')
const buttons = () => parada().locator('.par a').allTextContents()
const situar = (metros: number) =>
  phoneContext.setGeolocation({ latitude: aMetros(metros).lat, longitude: AQUI.lng, accuracy: 8 })

/** Parcels at these distances to the north, in the hands of a courier who has just signed in. */
async function llevar(estados: readonly string[], ...far: number[]) {
  const { codigo, repartidor } = await createTestRepartidor()
  const guias: string[] = []
  for (const [i, metros] of far.entries()) {
    const datos = i === 0 ? LARGA : { destinatario: `Vecina ${i}`, direccion: `${i}a avenida 5-67, zona 3` }
    guias.push(await createGuiaIn(repartidor, estados, { ...datos, ...aMetros(metros) }))
  }
  await openPhone()
  await signInOnPage(codigo)
  await parada().waitFor()
  return guias as [string, ...string[]]
}

describe.skipIf(!hasBrowser)('the first screen', () => {
  it('shows the next stop with what to do there, and the two after it, on a small phone', async () => {
    const [first] = await llevar(['recolectado', 'en_ruta'], 330, 700, 1_200, 2_000)
    await titulo('4 por entregar').waitFor()
    await parada().getByText('a 330 m').waitFor()
    for (const dicho of [LARGA.direccion, LARGA.destinatario, LARGA.indicaciones, 'San Juan Sacatepéquez, Guatemala'])
      await parada().getByText(dicho, { exact: true }).waitFor()
    expect(await parada().getByRole('link', { name: 'Llamar' }).getAttribute('href')).toBe('tel:+50231481676')
    expect(await parada().getByRole('link', { name: 'Ir' }).getAttribute('href')).toContain('maps/dir/')
    expect(await buttons()).toEqual(['Ir', 'Entregar'])
    // With the longest texts, one more stop is whole above the bar; with short ones, two are.
    const visibles = () =>
      evaluateOnPhone<number>(`(() => { const bar = document.querySelector('.pestanas').getBoundingClientRect().top
        return [...document.querySelectorAll('.breve')].filter((f) => f.getBoundingClientRect().bottom <= bar).length })()`)
    expect(await visibles()).toBeGreaterThanOrEqual(1)
    await checkWindow('inicio')
    await checkBars(pagina)
    await checkLargeText(pagina)
    await registerAsOperador(first, { estado: 'intento_fallido', motivo: 'destinatario_ausente' })
    await pagina.reload()
    await parada().getByText('Vecina 1').waitFor()
    await titulo('3 por entregar').waitFor()
    await pagina.getByRole('region', { name: 'Vuelven a bodega' }).getByText(LARGA.destinatario).waitFor()
    expect(await visibles()).toBeGreaterThanOrEqual(2)
  })

  it('offers the way from afar, and the delivery at the door', async () => {
    await llevar(['recolectado', 'en_ruta'], 330, 700)
    expect(await buttons()).toEqual(['Ir', 'Entregar'])
    await situar(300)
    await parada().getByText('Ya está aquí').waitFor()
    expect(await buttons()).toEqual(['Entregar', 'No se pudo entregar'])
    await checkWindow('inicio-en-la-puerta')
    await link('Entregar').tap()
    await titulo('Tome una foto').waitFor()
  })

  it('takes all parcels out from the first screen, and says of one door how many it gets', async () => {
    await llevar(['recolectado'], 330, 700)
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
    for (const metros of [330, 340, 900]) await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], aMetros(metros))
    await openPhone()
    await signInOnPage(codigo)
    await parada().getByText('2 paquetes en esta puerta').waitFor()
  })

  it('keeps the colours that the courier chose, also after he left', async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone({ colorScheme: 'light' })
    await signInOnPage(codigo)
    const fondo = () => evaluateOnPhone<string>(`getComputedStyle(document.body).backgroundColor`)
    const barra = () =>
      evaluateOnPhone<string>(`[...document.querySelectorAll('meta[name=theme-color]')]
        .filter(({ media }) => matchMedia(media).matches).map(({ content }) => content).join()`)
    const [claro, barraClara] = [await fondo(), await barra()]
    await link('Más').tap()
    await pagina.getByText('Oscuro').tap()
    await expect.poll(fondo).not.toBe(claro)
    expect(await barra()).toBe('#0d1110')
    await checkWindow('oscuro')
    await pagina.reload()
    await expect.poll(fondo).not.toBe(claro)
    await locateButton('Salir').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await fondo()).not.toBe(claro)
    await signInOnPage(codigo)
    await link('Más').tap()
    await pagina.getByText('Del teléfono').tap()
    await expect.poll(fondo).toBe(claro)
    expect(await barra()).toBe(barraClara)
  })

  it('leads to what is to be sent, and to a delivery that is not finished', async () => {
    const [first] = await llevar(['recolectado', 'en_ruta'], 330)
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
