import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { captureScreen } from '../browser.ts'

/** Evaluates in a page; not Playwright's `evaluate()`, which a page's policy would report as an eval. */
export async function evaluateIn<T>(page: Page, expression: string): Promise<T> {
  const sesion = await page.context().newCDPSession(page)
  const { result, exceptionDetails } = await sesion.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  })
  await sesion.detach()
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as T
}

/** The rules whose result depends on the colours. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * Expects that axe finds no fault in a page, in dark and then in light. In dark it tries the rules of colours alone: all
 * the rest is the same.
 * @param name of the page, and of its pictures
 */
export async function checkWithAxe(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const faltas = await evaluateIn<string[]>(
      page,
      `(async () => { if (!window.axe) { ${axe.source} }
        const { violations } = await axe.run(document, ${JSON.stringify(colorScheme === 'dark' ? { runOnly: COLOR_RULES } : {})})
        return violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).join(' | ')) })()`,
    )
    expect(faltas, `${name}, ${colorScheme}`).toEqual([])
    await captureScreen(page, `${name}-${colorScheme}`)
  }
}

interface PageCheck {
  pagina: Page
  /** Of the pictures, with `SCREENSHOTS`. */
  nombre: string
  /** The window's width, in pixels. */
  ancho?: number
  /** A selector of what fingers must hit: 48 pixels each way. */
  touchTargets: string
}

/** In light and dark: no fault that axe can find, no small target, nothing wider than the window; and its picture. */
export async function checkPage({ pagina, nombre, ancho = 360, touchTargets }: PageCheck): Promise<void> {
  await checkWithAxe(pagina, nombre)
  const medidas = await evaluateIn<{ ancho: number; smallTargets: string[] }>(
    pagina,
    `({
      ancho: document.documentElement.scrollWidth,
      smallTargets: [...document.querySelectorAll(${JSON.stringify(touchTargets)})]
        .filter((e) => e.getClientRects().length > 0)
        .filter((e) => { const { width, height } = e.getBoundingClientRect(); return width < 47.9 || height < 47.9 })
        .map((e) => e.outerHTML.slice(0, 100)) })`,
  )
  expect(medidas.ancho).toBeLessThanOrEqual(ancho)
  expect(medidas.smallTargets).toEqual([])
}

/** WCAG 1.4.10: a column of 320 px with letters twice as large scrolls one way only. */
export async function checkLargeText(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 740 })
  await evaluateIn(page, `document.documentElement.style.fontSize = '200%'`)
  expect(await evaluateIn(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
}

/** Letters twice as large, on a phone of 360 × 740: bars that stay in the window cover at most 15 % of it. */
export async function checkBars(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 740 })
  await evaluateIn(page, `document.documentElement.style.fontSize = '200%'`)
  const measureCoveredShare = () =>
    evaluateIn<number>(
      page,
      `[...document.querySelectorAll('body *')]
        .filter((e) => ['fixed', 'sticky'].includes(getComputedStyle(e).position) && e.checkVisibility())
        .reduce((suma, e) => suma + e.offsetHeight, 0) / innerHeight`,
    )
  await expect.poll(measureCoveredShare).toBeLessThanOrEqual(0.15)
  await evaluateIn(page, `document.documentElement.style.fontSize = ''`)
}
