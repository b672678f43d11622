import { describe, expect, it } from 'vitest'
import { COMPLETO } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrirTelefono,
  boton,
  entrarEnLaPagina,
  evaluar,
  nuevoRepartidor,
  pagina,
  revisarVentana,
  salir,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

/** What Chromium does where it may; in a private window, such as a test's, it never may. */
const ofrecer = () =>
  evaluar<boolean>(`(() => { const oferta = new Event('beforeinstallprompt', { cancelable: true })
    oferta.prompt = () => { window.preguntas = (window.preguntas ?? 0) + 1
      dispatchEvent(new Event('appinstalled')); return Promise.resolve({ outcome: 'accepted' }) }
    return !dispatchEvent(oferta) })()`)
const IPHONE = `Object.defineProperty(Navigator.prototype, 'standalone', { value: false })`
const sugerencia = () => pagina.getByRole('region', { name: 'Instalar' })

describe.skipIf(!hayNavegador)('installing the page', () => {
  it('is offered to whoever has signed in, by a tap, until it is done', async () => {
    const { codigo } = await nuevoRepartidor()
    await abrirTelefono()
    await pagina.getByLabel('Su código').waitFor()
    expect(await ofrecer()).toBe(true)
    expect(await sugerencia().count()).toBe(0)
    await entrarEnLaPagina(codigo)
    await sugerencia().waitFor()
    await revisarVentana('instalar')
    await boton('Instalar').tap()
    await sugerencia().waitFor({ state: 'detached' })
    expect(await evaluar('window.preguntas')).toBe(1)
  })

  it('is told how on an iPhone, and never again to whoever doesn’t want it', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    await abrirTelefono({ alEmpezar: IPHONE })
    await entrarEnLaPagina(codigo)
    await pagina.getByText('«Agregar a inicio»').waitFor()
    expect(await boton('Instalar').count()).toBe(0)
    await revisarVentana('instalar-iphone')
    await boton('No, gracias').tap()
    await sugerencia().waitFor({ state: 'detached' })
    await pagina.reload()
    await titulo('Hola, Carlos').waitFor()
    await salir()
    await entrarEnLaPagina(codigo)
    await titulo('Hola, Carlos').waitFor()
    expect(await sugerencia().count()).toBe(0)
  })

  it.each([
    [
      'an app',
      `const de = matchMedia; window.matchMedia = (q) => q.includes('standalone') ? { matches: true } : de.call(window, q)`,
    ],
    ['an app on an iPhone', IPHONE.replace('false', 'true')],
  ])('is not offered where the page is already %s', async (_, alEmpezar) => {
    const { codigo } = await nuevoRepartidor()
    await abrirTelefono({ alEmpezar })
    await entrarEnLaPagina(codigo)
    await ofrecer()
    await evaluar('new Promise(requestAnimationFrame)')
    expect(await sugerencia().count()).toBe(0)
  })

  it('is not offered where it can’t be', async () => {
    const { codigo } = await nuevoRepartidor()
    await abrirTelefono()
    await entrarEnLaPagina(codigo)
    await pagina.getByText('Escanee los paquetes').waitFor()
    expect(await sugerencia().count()).toBe(0)
  })
})
