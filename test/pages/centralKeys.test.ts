import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia } from '../factories.ts'
import { evaluateIn } from './inspect.ts'

const entorno = useEnvironment()

describe.skipIf(!hasBrowser)('the keys of the office', () => {
  let pagina: Page
  let lista: string
  let guias: string[]
  beforeAll(async () => {
    const comercio = await entorno.nuevoComercio()
    const creadas = await Promise.all(Array.from({ length: 3 }, () => comercio.api.guias.crear(buildGuia())))
    lista = `${entorno.url}/central/guias?comercio=${comercio.comercio}`
    const [name = '', value = ''] = (await createTestPersona(entorno)).cookie.split('=')
    const contexto = await openContext({ viewport: { width: 1280, height: 900 } })
    await contexto.addCookies([{ name, value, url: entorno.url }])
    pagina = await contexto.newPage()
    await pagina.goto(lista)
    guias = await evaluateIn<string[]>(
      pagina,
      `[...document.querySelectorAll('[name=guia]')].map(({ value }) => value)`,
    )
    expect(guias.toSorted()).toEqual(creadas.map(({ guia }) => guia).toSorted())
  })
  afterAll(() => pagina?.context().close())

  const enfocada = () =>
    evaluateIn<string>(pagina, `document.activeElement.href?.slice(-12) ?? document.activeElement.id`)
  const pulsar = (...teclas: string[]) =>
    teclas.reduce((antes, una) => antes.then(() => pagina.keyboard.press(una)), Promise.resolve())

  it('lead to the search, and are text where a person types', async () => {
    await pagina.goto(lista)
    await pulsar('/')
    expect(await enfocada()).toBe('q')
    await pulsar('j', '/', '?')
    expect(await pagina.locator('#q').inputValue()).toBe('j/?')
    expect(await pagina.locator('#teclas').isVisible()).toBe(false)
  })

  it('go through the list, tick a guide and open it', async () => {
    await pagina.goto(lista)
    await pulsar('j')
    expect(await enfocada()).toBe(guias[0])
    await pulsar('j', 'j', 'j', 'k')
    expect(await enfocada()).toBe(guias[1])
    await pulsar('x')
    expect(await pagina.locator('[name=guia]:checked').inputValue()).toBe(guias[1])
    await pulsar('Control+j')
    expect(await enfocada()).toBe(guias[1])
    await pulsar('Enter')
    await pagina.waitForURL(`**/central/guias/${guias[1]}`)
  })

  it('are told by a key and by a button, and a person can turn them off', async () => {
    await pagina.goto(lista)
    await pulsar('?')
    await pagina.getByRole('dialog', { name: 'Teclas' }).waitFor()
    await pagina.getByLabel('Usar estas teclas').uncheck()
    await pulsar('Escape')
    await pagina.goto(lista)
    await pulsar('j', '?')
    expect(await enfocada()).toBe('')
    expect(await pagina.locator('#teclas').isVisible()).toBe(false)
    await pagina.getByRole('button', { name: 'Teclas' }).click()
    await pagina.getByLabel('Usar estas teclas').check()
    await pagina.getByRole('button', { name: 'Cerrar' }).click()
    await pulsar('j')
    expect(await enfocada()).toBe(guias[0])
  })
})
