import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { inject } from 'vitest'
import { BROWSER_ARGUMENTS } from '../scripts/browser.ts'
import { CLOCK_OFFSET_S } from './childEnvironment.ts'

const path = inject('browserPath')
const pathWithoutCamera = inject('headlessBrowserPath')

/** Whether anything can be tested in a browser; `setup.ts` says once what is not tested without one. */
export const hasBrowser = path !== undefined

/**
 * Starts a browser. It has the real clock: below `faketime`, Chromium's threads wait for nothing and use all processors.
 * {@link openContext} moves the clock of its pages instead.
 */
const launchBrowser = (executablePath: string, args: readonly string[]): Promise<Browser> => {
  const { LD_PRELOAD, ...env } = process.env
  return chromium.launch({ executablePath, args: [...BROWSER_ARGUMENTS, ...args], env: env as Record<string, string> })
}

/** Script that moves the clock of a page. */
const MOVE_CLOCK = `globalThis.Date = class Date extends globalThis.Date {
  constructor(...parts) { parts.length > 0 ? super(...parts) : super(Date.now()) }
  static now() { return super.now() + ${CLOCK_OFFSET_S * 1_000} }
}`

/** A browser that whoever asks for it closes. */
export const openBrowser = (...args: string[]): Promise<Browser> => launchBrowser(pathWithoutCamera!, args)

/** A browser whose camera shows a film. Whoever asks for it closes it. */
export const openBrowserWithCamera = (filmPath: string): Promise<Browser> =>
  launchBrowser(path!, ['--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${filmPath}`])

let sharedBrowser: Promise<Browser> | undefined

/** A window of the browser that all files of a worker share, as a phone's in Guatemala unless told. */
export async function openContext(options: BrowserContextOptions = {}, browser?: Browser) {
  sharedBrowser ??= browser ? undefined : openBrowser()
  const context = await (browser ?? (await sharedBrowser!)).newContext({ locale: 'es-GT', ...options })
  // A slow machine waits, it doesn't fail.
  context.setDefaultTimeout(120_000)
  if (CLOCK_OFFSET_S !== 0) await context.addInitScript(MOVE_CLOCK)
  return context
}

/** Takes a picture of the whole page into the folder that `SCREENSHOTS` names, for people to look at. */
export async function captureScreen(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS: screenshotFolder } = process.env
  if (screenshotFolder)
    await page.screenshot({
      path: join(screenshotFolder, `${name.replace(/[^\p{L}\d]+/gu, '-')}.png`),
      fullPage: true,
    })
}
