import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const NOMBRES = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser']
const DE_MACOS = ['Google Chrome', 'Chromium'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`)

/**
 * Returns the path of a Chromium-based browser: `CHROMIUM`, Playwright's own, or an installed one. Undefined if none is
 * found.
 */
export function buscarNavegador(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  const carpetas = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  const instalados = carpetas.flatMap((carpeta) => NOMBRES.map((nombre) => join(carpeta, nombre)))
  return [chromium.executablePath(), ...instalados, ...DE_MACOS].find((ruta) => existsSync(ruta))
}

/** Command line options of the browser: no network requests of its own, and usable in a container. */
export const ARGUMENTOS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
