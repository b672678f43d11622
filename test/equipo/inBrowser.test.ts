import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage, evaluateIn } from '../pages/inspect.ts'
import { createCorreoAddress, findPendingCorreo } from './persona.ts'
import { createTestApp } from './totp.ts'

const entorno = useEnvironment(undefined, () => ({ MAILBOX: '1' }))
const abiertas: Page[] = []
const abrir = async (javaScriptEnabled: boolean) => {
  const contexto = await openContext({ javaScriptEnabled, viewport: { width: 360, height: 740 }, hasTouch: true })
  const pagina = await contexto.newPage()
  abiertas.push(pagina)
  return pagina
}
afterAll(() => Promise.all(abiertas.map((pagina) => pagina.context().close())))

const invitar = async (mas: object = {}) => {
  const correo = createCorreoAddress()
  const cuerpo = { correo, nombre: 'Ana Pérez', alcances: ['ver', 'operar'], ...mas }
  const { codigo } = (await entorno.operar('POST', '/invitaciones', cuerpo)).cuerpo
  return { correo, codigo, enlace: (await findPendingCorreo(entorno, 'invitacion', correo)).enlace as string }
}
const titulo = (pagina: Page, texto: string) => pagina.getByRole('heading', { level: 1, name: texto }).waitFor()
const boton = (pagina: Page, name: string) => pagina.getByRole('button', { name })

/** The code in the local mailbox, which needs no waiting for a worker: a mail is shown as soon as it is written. */
async function codigoDelBuzon(pagina: Page, correo: string): Promise<string> {
  await pagina.goto(`${entorno.url}/buzon`)
  const carta = pagina.locator('li.tarjeta', { hasText: `Para ${correo}` }).first()
  return (await carta.locator('code').textContent())!
}

/** Adds an app on the page of a person whose second factor is missing, up to the account. */
async function agregarApp(pagina: Page, mirar: (nombre: string) => Promise<void> = async () => {}) {
  await titulo(pagina, 'Falta su segundo factor')
  await mirar('falta')
  await boton(pagina, 'Usar una app de códigos').tap()
  await titulo(pagina, 'Su app de códigos')
  const clave = (await pagina.locator('.clave').textContent())!.replaceAll(' ', '')
  const app = createTestApp(entorno, clave)
  await mirar('app')
  await pagina.getByLabel('Seis cifras de la app').fill('000000')
  await boton(pagina, 'Confirmar').tap()
  await pagina.getByText('Ese código no vale').first().waitFor()
  await pagina.getByLabel('Seis cifras de la app').fill(app.codigo())
  await boton(pagina, 'Confirmar').tap()
  await titulo(pagina, 'Sus códigos de recuperación')
  expect(await pagina.locator('.codigos li').count()).toBe(10)
  await mirar('codigos')
  await pagina.getByRole('link', { name: 'Ya los guardé' }).tap()
  await titulo(pagina, 'Su cuenta')
  return app
}

describe.runIf(hasBrowser)('in a browser', () => {
  it('a person accepts an invitation, leaves, and enters again by mail, without a program', async () => {
    const { correo, enlace, codigo: deInvitada } = await invitar()
    const pagina = await abrir(false)
    await pagina.goto(enlace.replace('localhost', '127.0.0.1'))
    await pagina.getByLabel('Código que le dio quien le invitó').fill('AAAA-AAAA')
    await boton(pagina, 'Aceptar y entrar').tap()
    await pagina.getByText('El código no es el de esta invitación').first().waitFor()
    await pagina.getByLabel('Código que le dio quien le invitó').fill(deInvitada)
    await titulo(pagina, 'Le invitan a Guías')
    await boton(pagina, 'Aceptar y entrar').tap()
    const app = await agregarApp(pagina)
    await boton(pagina, 'Salir').tap()
    await titulo(pagina, 'Entrar')
    await pagina.getByLabel('Su correo').fill(correo)
    await boton(pagina, 'Mandar el código').tap()
    await titulo(pagina, 'Escriba el código')
    const codigo = await codigoDelBuzon(pagina, correo)
    await pagina.goto(`${entorno.url}/entrar/codigo`)
    await pagina.getByLabel('Código de seis cifras').fill('x')
    await boton(pagina, 'Entrar').tap()
    await pagina.getByText('El código no vale. Revíselo').first().waitFor()
    await pagina.getByLabel('Código de seis cifras').fill(codigo)
    await pagina.keyboard.press('Enter')
    await titulo(pagina, 'Ahora, su segundo factor')
    await pagina.getByLabel('Código').fill('000000')
    await boton(pagina, 'Entrar').tap()
    await pagina.getByText('El código no vale. Espere').first().waitFor()
    await pagina.getByLabel('Código').fill(app.codigo())
    await pagina.keyboard.press('Enter')
    await titulo(pagina, 'Su cuenta')
    expect(await pagina.getByText(correo).count()).toBe(1)
    const cookies = await pagina.context().cookies()
    expect(cookies.map(({ name }) => name).sort()).toEqual(['guias_conocido', 'guias_sesion'])
    for (const cookie of cookies) expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
  })

  it('the pages have no fault that axe finds, in light and dark and with letters twice as large', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const pagina = await abrir(true)
    const blancos = 'button, a.boton, input:not([type=hidden])'
    const mirar = async (nombre: string) => {
      await checkPage({ pagina, nombre: `entrar-${nombre}`, touchTargets: blancos })
      await checkLargeText(pagina)
      await captureScreen(pagina, `entrar-${nombre}-letras`)
      await evaluateIn(pagina, `document.documentElement.style.fontSize = ''`)
    }
    const revisar = async (nombre: string) => {
      await mirar(nombre)
      await pagina.reload()
    }
    await pagina.goto(`${entorno.url}/entrar`)
    await revisar('correo')
    const { correo, enlace, codigo: deInvitada } = await invitar()
    await pagina.goto(enlace.replace('localhost', '127.0.0.1'))
    await revisar('invitacion')
    await pagina.getByLabel('Código que le dio quien le invitó').fill(deInvitada)
    await boton(pagina, 'Aceptar y entrar').tap()
    const app = await agregarApp(pagina, mirar)
    await entorno.operar('POST', '/invitaciones', { correo, nombre: 'Ana', comercio, alcances: ['despacho'] })
    const otro = (await findPendingCorreo(entorno, 'invitacion', correo)).enlace as string
    await pagina.goto(otro.replace('localhost', '127.0.0.1'))
    await boton(pagina, 'Aceptar y entrar').tap()
    await titulo(pagina, 'Su cuenta')
    await pagina.getByText('También trabaja en').waitFor()
    await revisar('cuenta')
    await pagina.getByRole('link', { name: 'Cambiar el correo' }).tap()
    await titulo(pagina, 'Cambiar su correo')
    await revisar('otro-correo')
    await pagina.getByLabel('Correo nuevo').fill(createCorreoAddress())
    await boton(pagina, 'Mandar el código').tap()
    await titulo(pagina, 'Escriba el código')
    await revisar('codigo-de-otro-correo')
    await pagina.goto(`${entorno.url}/entrar`)
    await pagina.getByLabel('Su correo').fill(correo)
    await boton(pagina, 'Mandar el código').tap()
    await titulo(pagina, 'Escriba el código')
    await revisar('codigo')
    const codigo = await codigoDelBuzon(pagina, correo)
    await pagina.goto(`${entorno.url}/entrar/codigo`)
    await pagina.getByLabel('Código de seis cifras').fill(codigo)
    await boton(pagina, 'Entrar').tap()
    await titulo(pagina, 'Ahora, su segundo factor')
    await revisar('segundo-factor')
    await pagina.getByLabel('Código').fill(app.codigo())
    await boton(pagina, 'Entrar').tap()
    await titulo(pagina, 'Su cuenta')
    entorno.advance(5 * MINUTE_MS + 1)
    await boton(pagina, 'Hacer otros diez').tap()
    await titulo(pagina, 'Confirme que es usted')
    await revisar('presencia')
    await pagina.getByLabel('Código').fill(app.codigo())
    await boton(pagina, 'Confirmar').tap()
    await titulo(pagina, 'Su cuenta')
    await boton(pagina, 'Hacer otros diez').tap()
    await titulo(pagina, 'Sus códigos de recuperación')
    await pagina.goto(otro.replace('localhost', '127.0.0.1'))
    await titulo(pagina, 'El enlace ya no vale')
    await revisar('vencida')
  })
})
