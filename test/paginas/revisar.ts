import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Evaluates in a page; not Playwright's `evaluate()`, which a page's policy would report as an eval. */
export async function evaluarEn<T>(pagina: Page, expression: string): Promise<T> {
  const sesion = await pagina.context().newCDPSession(pagina)
  const { result, exceptionDetails } = await sesion.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  })
  await sesion.detach()
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as T
}

const NORMAS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface QueSeRevisa {
  pagina: Page
  /** Of the pictures that are left in /tmp. */
  nombre: string
  /** The window's width, in pixels. */
  ancho?: number
  /** A selector of what fingers must hit: 48 pixels each way. */
  blancos: string
}

/** In light and dark: no fault that axe can find, no small target, nothing wider than the window; and its picture. */
export async function revisarPagina({ pagina, nombre, ancho = 360, blancos }: QueSeRevisa): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await pagina.emulateMedia({ colorScheme })
    const fallas = await evaluarEn<string[]>(
      pagina,
      `(async () => { if (!window.axe) { ${axe.source} }
        const { violations } = await axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(NORMAS)} } })
        return violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).join(' | ')) })()`,
    )
    expect(fallas, `${nombre}, ${colorScheme}`).toEqual([])
    await pagina.screenshot({ path: `/tmp/${nombre}-${colorScheme}.png`, fullPage: true })
  }
  await pagina.emulateMedia({ colorScheme: 'light' })
  const medidas = await evaluarEn<{ ancho: number; chicos: string[] }>(
    pagina,
    `({
      ancho: document.documentElement.scrollWidth,
      chicos: [...document.querySelectorAll(${JSON.stringify(blancos)})]
        .filter((e) => e.getClientRects().length > 0)
        .filter((e) => { const { width, height } = e.getBoundingClientRect(); return width < 47.9 || height < 47.9 })
        .map((e) => e.outerHTML.slice(0, 100)) })`,
  )
  expect(medidas.ancho).toBeLessThanOrEqual(ancho)
  expect(medidas.chicos).toEqual([])
}

/** WCAG 1.4.10: a column of 320 px with letters twice as large scrolls one way only. */
export async function revisarLetrasGrandes(pagina: Page): Promise<void> {
  await pagina.setViewportSize({ width: 320, height: 740 })
  await evaluarEn(pagina, `document.documentElement.style.fontSize = '200%'`)
  expect(await evaluarEn(pagina, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
}
