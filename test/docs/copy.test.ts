/** Whatever one copies from the documentation has a button that copies it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { evaluateIn } from '../pages/inspect.ts'

const entorno = shareEnvironment()

describe.skipIf(!hasBrowser)('the copied text', () => {
  let pagina: Page
  beforeAll(async () => {
    const contexto = await openContext({
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    pagina = await contexto.newPage()
    await pagina.goto(`${entorno.url}/docs`)
    await pagina.locator('pre > .copiar').first().waitFor()
  })
  afterAll(() => pagina?.context().close())
  const copiado = () => evaluateIn<string>(pagina, 'navigator.clipboard.readText()')

  it('is each program of the guide, with the address that serves the page', async () => {
    const sinBoton = `[...document.querySelectorAll("[data-component-name='Markdown/Markdown'] pre")]
      .filter((uno) => !uno.querySelector('.copiar')).length`
    expect(await evaluateIn(pagina, sinBoton)).toBe(0)
    const primero = pagina.locator('pre', { hasText: 'export GUIAS_URL' }).first()
    await primero.getByRole('button', { name: 'Copiar el código' }).click()
    await pagina.getByRole('status').getByText('Copiado').waitFor()
    expect(await copiado()).toContain(`export GUIAS_URL=${entorno.url}\n`)
  })

  it('is the address of the server', async () => {
    await pagina.getByTestId('panel-servidores').getByTestId('copy-button').click()
    await expect.poll(copiado).toBe(entorno.url)
  })

  it('is the path of an operation, with the keyboard', async () => {
    await pagina.goto(`${entorno.url}/docs#/guias/crearlote`)
    const boton = pagina.locator('[id="guias/crearlote"]').getByRole('button', { name: 'Copiar /api/v1/guias/bulk' })
    await boton.focus()
    await pagina.keyboard.press('Enter')
    await expect.poll(copiado).toBe('/api/v1/guias/bulk')
  })

  it('is the sample of an operation', async () => {
    await pagina
      .locator('[id="guias/crearlote"] [data-component-name="CodeBlock/CodeBlockControls"]')
      .first()
      .getByTestId('copy-button')
      .click()
    await expect.poll(copiado).toMatch(/^curl /)
    expect(await copiado()).toContain(`"${entorno.url}/api/v1/guias/bulk"`)
  })
})
