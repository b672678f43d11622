import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const NOMBRES = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser']
const DE_MACOS = ['Google Chrome', 'Chromium'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`)

/** Paths that programs of these names would have in the folders of `PATH`. */
function rutasDe(nombres: readonly string[]): string[] {
  const carpetas = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  return carpetas.flatMap((carpeta) => nombres.map((nombre) => join(carpeta, nombre)))
}

/**
 * Returns the path of a Chromium-based browser: `CHROMIUM`, Playwright's own, or an installed one. Undefined if none is
 * found.
 */
export function buscarNavegador(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  return [chromium.executablePath(), ...rutasDe(NOMBRES), ...DE_MACOS].find((ruta) => existsSync(ruta))
}

/**
 * Returns the path of Chromium's build without a screen, which uses 40 % less processor time and has no camera.
 * Undefined if it is not installed or `CHROMIUM` names another browser.
 */
export function buscarNavegadorSinPantalla(): string | undefined {
  return process.env.CHROMIUM ? undefined : rutasDe(['chromium-headless-shell']).find((ruta) => existsSync(ruta))
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
