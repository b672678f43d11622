// The first page and what it remembers of this phone, and the page for shops.
import type { Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inGroups } from '../../server/platform/codes/guideCode.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { checkLargeText, checkPage, evaluateIn } from './inspect.ts'

const environment = shareEnvironment()
let guias: string[]
beforeAll(async () => {
  const { api } = await environment.createComercio()
  guias = await Promise.all(Array.from({ length: 5 }, async () => (await api.guias.crear(buildGuia())).guia))
})

describe('the page for shops', () => {
  it('is reached from the first page, and leads to chapters that exist, with or without a last slash', async () => {
    expect(await (await fetch(`${environment.url}/`)).text()).toContain('href="comercio"')
    const documentation = await (await fetch(`${environment.url}/docs`)).text()
    for (const path of ['/comercio', '/comercio/']) {
      const page = await (await fetch(environment.url + path)).text()
      const links = [...page.matchAll(/class="opcion" href="([^"]+)"/g)].map(
        ([, href]) => new URL(href!, environment.url + path),
      )
      expect(links.length).toBeGreaterThan(4)
      for (const { pathname, hash } of links) {
        expect((await fetch(environment.url + pathname)).status, pathname).toBe(200)
        expect(documentation).toContain(hash.replace('#/', ''))
      }
    }
  })

  it('is an unknown operation for a program', async () => {
    const response = await fetch(`${environment.url}/comercio`, { headers: { Accept: 'application/json' } })
    expect([response.status, await response.json()]).toMatchObject([404, { codigo: 'ruta_desconocida' }])
  })
})

it('shows the icon beside the name where the company has no logo', async () => {
  const page = await (await fetch(`${environment.url}/`)).text()
  expect(page).toMatch(
    /<header class="marca"><a href="[^"]*"><svg class="sello"[\s\S]*<span>[^<]+<\/span><\/a><\/header>/,
  )
  expect(await (await fetch(`${environment.url}/docs/marca.css`)).text()).toContain('.barra .marca::before{content:"";')
})

describe.skipIf(!hasBrowser)('the codes that somebody searched on this phone', () => {
  let pagina: Page
  const open = async (options = {}) => {
    const context = await openContext({ viewport: { width: 360, height: 740 }, ...options })
    pagina = await context.newPage()
    await pagina.goto(`${environment.url}/`)
  }
  afterEach(() => pagina?.context().close())
  const search = async (text: string) => {
    await pagina.goto(`${environment.url}/`)
    await pagina.getByLabel('Código de la guía').fill(text)
    await pagina.keyboard.press('Enter')
    await pagina.waitForURL(/\/r[/?]/)
  }
  const part = () => pagina.locator('#buscados')
  const codigos = async () => {
    await pagina.goto(`${environment.url}/`)
    return pagina.locator('#buscados a').allTextContents()
  }

  it('are links to their parcels, newest first, at most four, each once', async () => {
    await open()
    expect(await part().isVisible()).toBe(false)
    await search('no es un código')
    expect(await codigos()).toEqual([])
    for (const guia of [...guias, guias[3]!]) await search(inGroups(guia).toLowerCase())
    const ultimos = [3, 4, 2, 1].map((i) => inGroups(guias[i]!))
    expect(await codigos()).toEqual(ultimos)
    await checkPage({ pagina, nombre: 'inicio-buscados', touchTargets: '#buscados a, #buscados button' })
    await pagina.getByRole('link', { name: ultimos[1]! }).click()
    await pagina.waitForURL(`${environment.url}/r/${guias[4]}`)
    await pagina.goBack()
    expect(await part().isVisible()).toBe(true)
    await checkLargeText(pagina)
  })

  it('are forgotten on request, and only they', async () => {
    await open()
    await search(guias[0]!)
    await evaluateIn(pagina, `localStorage.setItem('otro', '1')`)
    await codigos()
    await pagina.getByRole('button', { name: 'Olvidarlos' }).click()
    expect(await part().isVisible()).toBe(false)
    expect(await codigos()).toEqual([])
    expect(await evaluateIn(pagina, `localStorage.length`)).toBe(1)
  })

  it('are none where the storage holds something else, or JavaScript is off', async () => {
    await open()
    for (const bad of ['{', '{"a":1}', '["<b>", 7, "7K3M9QX2A1B5"]']) {
      await evaluateIn(pagina, `localStorage.setItem('buscados', ${JSON.stringify(bad)})`)
      expect(await codigos()).toEqual([])
    }
    await pagina.context().close()
    await open({ javaScriptEnabled: false })
    await search(guias[0]!)
    expect(await pagina.locator('h1').textContent()).toBe('Envío registrado')
    await pagina.goto(`${environment.url}/`)
    expect(await part().isVisible()).toBe(false)
  })
})
