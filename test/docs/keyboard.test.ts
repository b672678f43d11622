/** The documentation with the keyboard alone, and what stands on it beside the company's brand. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAccessible } from '../../scripts/documentation/accessible.ts'
import { ROOT } from '../../server/platform/root.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { evaluateIn } from '../pages/inspect.ts'

const entorno = shareEnvironment()
const generado = (archivo: string) => readFileSync(new URL(`server/generated/contract/${archivo}`, ROOT), 'utf8')

describe('the name of Redoc', () => {
  it('stands nowhere on the page, and its licence in its program', () => {
    const html = generado('pages/docs/documentacion.html')
    const visto = html.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, ' ')
    expect(visto).toContain('API de guías de envío')
    expect(visto).not.toMatch(/\bredoc\b/i)
    expect(html).not.toContain('redocly.com/redoc')
    const programa = generado('documentation/redoc.js')
    expect(programa.slice(0, 200)).toMatch(/@license MIT\s[\s\S]*\(c\) Copyright \d+ Redocly LLC/)
  })

  it('stops the generation if a version of Redoc has another form', () => {
    expect(() => makeAccessible('const nada = 1')).toThrow('Redoc no longer has menu')
  })
})

describe.skipIf(!hasBrowser)('/docs with the keyboard alone', () => {
  let pagina: Page
  const abrir = async (width: number) => {
    const contexto = await openContext({ viewport: { width, height: 740 } })
    pagina = await contexto.newPage()
    await pagina.goto(`${entorno.url}/docs`)
    // The copy buttons come once Redoc runs.
    await pagina.locator('pre > .copiar').first().waitFor({ state: 'attached' })
  }
  const foco = () =>
    evaluateIn<{ nombre: string; contorno: string; enMenu: boolean; id: string }>(
      pagina,
      `(() => {
        const e = document.activeElement
        const nombre = (e.getAttribute('aria-label') ?? e.innerText).trim()
        return { nombre, contorno: getComputedStyle(e).outlineStyle, enMenu: !!e.closest('.menu-content'), id: e.id }
      })()`,
    )

  describe('on a wide screen', () => {
    beforeAll(() => abrir(1440))
    afterAll(() => pagina?.context().close())

    it('begins with the way past the menu', async () => {
      await pagina.keyboard.press('Tab')
      expect(await foco()).toMatchObject({ nombre: 'Saltar al contenido', contorno: 'solid' })
      expect((await pagina.locator('.saltar').boundingBox())!.y).toBeGreaterThanOrEqual(0)
      await pagina.keyboard.press('Enter')
      expect((await foco()).id).toBe('api-content')
      await pagina.keyboard.press('Tab')
      expect((await foco()).enMenu).toBe(false)
    })

    it('has a menu that is a landmark', async () => {
      await pagina.getByRole('navigation', { name: 'Índice' }).getByText('Idempotencia', { exact: true }).waitFor()
    })

    it('makes a table reachable as long as it is wider than its place', async () => {
      const tabla = pagina.locator('.md-table-wrapper').first()
      const ensanchar = (ancho: number) =>
        evaluateIn(
          pagina,
          `(() => {
            const caja = document.querySelector('.md-table-wrapper')
            caja.querySelectorAll('a, button').forEach((dentro) => dentro.remove())
            caja.querySelector('table').style.minWidth = '3000px'
            caja.style.width = '${ancho}px'
          })()`,
        )
      await ensanchar(300)
      await expect.poll(() => tabla.getAttribute('tabindex')).toBe('0')
      await ensanchar(3_100)
      await expect.poll(() => tabla.getAttribute('tabindex')).toBeNull()
    })
  })

  describe('on a phone', () => {
    beforeAll(() => abrir(360))
    afterAll(() => pagina?.context().close())

    it('goes into the menu that opens over the content, and back', async () => {
      const boton = pagina.getByRole('button', { name: 'Abrir el menú' })
      await boton.focus()
      await pagina.keyboard.press('Enter')
      await expect.poll(foco).toMatchObject({ nombre: 'API de guías de envío', enMenu: true })
      await pagina.keyboard.press('Tab')
      expect(await foco()).toMatchObject({ nombre: 'Inicio rápido', contorno: 'solid' })
      await pagina.keyboard.press('Escape')
      await expect.poll(foco).toMatchObject({ nombre: 'Abrir el menú', contorno: 'solid' })
    })
  })
})
