import type { CDPSession, Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage } from '../pages/inspect.ts'
import { originOf, VIRTUAL_AUTHENTICATOR } from './authenticator.ts'
import { createCorreoAddress, findPendingCorreo } from './persona.ts'

const environment = useEnvironment()
const openPages: Page[] = []
afterAll(() => Promise.all(openPages.map((page) => page.context().close())))

/** A window with Chromium's virtual authenticator, which keeps passkeys and verifies its person. */
async function open(): Promise<{ pagina: Page; cdp: CDPSession; authenticatorId: string }> {
  const context = await openContext({ viewport: { width: 360, height: 740 }, hasTouch: true })
  const pagina = await context.newPage()
  openPages.push(pagina)
  const cdp = await context.newCDPSession(pagina)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', VIRTUAL_AUTHENTICATOR)
  return { pagina, cdp, authenticatorId }
}
const title = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name })
const findCards = (page: Page) => page.locator('li', { hasText: 'Quitar esta passkey' })

async function aceptar(page: Page) {
  const correo = createCorreoAddress()
  const { comercio } = await environment.createComercio()
  await environment.asOperador('POST', '/invitaciones', {
    correo,
    nombre: 'Ana Pérez',
    alcances: ['despacho'],
    comercio,
  })
  await page.goto((await findPendingCorreo(environment, 'invitacion', correo)).enlace)
  await button(page, 'Aceptar y entrar').tap()
  await title(page, 'Su cuenta')
  return correo
}

describe.runIf(hasBrowser)('in a browser with an authenticator', () => {
  it('a person adds a passkey, leaves, signs in with it, and removes it', async () => {
    const { pagina, cdp, authenticatorId } = await open()
    const correo = await aceptar(pagina)
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toMatchObject([
      { isResidentCredential: true, rpId: 'localhost' },
    ])
    await button(pagina, 'Salir').tap()
    await title(pagina, 'Entrar')
    await button(pagina, 'Entrar con passkey').tap()
    await title(pagina, 'Su cuenta')
    expect(await pagina.getByText(correo).count()).toBe(1)
    await button(pagina, 'Quitar esta passkey').tap()
    await findCards(pagina).waitFor({ state: 'detached' })
    await button(pagina, 'Salir').tap()
    await button(pagina, 'Entrar con passkey').tap()
    await pagina.getByText('Esa passkey no vale aquí').waitFor()
  })

  it('a device that has a passkey of the person says so, and adds no second one', async () => {
    const { pagina, cdp, authenticatorId } = await open()
    await aceptar(pagina)
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
    await button(pagina, 'Agregar una passkey').tap()
    await pagina.getByText('Este aparato ya tiene una passkey de su cuenta').waitFor()
    expect(await button(pagina, 'Agregar una passkey').isEnabled()).toBe(true)
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials).toHaveLength(1)
    await pagina.reload()
    expect(await findCards(pagina).count()).toBe(1)
  })

  it('a person who signed in long ago proves first to be there', async () => {
    const { pagina } = await open()
    await aceptar(pagina)
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
    environment.advance(5 * MINUTE_MS + 1)
    const guiaWithPrueba = pagina.waitForResponse(/passkeys.presencia$/)
    const startedRegistration = pagina.waitForResponse((one) => one.url().endsWith('/registro') && one.status() === 200)
    await button(pagina, 'Agregar una passkey').tap()
    expect((await guiaWithPrueba).status()).toBe(200)
    await startedRegistration
  })

  it('a person who removes a passkey later proves with it to be there, and then removes it', async () => {
    const { pagina } = await open()
    await aceptar(pagina)
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
    environment.advance(5 * MINUTE_MS + 1)
    await button(pagina, 'Quitar esta passkey').tap()
    await title(pagina, 'Confirme que es usted')
    await button(pagina, 'Confirmar con passkey').tap()
    await pagina.getByText('¿Quita la passkey de').waitFor()
    await button(pagina, 'Sí, quitarla').tap()
    await findCards(pagina).waitFor({ state: 'detached' })
  })

  it('a person without a passkey who adds one later is led to the proof by code', async () => {
    const { pagina } = await open()
    const correo = await aceptar(pagina)
    environment.advance(5 * MINUTE_MS + 1)
    await button(pagina, 'Agregar una passkey').tap()
    await title(pagina, 'Confirme que es usted')
    expect(await button(pagina, 'Confirmar con passkey').count()).toBe(0)
    await button(pagina, 'Mandar el código').tap()
    await title(pagina, 'Escriba el código')
    await pagina
      .getByLabel('Código de seis cifras')
      .fill((await findPendingCorreo(environment, 'codigo', correo)).codigo)
    await button(pagina, 'Confirmar').tap()
    await title(pagina, 'Su cuenta')
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
  })

  it('the pages with a passkey have no fault that axe finds, in light and dark and with large letters', async () => {
    const { pagina } = await open()
    await aceptar(pagina)
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
    const touchTargets = 'button, a.boton, input:not([type=hidden])'
    await checkPage({ pagina, nombre: 'entrar-cuenta-passkey', touchTargets })
    await checkLargeText(pagina)
    await pagina.goto(`${originOf(environment)}/entrar`)
    await button(pagina, 'Entrar con passkey').waitFor()
    await checkPage({ pagina, nombre: 'entrar-passkey', touchTargets })
  })

  it('the proof of presence has no fault that axe finds, in light and dark and with large letters', async () => {
    const { pagina } = await open()
    const correo = await aceptar(pagina)
    await button(pagina, 'Agregar una passkey').tap()
    await findCards(pagina).waitFor()
    environment.advance(5 * MINUTE_MS + 1)
    const touchTargets = 'button, a.boton, input:not([type=hidden])'
    const revisar = async (name: string) => {
      await checkPage({ pagina, nombre: `presencia-${name}`, touchTargets })
      await checkLargeText(pagina)
      await pagina.setViewportSize({ width: 360, height: 740 })
    }
    await button(pagina, 'Quitar esta passkey').tap()
    await button(pagina, 'Confirmar con passkey').waitFor()
    await revisar('pedir')
    await button(pagina, 'Mandar el código').tap()
    await title(pagina, 'Escriba el código')
    await pagina.getByLabel('Código de seis cifras').fill('x')
    await button(pagina, 'Confirmar').tap()
    await pagina.getByText('El código no vale').first().waitFor()
    await revisar('codigo-falla')
    // Looking at a page ends Chromium's virtual authenticator.
    await pagina
      .getByLabel('Código de seis cifras')
      .fill((await findPendingCorreo(environment, 'codigo', correo)).codigo)
    await button(pagina, 'Confirmar').tap()
    await button(pagina, 'Sí, quitarla').waitFor()
    await revisar('quitar')
  })

  it('the button is not shown at an address in which passkeys are not valid', async () => {
    const { pagina } = await open()
    await pagina.goto(`${environment.url}/entrar`)
    await title(pagina, 'Entrar')
    expect(await button(pagina, 'Entrar con passkey').count()).toBe(0)
  })
})
