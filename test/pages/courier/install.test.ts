import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../../browser.ts'
import { FULL_RUN_ONLY } from '../../factories.ts'
import {
  checkWindow,
  createTestRepartidor,
  evaluateOnPhone,
  locateButton,
  openPhone,
  pagina,
  signInOnPage,
  signOutOfPage,
  titulo,
  usePhone,
} from './phone.ts'

usePhone()

/** What Chromium does where it may; in a private window, such as a test's, it never may. */
const offerInstall = () =>
  evaluateOnPhone<boolean>(`(() => { const oferta = new Event('beforeinstallprompt', { cancelable: true })
    oferta.prompt = () => { window.preguntas = (window.preguntas ?? 0) + 1
      dispatchEvent(new Event('appinstalled')); return Promise.resolve({ outcome: 'accepted' }) }
    return !dispatchEvent(oferta) })()`)
const IPHONE = `Object.defineProperty(Navigator.prototype, 'standalone', { value: false })`
const sugerencia = () => pagina.getByRole('region', { name: 'Instalar' })

describe.skipIf(!hasBrowser)('installing the page', () => {
  it('is offered to a courier after the sign-in, with one tap, until it is done', async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone()
    await pagina.getByLabel('Su código').waitFor()
    expect(await offerInstall()).toBe(true)
    expect(await sugerencia().count()).toBe(0)
    await signInOnPage(codigo)
    await sugerencia().waitFor()
    await checkWindow('instalar')
    await locateButton('Instalar').tap()
    await sugerencia().waitFor({ state: 'detached' })
    expect(await evaluateOnPhone('window.preguntas')).toBe(1)
  })

  it('is explained on an iPhone, and never again to a courier who refuses', FULL_RUN_ONLY, async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone({ initScript: IPHONE })
    await signInOnPage(codigo)
    await pagina.getByText('«Agregar a inicio»').waitFor()
    expect(await locateButton('Instalar').count()).toBe(0)
    await checkWindow('instalar-iphone')
    await locateButton('No, gracias').tap()
    await sugerencia().waitFor({ state: 'detached' })
    await pagina.reload()
    await titulo('Hola, Carlos').waitFor()
    await signOutOfPage()
    await signInOnPage(codigo)
    await titulo('Hola, Carlos').waitFor()
    expect(await sugerencia().count()).toBe(0)
  })

  it.each([
    [
      'an app',
      `const de = matchMedia; window.matchMedia = (q) => q.includes('standalone') ? { matches: true } : de.call(window, q)`,
    ],
    ['an app on an iPhone', IPHONE.replace('false', 'true')],
  ])('is not offered where the page is already %s', async (_, startScript) => {
    const { codigo } = await createTestRepartidor()
    await openPhone({ initScript: startScript })
    await signInOnPage(codigo)
    await offerInstall()
    await evaluateOnPhone('new Promise(requestAnimationFrame)')
    expect(await sugerencia().count()).toBe(0)
  })

  it('is not offered where it can’t be', async () => {
    const { codigo } = await createTestRepartidor()
    await openPhone()
    await signInOnPage(codigo)
    await pagina.getByText('Escanee los paquetes').waitFor()
    expect(await sugerencia().count()).toBe(0)
  })
})
