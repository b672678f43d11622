import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const BROWSER_NAMES = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser']
const MACOS_PATHS = ['Google Chrome', 'Chromium'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`)

/** Paths that programs of these names would have in the folders of `PATH`. */
function candidatePaths(names: readonly string[]): string[] {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  return folders.flatMap((folder) => names.map((name) => join(folder, name)))
}

/**
 * Returns the path of a Chromium-based browser: `CHROMIUM`, Playwright's own, or an installed one. Undefined if none is
 * found.
 */
export function findBrowser(): string | undefined {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  return [chromium.executablePath(), ...candidatePaths(BROWSER_NAMES), ...MACOS_PATHS].find((path) => existsSync(path))
}

/**
 * Returns the path of Chromium's build without a screen, which uses 40 % less processor time and has no camera.
 * Undefined if it is not installed or `CHROMIUM` names another browser.
 */
export function findHeadlessBrowser(): string | undefined {
  return process.env.CHROMIUM ? undefined : candidatePaths(['chromium-headless-shell']).find((path) => existsSync(path))
}

/** Command line options of the browser: no network requests of its own, and usable in a container. */
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
