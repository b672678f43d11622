import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage, evaluateIn } from '../pages/inspect.ts'
import { createCorreoAddress, findPendingCorreo } from './persona.ts'
import { createTestApp } from './totp.ts'

const environment = useEnvironment(undefined, () => ({ MAILBOX: '1' }))
const openPages: Page[] = []
const open = async (javaScriptEnabled: boolean) => {
  const context = await openContext({ javaScriptEnabled, viewport: { width: 360, height: 740 }, hasTouch: true })
  const page = await context.newPage()
  openPages.push(page)
  return page
}
afterAll(() => Promise.all(openPages.map((page) => page.context().close())))

const invitar = async (more: object = {}) => {
  const correo = createCorreoAddress()
  const body = { correo, nombre: 'Ana Pérez', alcances: ['ver', 'operar'], ...more }
  const { codigo } = (await environment.asOperador('POST', '/invitaciones', body)).body
  return { correo, codigo, enlace: (await findPendingCorreo(environment, 'invitacion', correo)).enlace as string }
}
const title = (page: Page, text: string) => page.getByRole('heading', { level: 1, name: text }).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name })

/** The code in the local mailbox, which needs no waiting for a worker: a mail is shown as soon as it is written. */
async function readCodigoFromMailbox(page: Page, correo: string): Promise<string> {
  await page.goto(`${environment.url}/buzon`)
  const carta = page.locator('li.tarjeta', { hasText: `Para ${correo}` }).first()
  return (await carta.locator('code').textContent())!
}

/** Adds an app on the page of a person whose second factor is missing, up to the account. */
async function agregarApp(page: Page, look: (name: string) => Promise<void> = async () => {}) {
  await title(page, 'Falta su segundo factor')
  await look('falta')
  await button(page, 'Usar una app de códigos').tap()
  await title(page, 'Su app de códigos')
  const key = (await page.locator('.clave').textContent())!.replaceAll(' ', '')
  const app = createTestApp(environment, key)
  await look('app')
  await page.getByLabel('Seis cifras de la app').fill('000000')
  await button(page, 'Confirmar').tap()
  await page.getByText('Ese código no vale').first().waitFor()
  await page.getByLabel('Seis cifras de la app').fill(app.codigo())
  await button(page, 'Confirmar').tap()
  await title(page, 'Sus códigos de recuperación')
  expect(await page.locator('.codigos li').count()).toBe(10)
  await look('codigos')
  await page.getByRole('link', { name: 'Ya los guardé' }).tap()
  await title(page, 'Su cuenta')
  return app
}

describe.runIf(hasBrowser)('in a browser', () => {
  it('a person accepts an invitation, leaves, and enters again by mail, without a program', async () => {
    const { correo, enlace, codigo: invitationCodigo } = await invitar()
    const page = await open(false)
    await page.goto(enlace.replace('localhost', '127.0.0.1'))
    await page.getByLabel('Código que le dio quien le invitó').fill('AAAA-AAAA')
    await button(page, 'Aceptar y entrar').tap()
    await page.getByText('El código no es el de esta invitación').first().waitFor()
    await page.getByLabel('Código que le dio quien le invitó').fill(invitationCodigo)
    await title(page, 'Le invitan a Guías')
    await button(page, 'Aceptar y entrar').tap()
    const app = await agregarApp(page)
    await button(page, 'Salir').tap()
    await title(page, 'Entrar')
    await page.getByLabel('Su correo').fill(correo)
    await button(page, 'Mandar el código').tap()
    await title(page, 'Escriba el código')
    const codigo = await readCodigoFromMailbox(page, correo)
    await page.goto(`${environment.url}/entrar/codigo`)
    await page.getByLabel('Código de seis cifras').fill('x')
    await button(page, 'Entrar').tap()
    await page.getByText('El código no vale. Revíselo').first().waitFor()
    await page.getByLabel('Código de seis cifras').fill(codigo)
    await page.keyboard.press('Enter')
    await title(page, 'Ahora, su segundo factor')
    await page.getByLabel('Código').fill('000000')
    await button(page, 'Entrar').tap()
    await page.getByText('El código no vale. Espere').first().waitFor()
    await page.getByLabel('Código').fill(app.codigo())
    await page.keyboard.press('Enter')
    await title(page, 'Su cuenta')
    expect(await page.getByText(correo).count()).toBe(1)
    const cookies = await page.context().cookies()
    expect(cookies.map(({ name }) => name).sort()).toEqual(['guias_conocido', 'guias_sesion'])
    for (const cookie of cookies) expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
  })

  it('the pages have no fault that axe finds, in light and dark and with letters twice as large', async () => {
    const { comercio } = await environment.createComercio()
    const pagina = await open(true)
    const touchTargets = 'button, a.boton, input:not([type=hidden])'
    const look = async (name: string) => {
      await checkPage({ pagina, nombre: `entrar-${name}`, touchTargets })
      await checkLargeText(pagina)
      await captureScreen(pagina, `entrar-${name}-letras`)
      await evaluateIn(pagina, `document.documentElement.style.fontSize = ''`)
    }
    const revisar = async (name: string) => {
      await look(name)
      await pagina.reload()
    }
    await pagina.goto(`${environment.url}/entrar`)
    await revisar('correo')
    const { correo, enlace, codigo: invitationCodigo } = await invitar()
    await pagina.goto(enlace.replace('localhost', '127.0.0.1'))
    await revisar('invitacion')
    await pagina.getByLabel('Código que le dio quien le invitó').fill(invitationCodigo)
    await button(pagina, 'Aceptar y entrar').tap()
    const app = await agregarApp(pagina, look)
    await environment.asOperador('POST', '/invitaciones', { correo, nombre: 'Ana', comercio, alcances: ['despacho'] })
    const other = (await findPendingCorreo(environment, 'invitacion', correo)).enlace as string
    await pagina.goto(other.replace('localhost', '127.0.0.1'))
    await button(pagina, 'Aceptar y entrar').tap()
    await title(pagina, 'Su cuenta')
    await pagina.getByText('También trabaja en').waitFor()
    await revisar('cuenta')
    await pagina.getByRole('link', { name: 'Cambiar el correo' }).tap()
    await title(pagina, 'Cambiar su correo')
    await revisar('otro-correo')
    await pagina.getByLabel('Correo nuevo').fill(createCorreoAddress())
    await button(pagina, 'Mandar el código').tap()
    await title(pagina, 'Escriba el código')
    await revisar('codigo-de-otro-correo')
    await pagina.goto(`${environment.url}/entrar`)
    await pagina.getByLabel('Su correo').fill(correo)
    await button(pagina, 'Mandar el código').tap()
    await title(pagina, 'Escriba el código')
    await revisar('codigo')
    const codigo = await readCodigoFromMailbox(pagina, correo)
    await pagina.goto(`${environment.url}/entrar/codigo`)
    await pagina.getByLabel('Código de seis cifras').fill(codigo)
    await button(pagina, 'Entrar').tap()
    await title(pagina, 'Ahora, su segundo factor')
    await revisar('segundo-factor')
    await pagina.getByLabel('Código').fill(app.codigo())
    await button(pagina, 'Entrar').tap()
    await title(pagina, 'Su cuenta')
    environment.advance(5 * MINUTE_MS + 1)
    await button(pagina, 'Hacer otros diez').tap()
    await title(pagina, 'Confirme que es usted')
    await revisar('presencia')
    await pagina.getByLabel('Código').fill(app.codigo())
    await button(pagina, 'Confirmar').tap()
    await title(pagina, 'Su cuenta')
    await button(pagina, 'Hacer otros diez').tap()
    await title(pagina, 'Sus códigos de recuperación')
    await pagina.goto(other.replace('localhost', '127.0.0.1'))
    await title(pagina, 'El enlace ya no vale')
    await revisar('vencida')
  })
})
