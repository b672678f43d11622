/** The documentation with the keyboard alone, and what stands on it beside the company's brand. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAccessible } from '../../scripts/documentation/accessible.ts'
import { ROOT } from '../../server/platform/root.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { evaluateIn } from '../pages/inspect.ts'

const environment = shareEnvironment()
const readGenerated = (file: string) => readFileSync(new URL(`server/generated/contract/${file}`, ROOT), 'utf8')

describe('the name of Redoc', () => {
  it('stands nowhere on the page, and its licence in its program', () => {
    const html = readGenerated('pages/docs/documentacion.html')
    const seen = html.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ')
    expect(seen).toContain('API de guías de envío')
    expect(seen).not.toMatch(/\bredoc\b/i)
    expect(html).not.toContain('redocly.com/redoc')
    const program = readGenerated('documentation/redoc.js')
    expect(program.slice(0, 200)).toMatch(/@license MIT\s[\s\S]*\(c\) Copyright \d+ Redocly LLC/)
  })

  it('stops the generation if a version of Redoc has another form', () => {
    expect(() => makeAccessible('const nada = 1')).toThrow('Redoc no longer has menu')
  })
})

describe.skipIf(!hasBrowser)('/docs with the keyboard alone', () => {
  let page: Page
  const open = async (width: number) => {
    const context = await openContext({ viewport: { width, height: 740 } })
    page = await context.newPage()
    await page.goto(`${environment.url}/docs`)
    // The button comes once Redoc runs.
    await page.locator('#redoc').getByText('Copiar', { exact: true }).first().waitFor()
  }
  const readFocus = () =>
    evaluateIn<{ nombre: string; outline: string; inMenu: boolean; id: string }>(
      page,
      `(() => {
        const e = document.activeElement
        const nombre = (e.getAttribute('aria-label') ?? e.innerText).trim()
        return { nombre, contorno: getComputedStyle(e).outlineStyle, inMenu: !!e.closest('.menu-content'), id: e.id }
      })()`,
    )

  describe('on a wide screen', () => {
    beforeAll(() => open(1440))
    afterAll(() => page?.context().close())

    it('begins with the way past the menu', async () => {
      await page.keyboard.press('Tab')
      expect(await readFocus()).toMatchObject({ nombre: 'Saltar al contenido', contorno: 'solid' })
      expect((await page.locator('.saltar').boundingBox())!.y).toBeGreaterThanOrEqual(0)
      await page.keyboard.press('Enter')
      expect((await readFocus()).id).toBe('api-content')
      await page.keyboard.press('Tab')
      expect((await readFocus()).inMenu).toBe(false)
    })

    it('has a menu that is a landmark', async () => {
      await page.getByRole('navigation', { name: 'Índice' }).getByText('Idempotencia', { exact: true }).waitFor()
    })

    it('makes a table reachable as long as it is wider than its place', async () => {
      await page.goto(`${environment.url}/docs/errores`)
      const table = page.locator('.tabla').first()
      const widen = (width: number) =>
        evaluateIn(
          page,
          `(() => {
            const caja = document.querySelector('.tabla')
            caja.querySelectorAll('a, button').forEach((dentro) => dentro.remove())
            caja.querySelector('table').style.minWidth = '3000px'
            caja.style.cssText = 'max-width: none; width: ${width}px'
          })()`,
        )
      await widen(300)
      await expect.poll(() => table.getAttribute('tabindex')).toBe('0')
      await widen(3_100)
      await expect.poll(() => table.getAttribute('tabindex')).toBeNull()
    })
  })

  describe('on a phone', () => {
    beforeAll(() => open(360))
    afterAll(() => page?.context().close())

    it('goes into the menu that opens over the content, and back', async () => {
      const button = page.getByRole('button', { name: 'Abrir el menú' })
      await button.focus()
      await page.keyboard.press('Enter')
      await expect.poll(readFocus).toMatchObject({ nombre: 'API de guías de envío', inMenu: true })
      await page.keyboard.press('Tab')
      expect(await readFocus()).toMatchObject({ nombre: 'Inicio rápido', contorno: 'solid' })
      await page.keyboard.press('Escape')
      await expect.poll(readFocus).toMatchObject({ nombre: 'Abrir el menú', contorno: 'solid' })
    })
  })
})
