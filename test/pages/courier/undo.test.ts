// A step can be undone for some seconds, before it is sent.
import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../../archivos/images.ts'
import { hasBrowser } from '../../browser.ts'
import { waitUntil } from '../../factories.ts'
import {
  checkWindow,
  createGuiaIn,
  createTestRepartidor,
  dumpPhoneDatabase,
  fillEntrega,
  groupCode,
  link,
  locateButton,
  openGuiaPage,
  openPhone,
  pagina,
  phoneComercio,
  phoneContext,
  phoneEnvironment,
  postponeQueue,
  readPrueba,
  readShortEventoTypes,
  reportIntento,
  signInOnPage,
  titulo,
  usePhone,
  waitForInstall,
} from './phone.ts'

usePhone()

describe.skipIf(!hasBrowser)('a step that was just taken', () => {
  it('comes back as it was filled in, with the other parcel of the door, and is sent once it is confirmed again', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const place = { lat: 14.7189, lng: -90.6442 }
    const guia = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], { destinatario: 'Ana Tzoc', ...place })
    const other = await createGuiaIn(repartidor, ['recolectado', 'en_ruta'], { destinatario: 'Luis Pérez', ...place })
    await openPhone()
    await signInOnPage(codigo)
    await fillEntrega(guia, { nombre: '', firmar: true })
    await pagina.getByRole('checkbox').check()
    await locateButton('Lo recibe Luis Pérez').tap()
    await locateButton('Confirmar las 2 entregas').tap()
    await titulo('Entregado: 2 guías').waitFor()
    for (const code of [guia, other]) await link(groupCode(code)).waitFor()
    await checkWindow('deshacer')
    await locateButton('Deshacer').tap()
    await titulo('Entregar').waitFor()
    for (const message of ['1 foto', 'Recibe Ana Tzoc, es el destinatario', 'Firmó'])
      await pagina.locator('.resumen').getByText(message, { exact: true }).first().waitFor()
    expect(await pagina.getByRole('checkbox').isChecked()).toBe(true)
    expect(await pagina.getByLabel('Quién lo recibe').inputValue()).toBe('Luis Pérez')
    expect(await readShortEventoTypes(guia)).not.toContain('entregado')
    await locateButton('Confirmar las 2 entregas').tap()
    await titulo('Entregado: 2 guías').waitFor()
    await pagina.getByText('Enviado.').waitFor()
    expect(await locateButton('Deshacer').count()).toBe(0)
    for (const delivered of [guia, other]) {
      await waitUntil(async () => (await readPrueba(delivered)).status === 200)
      expect(await readShortEventoTypes(delivered)).toEqual(['aceptado', 'recolectado', 'en_ruta', 'entregado'])
    }
  })

  it('is sent by another window once it can no longer be undone, without background sync', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    const initScript = `if (isSecureContext) Object.defineProperty(ServiceWorkerRegistration.prototype, 'sync', {})`
    await openPhone({ initScript })
    await signInOnPage(codigo)
    const otherWindow = await phoneContext.newPage()
    await otherWindow.goto(pagina.url())
    await otherWindow.getByText('1 por entregar').waitFor()
    await openGuiaPage(guia)
    await reportIntento(guia, 'No contesta')
    await locateButton('Deshacer').waitFor()
    await pagina.close()
    await waitUntil(async () => (await readShortEventoTypes(guia)).includes('intento_fallido'))
  })

  it('can no longer be undone once the phone’s clock was set back, because it may be on its way', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await openGuiaPage(guia)
    await link('Entregar').waitFor()
    await waitForInstall()
    await phoneContext.setOffline(true)
    await reportIntento(guia, 'No contesta')
    await locateButton('Deshacer').waitFor()
    await postponeQueue(86_400_000)
    await pagina.reload()
    await titulo('Intento fallido').waitFor()
    await pagina.getByText('Por enviar:').waitFor()
    expect(await locateButton('Deshacer').count()).toBe(0)
  })

  it('leaves nothing of an undone attempt, and is sent at once when the courier goes on', async () => {
    const { codigo, repartidor } = await createTestRepartidor()
    const guia = await createGuiaOnRoute(phoneEnvironment, phoneComercio, repartidor)
    await openPhone()
    await signInOnPage(codigo)
    await reportIntento(guia, 'No contesta', true)
    await locateButton('Deshacer').tap()
    await titulo('No se pudo entregar').waitFor()
    expect(await pagina.getByRole('radio', { checked: true }).count()).toBe(0)
    expect(await dumpPhoneDatabase()).not.toContain('"motivo":"sin_respuesta"')
    await reportIntento(guia, 'No había nadie')
    await link('Ver la lista').tap()
    await pagina.getByText('No había nadie').waitFor()
    await waitUntil(async () => (await readShortEventoTypes(guia)).includes('intento_fallido'))
    await expect.poll(() => pagina.getByText('por enviar', { exact: true }).count()).toBe(0)
    await pagina.getByText('No había nadie').waitFor()
    expect((await readShortEventoTypes(guia)).filter((tipo) => tipo === 'intento_fallido')).toHaveLength(1)
  })
})
