import { NO_BROWSER, withPhone } from './browser.ts'

const PLACE = { latitude: 14.70811, longitude: -90.50042, accuracy: 12 }

/**
 * Confirms the location as the recipient does, with the link in the recipient's message.
 * @returns description of the way used, in Spanish
 */
export async function confirmAsDestinatario(direccion: string): Promise<string> {
  if (NO_BROWSER) {
    const fields = {
      lat: `${PLACE.latitude}`,
      lng: `${PLACE.longitude}`,
      precision_m: '12',
      metodo: 'gps',
      seguro: '1',
    }
    const body = new URLSearchParams({ ...fields, referencia: 'Portón verde' })
    await fetch(direccion, { method: 'POST', redirect: 'manual', body })
    return `${NO_BROWSER}, con el mismo formulario`
  }
  return withPhone(PLACE, async (page) => {
    const startedAt = performance.now()
    await page.goto(direccion)
    await page.getByRole('button', { name: 'Estoy ahí ahora' }).tap()
    await page
      .getByText(/precisión/i)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Confirmar' }).tap()
    const confirmButton = page.getByRole('button', { name: /^Sí/ })
    await Promise.race([confirmButton.waitFor(), page.getByText('Gracias').first().waitFor()])
    if (await confirmButton.isVisible()) await confirmButton.tap()
    await page.getByText('Gracias').first().waitFor()
    await page.getByLabel('¿Cómo se reconoce la puerta?').fill('Portón verde')
    await page.getByRole('button', { name: 'Guardar las señas' }).tap()
    await page.getByText('Cambiar las señas').waitFor()
    return `en Chromium, como en un teléfono, en ${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  })
}
