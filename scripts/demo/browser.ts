import { type BrowserContext, chromium, devices, type Page } from 'playwright-core'
import { BROWSER_ARGUMENTS, findBrowser } from '../browser.ts'

const BROWSER_PATH = findBrowser()

/**
 * Message in Spanish if no browser is installed, else undefined. Without a browser the demo sends the same requests
 * itself.
 */
export const NO_BROWSER = BROWSER_PATH ? undefined : 'sin navegador (no se encontró ninguno; CHROMIUM dice dónde está)'

/**
 * Runs `perform` with a page of an emulated phone at a location. Closes the browser afterwards.
 * @param where latitude and longitude in degrees, accuracy in metres
 */
export async function withPhone<T>(
  where: { latitude: number; longitude: number; accuracy: number },
  perform: (page: Page, context: BrowserContext) => Promise<T>,
): Promise<T> {
  const browser = await chromium.launch({ executablePath: BROWSER_PATH!, args: BROWSER_ARGUMENTS })
  try {
    const context = await browser.newContext({
      ...devices['Galaxy S9+'],
      locale: 'es-GT',
      permissions: ['geolocation'],
      geolocation: where,
    })
    return await perform(await context.newPage(), context)
  } finally {
    await browser.close()
  }
}
