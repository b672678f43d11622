import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { originOf, VIRTUAL_AUTHENTICATOR } from './authenticator.ts'
import { createCorreoAddress, findPendingCorreo } from './persona.ts'
import { createTestApp } from './totp.ts'

const environment = useEnvironment()
const openPages: Page[] = []
afterAll(() => Promise.all(openPages.map((page) => page.context().close())))

const title = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** A device of its own: a browser with its cookies and, if it has one, its authenticator. */
async function createDevice(withAuthenticator: boolean): Promise<Page> {
  const context = await openContext({ viewport: { width: 360, height: 740 }, hasTouch: true })
  const page = await context.newPage()
  openPages.push(page)
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  if (withAuthenticator) await cdp.send('WebAuthn.addVirtualAuthenticator', VIRTUAL_AUTHENTICATOR)
  return page
}

let steps = 0
/** Leaves pictures of a step in /tmp: a phone and a wide window, in light and dark. */
async function takeScreenshot(page: Page, name: string) {
  const step = String(++steps).padStart(2, '0')
  for (const [ventana, width, height] of [
    ['telefono', 360, 740],
    ['ancha', 1440, 900],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await captureScreen(page, `factor-${step}-${name}-${ventana}-${colorScheme}`)
    }
  }
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Asks for a code by mail and types it. */
async function signInWithMail(page: Page, correo: string) {
  await page.goto(`${originOf(environment)}/entrar`)
  await page.getByLabel('Su correo').fill(correo)
  await button(page, 'Mandar el código').tap()
  await title(page, 'Escriba el código')
  await page.getByLabel('Código de seis cifras').fill((await findPendingCorreo(environment, 'codigo', correo)).codigo)
  await button(page, 'Entrar').tap()
  await title(page, 'Ahora, su segundo factor')
}

describe.runIf(hasBrowser)('a person of the courier company, in browsers', () => {
  it('adds a passkey, loses it, comes back with a recovery code, and goes on with an app', FULL_RUN_ONLY, async () => {
    const correo = createCorreoAddress()
    const body = { correo, nombre: 'Ana Pérez', alcances: ['ver'] }
    const { codigo } = (await environment.asOperador('POST', '/invitaciones', body)).body
    const first = await createDevice(true)
    await first.goto((await findPendingCorreo(environment, 'invitacion', correo)).enlace)
    await takeScreenshot(first, 'invitacion')
    await first.getByLabel('Código que le dio quien le invitó').fill(codigo)
    await button(first, 'Aceptar y entrar').tap()
    await title(first, 'Falta su segundo factor')
    await button(first, 'Agregar una passkey').waitFor()
    await takeScreenshot(first, 'falta')
    await button(first, 'Agregar una passkey').tap()
    await title(first, 'Sus códigos de recuperación')
    await takeScreenshot(first, 'codigos')
    const codigos = await first.locator('.codigos li').allTextContents()
    const [fileDownload] = await Promise.all([
      first.waitForEvent('download'),
      first.getByRole('link', { name: 'Descargar como texto' }).tap(),
    ])
    expect(fileDownload.suggestedFilename()).toBe('codigos-de-recuperacion.txt')
    await first.getByRole('link', { name: 'Ya los guardé' }).tap()
    await title(first, 'Su cuenta')
    await takeScreenshot(first, 'cuenta-con-passkey')
    await button(first, 'Quitar esta passkey').tap()
    await first.getByText('Es su último segundo factor').waitFor()
    await takeScreenshot(first, 'ultimo')
    await first.getByRole('link', { name: 'Volver a su cuenta' }).tap()
    await button(first, 'Salir').tap()
    await title(first, 'Entrar')

    const second = await createDevice(false)
    await signInWithMail(second, correo)
    await takeScreenshot(second, 'con-recuperacion')
    await second.getByLabel('Código').fill(codigos[3]!.toLowerCase())
    await button(second, 'Entrar').tap()
    await title(second, 'Su cuenta')
    await second.getByText('Le quedan 9 códigos').waitFor()
    await button(second, 'Agregar una app de códigos').tap()
    await title(second, 'Su app de códigos')
    await takeScreenshot(second, 'app')
    const app = createTestApp(environment, (await second.locator('.clave').textContent())!.replaceAll(' ', ''))
    await second.getByLabel('Seis cifras de la app').fill(app.codigo())
    await button(second, 'Confirmar').tap()
    await title(second, 'Su cuenta')
    await button(second, 'Quitar esta passkey').tap()
    await second.locator('li', { hasText: 'Quitar esta passkey' }).waitFor({ state: 'detached' })
    await takeScreenshot(second, 'cuenta-con-app')
    await button(second, 'Salir').tap()
    await title(second, 'Entrar')

    await button(first, 'Entrar con passkey').tap()
    await first.getByText('Esa passkey no vale aquí').waitFor()
    await signInWithMail(second, correo)
    await takeScreenshot(second, 'con-app')
    await second.getByLabel('Código').fill(codigos[3]!)
    await button(second, 'Entrar').tap()
    await second.getByText('El código no vale. Espere').first().waitFor()
    await takeScreenshot(second, 'no-vale')
    await second.getByLabel('Código').fill(app.codigo())
    await button(second, 'Entrar').tap()
    await title(second, 'Su cuenta')
  })
})
