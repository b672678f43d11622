import { existsSync } from 'node:fs'
import type { BrowserContext, Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'

/** Without it, the same requests are sent without a browser. */
export const SIN_NAVEGADOR = existsSync(CHROMIUM) ? undefined : `sin navegador (no hay ${CHROMIUM})`

/** Does something as somebody with a phone would, at that place. */
export async function conUnTelefono<T>(
  donde: { latitude: number; longitude: number; accuracy: number },
  hacer: (pagina: Page, contexto: BrowserContext) => Promise<T>,
): Promise<T> {
  const { chromium, devices } = await import('playwright-core')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  const navegador = await chromium.launch({ executablePath: CHROMIUM, args })
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
