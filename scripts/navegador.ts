import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const NOMBRES = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser']
const DE_MACOS = ['Google Chrome', 'Chromium'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`)

/** Where a browser of Chromium's kind is: what `CHROMIUM` names, Playwright's own, or one that is installed. */
export function buscarNavegador(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  const carpetas = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  const instalados = carpetas.flatMap((carpeta) => NOMBRES.map((nombre) => join(carpeta, nombre)))
  return [chromium.executablePath(), ...instalados, ...DE_MACOS].find((ruta) => existsSync(ruta))
}

/** How it is started: it asks nobody for anything of its own accord, and works in a container, too. */
export const ARGUMENTOS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
