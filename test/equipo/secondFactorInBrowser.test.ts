import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { originOf, VIRTUAL_AUTHENTICATOR } from './authenticator.ts'
import { createCorreoAddress, findPendingCorreo } from './persona.ts'
import { createTestApp } from './totp.ts'

const entorno = useEnvironment()
const abiertas: Page[] = []
afterAll(() => Promise.all(abiertas.map((pagina) => pagina.context().close())))

const titulo = (pagina: Page, texto: string) => pagina.getByRole('heading', { level: 1, name: texto }).waitFor()
const boton = (pagina: Page, name: string) => pagina.getByRole('button', { name, exact: true })

/** A device of its own: a browser with its cookies and, if it has one, its authenticator. */
async function nuevoAparato(conAutenticador: boolean): Promise<Page> {
  const contexto = await openContext({ viewport: { width: 360, height: 740 }, hasTouch: true })
  const pagina = await contexto.newPage()
  abiertas.push(pagina)
  const cdp = await contexto.newCDPSession(pagina)
  await cdp.send('WebAuthn.enable')
  if (conAutenticador) await cdp.send('WebAuthn.addVirtualAuthenticator', VIRTUAL_AUTHENTICATOR)
  return pagina
}

let pasos = 0
/** Leaves pictures of a step in /tmp: a phone and a wide window, in light and dark. */
async function retratar(pagina: Page, nombre: string) {
  const paso = String(++pasos).padStart(2, '0')
  for (const [ventana, width, height] of [
    ['telefono', 360, 740],
    ['ancha', 1440, 900],
  ] as const) {
    await pagina.setViewportSize({ width, height })
    for (const colorScheme of ['light', 'dark'] as const) {
      await pagina.emulateMedia({ colorScheme })
      await captureScreen(pagina, `factor-${paso}-${nombre}-${ventana}-${colorScheme}`)
    }
  }
  await pagina.setViewportSize({ width: 360, height: 740 })
  await pagina.emulateMedia({ colorScheme: 'light' })
}

/** Asks for a code by mail and types it. */
async function entrarConCorreo(pagina: Page, correo: string) {
  await pagina.goto(`${originOf(entorno)}/entrar`)
  await pagina.getByLabel('Su correo').fill(correo)
  await boton(pagina, 'Mandar el código').tap()
  await titulo(pagina, 'Escriba el código')
  await pagina.getByLabel('Código de seis cifras').fill((await findPendingCorreo(entorno, 'codigo', correo)).codigo)
  await boton(pagina, 'Entrar').tap()
  await titulo(pagina, 'Ahora, su segundo factor')
}

describe.runIf(hasBrowser)('a person of the courier company, in browsers', () => {
  it('adds a passkey, loses it, comes back with a recovery code, and goes on with an app', FULL_RUN_ONLY, async () => {
    const correo = createCorreoAddress()
    const cuerpo = { correo, nombre: 'Ana Pérez', alcances: ['ver'] }
    const { codigo } = (await entorno.operar('POST', '/invitaciones', cuerpo)).cuerpo
    const primero = await nuevoAparato(true)
    await primero.goto((await findPendingCorreo(entorno, 'invitacion', correo)).enlace)
    await retratar(primero, 'invitacion')
    await primero.getByLabel('Código que le dio quien le invitó').fill(codigo)
    await boton(primero, 'Aceptar y entrar').tap()
    await titulo(primero, 'Falta su segundo factor')
    await boton(primero, 'Agregar una passkey').waitFor()
    await retratar(primero, 'falta')
    await boton(primero, 'Agregar una passkey').tap()
    await titulo(primero, 'Sus códigos de recuperación')
    await retratar(primero, 'codigos')
    const codigos = await primero.locator('.codigos li').allTextContents()
    const [descarga] = await Promise.all([
      primero.waitForEvent('download'),
      primero.getByRole('link', { name: 'Descargar como texto' }).tap(),
    ])
    expect(descarga.suggestedFilename()).toBe('codigos-de-recuperacion.txt')
    await primero.getByRole('link', { name: 'Ya los guardé' }).tap()
    await titulo(primero, 'Su cuenta')
    await retratar(primero, 'cuenta-con-passkey')
    await boton(primero, 'Quitar esta passkey').tap()
    await primero.getByText('Es su último segundo factor').waitFor()
    await retratar(primero, 'ultimo')
    await primero.getByRole('link', { name: 'Volver a su cuenta' }).tap()
    await boton(primero, 'Salir').tap()
    await titulo(primero, 'Entrar')

    const segundo = await nuevoAparato(false)
    await entrarConCorreo(segundo, correo)
    await retratar(segundo, 'con-recuperacion')
    await segundo.getByLabel('Código').fill(codigos[3]!.toLowerCase())
    await boton(segundo, 'Entrar').tap()
    await titulo(segundo, 'Su cuenta')
    await segundo.getByText('Le quedan 9 códigos').waitFor()
    await boton(segundo, 'Agregar una app de códigos').tap()
    await titulo(segundo, 'Su app de códigos')
    await retratar(segundo, 'app')
    const app = createTestApp(entorno, (await segundo.locator('.clave').textContent())!.replaceAll(' ', ''))
    await segundo.getByLabel('Seis cifras de la app').fill(app.codigo())
    await boton(segundo, 'Confirmar').tap()
    await titulo(segundo, 'Su cuenta')
    await boton(segundo, 'Quitar esta passkey').tap()
    await segundo.locator('li', { hasText: 'Quitar esta passkey' }).waitFor({ state: 'detached' })
    await retratar(segundo, 'cuenta-con-app')
    await boton(segundo, 'Salir').tap()
    await titulo(segundo, 'Entrar')

    await boton(primero, 'Entrar con passkey').tap()
    await primero.getByText('Esa passkey no vale aquí').waitFor()
    await entrarConCorreo(segundo, correo)
    await retratar(segundo, 'con-app')
    await segundo.getByLabel('Código').fill(codigos[3]!)
    await boton(segundo, 'Entrar').tap()
    await segundo.getByText('El código no vale. Espere').first().waitFor()
    await retratar(segundo, 'no-vale')
    await segundo.getByLabel('Código').fill(app.codigo())
    await boton(segundo, 'Entrar').tap()
    await titulo(segundo, 'Su cuenta')
  })
})
