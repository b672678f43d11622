import type { CDPSession, Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage } from '../pages/inspect.ts'
import { originOf, VIRTUAL_AUTHENTICATOR } from './authenticator.ts'
import { createCorreoAddress, findPendingCorreo } from './persona.ts'

const entorno = useEnvironment()
const abiertas: Page[] = []
afterAll(() => Promise.all(abiertas.map((pagina) => pagina.context().close())))

/** A window with Chromium's virtual authenticator, which keeps passkeys and verifies its person. */
async function abrir(): Promise<{ pagina: Page; cdp: CDPSession; authenticatorId: string }> {
  const contexto = await openContext({ viewport: { width: 360, height: 740 }, hasTouch: true })
  const pagina = await contexto.newPage()
  abiertas.push(pagina)
  const cdp = await contexto.newCDPSession(pagina)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', VIRTUAL_AUTHENTICATOR)
  return { pagina, cdp, authenticatorId }
}
const titulo = (pagina: Page, texto: string) => pagina.getByRole('heading', { level: 1, name: texto }).waitFor()
const boton = (pagina: Page, name: string) => pagina.getByRole('button', { name })
const tarjetas = (pagina: Page) => pagina.locator('li', { hasText: 'Quitar esta passkey' })

async function aceptar(pagina: Page) {
  const correo = createCorreoAddress()
  const { comercio } = await entorno.nuevoComercio()
  await entorno.operar('POST', '/invitaciones', { correo, nombre: 'Ana Pérez', alcances: ['despacho'], comercio })
  await pagina.goto((await findPendingCorreo(entorno, 'invitacion', correo)).enlace)
  await boton(pagina, 'Aceptar y entrar').tap()
  await titulo(pagina, 'Su cuenta')
  return correo
}

describe.runIf(hasBrowser)('in a browser with an authenticator', () => {
  it('a person adds a passkey, leaves, signs in with it, and removes it', async () => {
    const { pagina, cdp, authenticatorId } = await abrir()
    const correo = await aceptar(pagina)
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toMatchObject([
      { isResidentCredential: true, rpId: 'localhost' },
    ])
    await boton(pagina, 'Salir').tap()
    await titulo(pagina, 'Entrar')
    await boton(pagina, 'Entrar con passkey').tap()
    await titulo(pagina, 'Su cuenta')
    expect(await pagina.getByText(correo).count()).toBe(1)
    await boton(pagina, 'Quitar esta passkey').tap()
    await tarjetas(pagina).waitFor({ state: 'detached' })
    await boton(pagina, 'Salir').tap()
    await boton(pagina, 'Entrar con passkey').tap()
    await pagina.getByText('Esa passkey no vale aquí').waitFor()
  })

  it('a device that has a passkey of the person says so, and adds no second one', async () => {
    const { pagina, cdp, authenticatorId } = await abrir()
    await aceptar(pagina)
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
    await boton(pagina, 'Agregar una passkey').tap()
    await pagina.getByText('Este aparato ya tiene una passkey de su cuenta').waitFor()
    expect(await boton(pagina, 'Agregar una passkey').isEnabled()).toBe(true)
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1)
    await pagina.reload()
    expect(await tarjetas(pagina).count()).toBe(1)
  })

  it('a person who signed in long ago proves first to be there', async () => {
    const { pagina } = await abrir()
    await aceptar(pagina)
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
    entorno.advance(5 * MINUTE_MS + 1)
    const probada = pagina.waitForResponse(/passkeys.presencia$/)
    const empezada = pagina.waitForResponse((una) => una.url().endsWith('/registro') && una.status() === 200)
    await boton(pagina, 'Agregar una passkey').tap()
    expect((await probada).status()).toBe(200)
    await empezada
  })

  it('a person who removes a passkey later proves with it to be there, and then removes it', async () => {
    const { pagina } = await abrir()
    await aceptar(pagina)
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
    entorno.advance(5 * MINUTE_MS + 1)
    await boton(pagina, 'Quitar esta passkey').tap()
    await titulo(pagina, 'Confirme que es usted')
    await boton(pagina, 'Confirmar con passkey').tap()
    await pagina.getByText('¿Quita la passkey de').waitFor()
    await boton(pagina, 'Sí, quitarla').tap()
    await tarjetas(pagina).waitFor({ state: 'detached' })
  })

  it('a person without a passkey who adds one later is led to the proof by code', async () => {
    const { pagina } = await abrir()
    const correo = await aceptar(pagina)
    entorno.advance(5 * MINUTE_MS + 1)
    await boton(pagina, 'Agregar una passkey').tap()
    await titulo(pagina, 'Confirme que es usted')
    expect(await boton(pagina, 'Confirmar con passkey').count()).toBe(0)
    await boton(pagina, 'Mandar el código').tap()
    await titulo(pagina, 'Escriba el código')
    await pagina.getByLabel('Código de seis cifras').fill((await findPendingCorreo(entorno, 'codigo', correo)).codigo)
    await boton(pagina, 'Confirmar').tap()
    await titulo(pagina, 'Su cuenta')
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
  })

  it('the pages with a passkey have no fault that axe finds, in light and dark and with large letters', async () => {
    const { pagina } = await abrir()
    await aceptar(pagina)
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
    const blancos = 'button, a.boton, input:not([type=hidden])'
    await checkPage({ pagina, nombre: 'entrar-cuenta-passkey', touchTargets: blancos })
    await checkLargeText(pagina)
    await pagina.goto(`${originOf(entorno)}/entrar`)
    await boton(pagina, 'Entrar con passkey').waitFor()
    await checkPage({ pagina, nombre: 'entrar-passkey', touchTargets: blancos })
  })

  it('the proof of presence has no fault that axe finds, in light and dark and with large letters', async () => {
    const { pagina } = await abrir()
    const correo = await aceptar(pagina)
    await boton(pagina, 'Agregar una passkey').tap()
    await tarjetas(pagina).waitFor()
    entorno.advance(5 * MINUTE_MS + 1)
    const blancos = 'button, a.boton, input:not([type=hidden])'
    const revisar = async (nombre: string) => {
      await checkPage({ pagina, nombre: `presencia-${nombre}`, touchTargets: blancos })
      await checkLargeText(pagina)
      await pagina.setViewportSize({ width: 360, height: 740 })
    }
    await boton(pagina, 'Quitar esta passkey').tap()
    await boton(pagina, 'Confirmar con passkey').waitFor()
    await revisar('pedir')
    await boton(pagina, 'Mandar el código').tap()
    await titulo(pagina, 'Escriba el código')
    await pagina.getByLabel('Código de seis cifras').fill('x')
    await boton(pagina, 'Confirmar').tap()
    await pagina.getByText('El código no vale').first().waitFor()
    await revisar('codigo-falla')
    // Looking at a page ends Chromium's virtual authenticator.
    await pagina.getByLabel('Código de seis cifras').fill((await findPendingCorreo(entorno, 'codigo', correo)).codigo)
    await boton(pagina, 'Confirmar').tap()
    await boton(pagina, 'Sí, quitarla').waitFor()
    await revisar('quitar')
  })

  it('the button is not shown at an address in which passkeys are not valid', async () => {
    const { pagina } = await abrir()
    await pagina.goto(`${entorno.url}/entrar`)
    await titulo(pagina, 'Entrar')
    expect(await boton(pagina, 'Entrar con passkey').count()).toBe(0)
  })
})
