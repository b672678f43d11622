import { describe, expect, it } from 'vitest'
import { dayInWords } from '../../../server/platform/time/day.ts'
import { DAY_MS } from '../../../server/platform/time/units.ts'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { waitUntil } from '../../factories.ts'
import { checkBars, checkLargeText } from '../inspect.ts'
import {
  checkWindow,
  createTestRepartidor,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  signInOnPage,
  titulo,
  usePhone,
  waitForDone,
  waitForInstall,
} from './phone.ts'

usePhone()

/** The day after some days, by the calendar of the phone, which is this machine's. */
const inDays = (days: number) => {
  const day = new Date(Date.now() + days * DAY_MS)
  return new Date(day.getTime() - day.getTimezoneOffset() * 60_000).toISOString().slice(0, 10)
}

async function openFailedAttempt() {
  const { codigo, repartidor } = await createTestRepartidor()
  const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
  await openPhone()
  await signInOnPage(codigo)
  await openGuiaPage(guia)
  await link('No se pudo entregar').tap()
  await pagina.getByLabel('Pidió otro día').check()
  return guia
}
const decisionOf = async (guia: string) => (await phoneComercio.api.guias.obtener(guia)).decision

describe.skipIf(!hasBrowser)('in a browser', () => {
  it('asks which day the recipient wants, also without coverage, and the merchant gets the decision', async () => {
    const guia = await openFailedAttempt()
    const day = pagina.getByLabel('¿Qué día lo quiere?')
    await waitForInstall()
    await phoneContext.setOffline(true)
    await locateButton('Registrar').tap()
    await pagina.getByText('Elija un día, desde mañana hasta el').waitFor()
    await checkWindow('otro-dia')
    await checkBars(pagina)
    await checkLargeText(pagina)
    for (const bad of [inDays(0), inDays(31)]) {
      await day.fill(bad)
      await locateButton('Registrar').tap()
      await pagina.getByText('Elija un día, desde mañana hasta el').waitFor()
    }
    const requestData = inDays(4)
    await day.fill(requestData)
    await locateButton('Registrar').tap()
    await titulo('Intento fallido').waitFor()
    await phoneContext.setOffline(false)
    await waitForDone('Intento fallido')
    await waitUntil(async () => (await decisionOf(guia))?.estado === 'tomada')
    expect(await decisionOf(guia)).toMatchObject({ accion: 'reintentar', por: 'destinatario', fecha: requestData })
    await openGuiaPage(guia)
    await pagina.getByText(`Otro intento el ${dayInWords(requestData)}`).waitFor()
  })

  it('leaves the decision open if the recipient did not say a day', async () => {
    const guia = await openFailedAttempt()
    await pagina.getByLabel('¿Qué día lo quiere?').fill(inDays(4))
    await pagina.getByLabel('No dijo qué día').check()
    await locateButton('Registrar').tap()
    await waitForDone('Intento fallido')
    await waitUntil(async () => (await decisionOf(guia)) !== null)
    expect(await decisionOf(guia)).toMatchObject({ estado: 'pendiente', fecha: null })
  })
})
