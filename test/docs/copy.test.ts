/** Whatever one copies from the documentation has a button that copies it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { evaluateIn } from '../pages/inspect.ts'

const environment = shareEnvironment()

describe.skipIf(!hasBrowser)('the copied text', () => {
  let page: Page
  beforeAll(async () => {
    const context = await openContext({
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    page = await context.newPage()
  })
  afterAll(() => page?.context().close())
  const copiado = () => evaluateIn<string>(page, 'navigator.clipboard.readText()')

  it('is each program of the guide, with the address that serves the page', async () => {
    await page.goto(`${environment.url}/docs/inicio-rapido`)
    await page.locator('pre > .copiar').first().waitFor()
    const blocksWithoutButton = `[...document.querySelectorAll('main pre')]
      .filter((uno) => !uno.querySelector('.copiar')).length`
    expect(await evaluateIn(page, blocksWithoutButton)).toBe(0)
    const first = page.locator('pre', { hasText: 'export GUIAS_URL' }).first()
    await first.getByRole('button', { name: 'Copiar el código' }).click()
    await page.getByRole('status').getByText('Copiado').waitFor()
    expect(await copiado()).toContain(`export GUIAS_URL=${environment.url}\n`)
  })

  it('is the address of the server', async () => {
    await page.goto(`${environment.url}/docs`)
    // The button comes once Redoc runs.
    await page.locator('#redoc').getByText('Copiar', { exact: true }).first().waitFor()
    await page.getByTestId('panel-servidores').getByTestId('copy-button').click()
    await expect.poll(copiado).toBe(environment.url)
  })

  it('is the path of an operation, with the keyboard', async () => {
    await page.goto(`${environment.url}/docs#/guias/crearlote`)
    const button = page.locator('[id="guias/crearlote"]').getByRole('button', { name: 'Copiar /api/v1/guias/bulk' })
    await button.focus()
    await page.keyboard.press('Enter')
    await expect.poll(copiado).toBe('/api/v1/guias/bulk')
  })

  it('is the sample of an operation', async () => {
    await page
      .locator('[id="guias/crearlote"] [data-component-name="CodeBlock/CodeBlockControls"]')
      .first()
      .getByTestId('copy-button')
      .click()
    await expect.poll(copiado).toMatch(/^curl /)
    expect(await copiado()).toContain(`"${environment.url}/api/v1/guias/bulk"`)
  })
})
