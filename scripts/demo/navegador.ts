import { type BrowserContext, chromium, devices, type Page } from 'playwright-core'
import { ARGUMENTOS, buscarNavegador } from '../navegador.ts'

const RUTA = buscarNavegador()

/**
 * Message in Spanish if no browser is installed, else undefined. Without a browser the demo sends the same requests
 * itself.
 */
export const SIN_NAVEGADOR = RUTA ? undefined : 'sin navegador (no se encontró ninguno; CHROMIUM dice dónde está)'

/**
 * Runs `hacer` with a page of an emulated phone at a location. Closes the browser afterwards.
 * @param donde latitude and longitude in degrees, accuracy in metres
 */
export async function conUnTelefono<T>(
  donde: { latitude: number; longitude: number; accuracy: number },
  hacer: (pagina: Page, contexto: BrowserContext) => Promise<T>,
): Promise<T> {
  const navegador = await chromium.launch({ executablePath: RUTA!, args: ARGUMENTOS })
  try {
    const contexto = await navegador.newContext({
      ...devices['Galaxy S9+'],
      locale: 'es-GT',
      permissions: ['geolocation'],
      geolocation: donde,
    })
    return await hacer(await contexto.newPage(), contexto)
  } finally {
    await navegador.close()
  }
}
