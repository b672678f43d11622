import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { useEnvironment } from '../../environment.ts'
import { buildGuia, waitUntil } from '../../factories.ts'
import { createMobile } from '../../repartidores/phone.ts'
import {
  checkWindow,
  createTestRepartidor,
  dumpPhoneDatabase,
  evaluateOnPhone,
  goHome,
  groupCode,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  signInOnPage,
  tapStep,
  usePhone,
} from './phone.ts'

usePhone(useEnvironment({}, () => ({ COURIER_REACH: 'asignado' })))

const PERSONA = { destinatario: 'María José Ajú', direccion: '5a avenida norte 12', contenido: 'Zapatos' }
const fresh = async (municipio: string) =>
  (await phoneComercio.api.guias.crear(buildGuia({ ...PERSONA, municipio }))).guia
const asignar = (guias: string[], { repartidor }: { repartidor: string }) =>
  phoneEnvironment.asOperador('POST', '/asignaciones', { guias, repartidor })
const municipios = () =>
  evaluateOnPhone<string[]>(`[...document.querySelectorAll('.municipio summary')].map((s) => s.textContent)`)
/** Two minutes later the page lists again what the courier has. */
const advancePhoneClock = () =>
  evaluateOnPhone(
    `(() => { const antes = Date.now.bind(Date); Date.now = () => antes() + 121000; dispatchEvent(new Event('online')) })()`,
  )

describe.skipIf(!hasBrowser)('a parcel that is assigned to the courier', () => {
  it('is on the phone after signing in, by municipality, also without coverage, and without the people', async () => {
    const ownMobile = await createTestRepartidor()
    const [mixco, other, chinautla] = [await fresh('Mixco'), await fresh('Mixco'), await fresh('Chinautla')]
    await asignar([mixco, other, chinautla], ownMobile)
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await pagina.getByRole('heading', { name: 'Asignados (3)' }).waitFor()
    expect(await municipios()).toEqual(['Chinautla (1)', 'Mixco (2)'])
    await checkWindow('asignados')
    await phoneContext.setOffline(true)
    await pagina.getByText('Mixco (2)').tap()
    for (const guia of [mixco, other]) await link(groupCode(guia)).waitFor()
    await pagina.goto(`${new URL(pagina.url()).href.split('#')[0]}#/mas`)
    await goHome()
    await pagina.getByRole('heading', { name: 'Asignados (3)' }).waitFor()
    const saved = await dumpPhoneDatabase()
    expect(saved).toContain(chinautla)
    for (const datum of [...Object.values(PERSONA), '31481676']) expect(saved).not.toContain(datum)
  })

  it('shows where it goes once the courier takes it, and is then in the list of stops', async () => {
    const ownMobile = await createTestRepartidor()
    const guia = await fresh('Mixco')
    await asignar([guia], ownMobile)
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await pagina.getByText('Mixco (1)').tap()
    await link(groupCode(guia)).tap()
    await pagina.getByText('No la lleva nadie. A quién va y adónde se ve al tomarla.').waitFor()
    await pagina.getByText('Mixco', { exact: true }).waitFor()
    await checkWindow('asignada')
    await tapStep(guia, 'Recoger el paquete')
    await goHome()
    await pagina.getByText('5a avenida norte 12').first().waitFor()
    expect(await pagina.getByRole('heading', { name: /^Asignados/ }).count()).toBe(0)
  })

  it('changes while the page is open: what is reassigned disappears, unless the courier carries it', async () => {
    const [ownMobile, other] = [await createTestRepartidor(), await createTestRepartidor('Ana Pérez')]
    const [free, tomada, after] = [await fresh('Mixco'), await fresh('Mixco'), await fresh('Palencia')]
    await asignar([free, tomada], ownMobile)
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await pagina.getByRole('heading', { name: 'Asignados (2)' }).waitFor()
    await openGuiaPage(free)
    await pagina.getByText('Mixco', { exact: true }).waitFor()
    await tapStep(tomada, 'Recoger el paquete')
    await waitUntil(
      async () => (await phoneEnvironment.asOperador('GET', `/guias/${tomada}`)).body.estado === 'recolectado',
    )
    await asignar([free, tomada], other)
    await asignar([after], ownMobile)
    await goHome()
    await advancePhoneClock()
    await pagina.getByText('Palencia (1)').waitFor()
    expect(await municipios()).toEqual(['Palencia (1)'])
    await pagina.getByText('5a avenida norte 12').first().waitFor()
    await waitUntil(
      async () => (await evaluateOnPhone<number>(`document.querySelectorAll('[href$="${free}"]').length`)) === 0,
    )
    await pagina.goto(`${pagina.url().split('#')[0]}#/buscar`)
    await pagina.getByRole('heading', { name: 'Buscar' }).waitFor()
    await waitUntil(async () => (await evaluateOnPhone<number>(`document.querySelectorAll('.lista li').length`)) === 1)
  })
})

describe.skipIf(!hasBrowser)('a parcel that another courier carries', () => {
  it('stands under that courier’s name, and changes hands when the courier receives it', async () => {
    const [ownMobile, other] = [await createTestRepartidor(), await createTestRepartidor('Ana Pérez')]
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, other.repartidor)
    await asignar([guia], ownMobile)
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await pagina.getByText('Los lleva Ana Pérez (1)').tap()
    await link(groupCode(guia)).tap()
    await pagina.getByText('La lleva otro repartidor y la central se la pasó a usted.').waitFor()
    await checkWindow('traspaso')
    await tapStep(guia, 'Recibir el paquete')
    await waitUntil(async () => {
      const { eventos, repartidor } = (await phoneEnvironment.asOperador('GET', `/guias/${guia}`)).body
      return eventos.datos.at(-1).tipo === 'guia.traspasada' && repartidor.repartidor === ownMobile.repartidor
    })
    await openGuiaPage(guia)
    await link('Entregar').waitFor()
    await goHome()
    await pagina.getByText('1 por entregar').waitFor()
    expect(await pagina.getByRole('heading', { name: /^Asignados/ }).count()).toBe(0)
  })

  it('leaves the phone of the courier who handed it over, whose late report waits with the reason', async () => {
    const [ownMobile, other] = [await createTestRepartidor(), await createTestRepartidor('Ana Pérez')]
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, ownMobile.repartidor)
    await asignar([guia], other)
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await pagina.getByText('1 por entregar').waitFor()
    await openGuiaPage(guia)
    await link('No se pudo entregar').waitFor()
    await phoneContext.setOffline(true)
    await link('No se pudo entregar').tap()
    await pagina.getByText('No había nadie').tap()
    await locateButton('Registrar').tap()
    await pagina.locator('.palomita').waitFor()
    const mobile = await createMobile(phoneEnvironment, other)
    await mobile.registrar(guia, { estado: 'en_ruta', idempotencia: 'recibe' })
    await phoneContext.setOffline(false)
    await pagina.goto(`${pagina.url().split('#')[0]}#/hoy`)
    await pagina.locator('.atencion a').tap()
    await pagina.getByText(/No tiene asignada esta guía/).waitFor()
    await goHome()
    await advancePhoneClock()
    await pagina.getByText(/^(?:Hola|Terminó), /).waitFor()
    expect((await phoneEnvironment.asOperador('GET', `/guias/${guia}`)).body).toMatchObject({
      estado: 'en_ruta',
      repartidor: { nombre: 'Ana Pérez' },
    })
  })
})

describe.skipIf(!hasBrowser)('a guide that is not assigned to the courier', () => {
  it('says what to do, offers no step, and opens once it is assigned', async () => {
    const ownMobile = await createTestRepartidor()
    const guia = await fresh('Mixco')
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await openGuiaPage(guia)
    await pagina.getByText('Se abre cuando la central se la asigne.').waitFor()
    await pagina.getByText('No la tiene asignada').waitFor()
    expect(await pagina.getByRole('navigation').count()).toBe(0)
    await checkWindow('sin-asignar')
    await asignar([guia], ownMobile)
    await advancePhoneClock()
    await link('Recoger el paquete').waitFor()
  })

  it('keeps a scan without coverage on the phone, with the reason', async () => {
    const ownMobile = await createTestRepartidor()
    const guia = await fresh('Mixco')
    await openPhone()
    await signInOnPage(ownMobile.codigo)
    await phoneContext.setOffline(true)
    await openGuiaPage(guia)
    await link('Recoger el paquete').tap()
    await locateButton('Registrar').tap()
    await pagina.locator('.palomita').waitFor()
    await phoneContext.setOffline(false)
    await pagina.goto(`${pagina.url().split('#')[0]}#/hoy`)
    await pagina.locator('.atencion a').tap()
    await pagina.getByText('No tiene asignada esta guía. Pida a la central que se la asigne').waitFor()
  })
})
