import { type BrowserContext, chromium, devices, type Page } from 'playwright-core'
import { ARGUMENTOS, buscarNavegador } from '../navegador.ts'

const RUTA = buscarNavegador()

/** Without it, the same requests are sent without a browser. */
export const SIN_NAVEGADOR = RUTA ? undefined : 'sin navegador (no se encontró ninguno; CHROMIUM dice dónde está)'

/** Does something as somebody with a phone would, at that place. */
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
