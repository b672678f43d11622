import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia } from '../factories.ts'
import { evaluateIn } from './inspect.ts'

const environment = useEnvironment()

describe.skipIf(!hasBrowser)('the keys of the office', () => {
  let page: Page
  let list: string
  let guias: string[]
  beforeAll(async () => {
    const comercio = await environment.createComercio()
    const created = await Promise.all(Array.from({ length: 3 }, () => comercio.api.guias.crear(buildGuia())))
    list = `${environment.url}/central/guias?comercio=${comercio.comercio}`
    const [name = '', value = ''] = (await createTestPersona(environment)).cookie.split('=')
    const context = await openContext({ viewport: { width: 1280, height: 900 } })
    await context.addCookies([{ name, value, url: environment.url }])
    page = await context.newPage()
    await page.goto(list)
    guias = await evaluateIn<string[]>(page, `[...document.querySelectorAll('[name=guia]')].map(({ value }) => value)`)
    expect(guias.toSorted()).toEqual(created.map(({ guia }) => guia).toSorted())
  })
  afterAll(() => page?.context().close())

  const readFocused = () =>
    evaluateIn<string>(page, `document.activeElement.href?.slice(-12) ?? document.activeElement.id`)
  const pulsar = (...keystrokes: string[]) =>
    keystrokes.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve())

  it('lead to the search, and are text where a person types', async () => {
    await page.goto(list)
    await pulsar('/')
    expect(await readFocused()).toBe('q')
    await pulsar('j', '/', '?')
    expect(await page.locator('#q').inputValue()).toBe('j/?')
    expect(await page.locator('#teclas').isVisible()).toBe(false)
  })

  it('go through the list, tick a guide and open it', async () => {
    await page.goto(list)
    await pulsar('j')
    expect(await readFocused()).toBe(guias[0])
    await pulsar('j', 'j', 'j', 'k')
    expect(await readFocused()).toBe(guias[1])
    await pulsar('x')
    expect(await page.locator('[name=guia]:checked').inputValue()).toBe(guias[1])
    await pulsar('Control+j')
    expect(await readFocused()).toBe(guias[1])
    await pulsar('Enter')
    await page.waitForURL(`**/central/guias/${guias[1]}`)
  })

  it('are told by a key and by a button, and a person can turn them off', async () => {
    await page.goto(list)
    await pulsar('?')
    await page.getByRole('dialog', { name: 'Teclas' }).waitFor()
    await page.getByLabel('Usar estas teclas').uncheck()
    await pulsar('Escape')
    await page.goto(list)
    await pulsar('j', '?')
    expect(await readFocused()).toBe('')
    expect(await page.locator('#teclas').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Teclas' }).click()
    await page.getByLabel('Usar estas teclas').check()
    await page.getByRole('button', { name: 'Cerrar' }).click()
    await pulsar('j')
    expect(await readFocused()).toBe(guias[0])
  })
})
