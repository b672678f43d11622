/** The pages of the guide's chapters: served whole, with all links, and readable before any program runs. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../scripts/documentation/contract.ts'
import { readContractGuide, toSlug } from '../../scripts/documentation/guide.ts'
import { PROBLEMAS } from '../../server/generated/contract/vocabulary.ts'
import { ROOT } from '../../server/platform/root.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { evaluateIn } from '../pages/inspect.ts'
import { onSlowNetwork } from './slowNetwork.ts'

const environment = shareEnvironment()
const contract = JSON.parse(
  readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'),
) as JsonObject
const { guideChapters } = readContractGuide(contract)
const names = guideChapters.map(({ nombre }) => nombre)
const pages = new Map<string, string>()
beforeAll(async () => {
  for (const name of names) pages.set(name, await (await fetch(`${environment.url}/docs/${name}`)).text())
})
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)

describe('each chapter', () => {
  it.each(guideChapters.map((chapter) => [chapter.nombre, chapter] as const))('%s is a page', (name, chapter) => {
    const html = pages.get(name)!
    expect(html).toContain(`<h1>${chapter.titulo}</h1>`)
    expect(idsOf(html)).toEqual(expect.arrayContaining(chapter.parts.map(({ titulo }) => toSlug(titulo))))
    expect(html).toContain('aria-current="page"')
    for (const other of names) expect(html).toContain(`<a href="${other}"`)
    expect(html).not.toMatch(/127\.0\.0\.1:3000|guias\.ejemplo\.com|000[01]-\d\d-\d\d|```|\]\(|href="#\//)
  })

  it('has links that lead somewhere', async () => {
    const reading = readFileSync(new URL('server/generated/contract/documentation/indice.json', ROOT), 'utf8')
    const targets = new Map<string, number>()
    for (const [name, html] of pages)
      for (const [, link] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        const url = new URL(link!, `${environment.url}/docs/${name}`)
        if (url.origin !== new URL(environment.url).origin) continue
        const path = url.pathname
        if (!targets.has(path)) targets.set(path, (await fetch(environment.url + path)).status)
        expect(targets.get(path), `${name}: ${link}`).toBe(200)
        const chapter = path.replace('/docs/', '')
        const id = decodeURI(url.hash.slice(1))
        if (id && pages.has(chapter)) expect(idsOf(pages.get(chapter)!), `${name}: ${link}`).toContain(id)
        // A group has no entry of its own in the index of the search, but its operations have.
        if (id && path === '/docs') expect(reading, `${name}: ${link}`).toMatch(new RegExp(`"docs#${id}["/]`))
      }
    expect(targets.size).toBeGreaterThan(names.length * 2)
  })

  it('is a file for everybody, packed, with its own policy', async () => {
    const { statusCode, headers, body } = await request(`${environment.url}/docs/errores`, {
      headers: { 'accept-encoding': 'br' },
    })
    expect([statusCode, headers['content-encoding']]).toEqual([200, 'br'])
    expect((await body.arrayBuffer()).byteLength).toBeLessThan(20 * 1024)
    expect(headers['cache-control']).toBe('public, max-age=300')
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'sha256/,
    )
    expect(headers['content-security-policy']).not.toMatch(/https?:|\*|unsafe/)
  })
})

it('marks comments and quoted texts in the code of a chapter, and changes none of it', () => {
  const [code = ''] = /<pre>.*?<\/pre>/s.exec(pages.get('errores')!)!
  expect(code).toContain(
    '<span class="cadena">&quot;codigo&quot;</span>: <span class="cadena">&quot;validacion&quot;</span>',
  )
  expect(JSON.parse(code.replace(/<[^>]+>/g, '').replaceAll('&quot;', '"'))).toMatchObject({ codigo: 'validacion' })
  expect(pages.get('inicio-rapido')).toMatch(/<span class="comentario"># [^<]+<\/span>\nexport GUIAS_URL=http/)
})

it('keeps the text after the last code of a part beside that code', () => {
  const part = /<section><div class="fila"><div><h2 id="2\.-cree-una-guia".*?<\/section>/s.exec(
    pages.get('inicio-rapido')!,
  )![0]
  expect(part.match(/class="fila"/g)).toHaveLength(1)
  expect(part.indexOf('la misma guía')).toBeLessThan(part.indexOf('<pre>'))
})

it.each(Object.entries(PROBLEMAS).map(([codigo, problema]) => [codigo, 'ajeno' in problema ? 0 : 1] as const))(
  'has a place for the error %s (%i)',
  (codigo, count) => {
    expect(idsOf(pages.get('errores')!).filter((id) => id === `error-${codigo}`)).toHaveLength(count)
  },
)

it.each(['inicio-rapido', 'autenticacion', 'modo-de-prueba', 'pasar-a-produccion'])(
  'says in %s who gives a merchant its key',
  (name) => {
    expect(pages.get(name)).toContain('¿Dónde está su llave?')
  },
)

describe.skipIf(!hasBrowser)('a chapter in a browser', () => {
  let page: Page
  const violations: string[] = []
  beforeAll(async () => {
    const context = await openContext({ viewport: { width: 1_440, height: 900 } })
    await context.exposeFunction('violated', (what: string) => violations.push(what))
    await context.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
      window.violated(e.violatedDirective + ' ' + e.blockedURI))`)
    page = await context.newPage()
  })
  afterAll(async () => {
    await page?.context().close()
    expect(violations).toEqual([])
  })

  it.each([
    ['#/section/lotes', 'lotes', ''],
    ['#section/recibir-webhooks/firma', 'recibir-webhooks', '#firma'],
    ['#/section/inicio-rapido/1.-diga-quien-es', 'inicio-rapido', '#1.-diga-quien-es'],
    ['#section/errores#error-validacion', 'errores', '#error-validacion'],
    ['#error-validacion', 'errores', '#error-validacion'],
  ])('is reached at its address of before (%s)', async (hash, chapter, place) => {
    await page.goto('about:blank')
    await page.goto(`${environment.url}/docs${hash}`)
    await page.waitForURL(`${environment.url}/docs/${chapter}${place}`)
    await page.locator('h1').waitFor()
    if (!place) return
    const box = () => page.locator(`[id="${place.slice(1)}"]`).boundingBox()
    await waitUntil(async () => {
      const { y = -1 } = (await box()) ?? {}
      return y >= 50 && y < 300
    })
  })

  it('is reached from the menu of the reading view, and the way back leads there', async () => {
    await page.goto(`${environment.url}/docs`, { waitUntil: 'networkidle' })
    await page.getByRole('navigation', { name: 'Índice' }).getByText('Idempotencia', { exact: true }).click()
    await page.waitForURL(`${environment.url}/docs/idempotencia`)
    await page.goBack()
    await page.getByRole('heading', { name: 'API de guías de envío' }).waitFor()
    expect(page.url()).toBe(`${environment.url}/docs`)
  })

  it('shows the code of the quick start beside its text, and below it on a phone', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.goto(`${environment.url}/docs/inicio-rapido`)
    const row = page.locator('.fila', { has: page.locator('pre') }).first()
    const [text, code] = [row.locator('h2'), row.locator('pre').first()]
    const boxes = async () => [(await text.boundingBox())!, (await code.boundingBox())!] as const
    const [left, right] = await boxes()
    expect(right.x).toBeGreaterThan(left.x + left.width)
    expect(Math.abs(right.y - left.y)).toBeLessThan(20)
    await page.setViewportSize({ width: 360, height: 740 })
    const [above, below] = await boxes()
    expect(below.y).toBeGreaterThan(above.y + above.height)
    expect(below.x + below.width).toBeLessThanOrEqual(360)
  })

  it.each(['docs/lotes', 'docs/consola', 'docs'])(
    'is found, as an operation is, by the search of /%s',
    async (path) => {
      await page.setViewportSize({ width: 1_280, height: 800 })
      for (const [question, title, target] of [
        ['idempotencia', 'Idempotencia', 'docs/idempotencia'],
        ['cancelar una guía', 'Cancelar una guía', 'docs#/guias/cancelarguia'],
        ['carrera_perdida', 'carrera_perdida', 'docs/errores#error-carrera_perdida'],
      ] as const) {
        await page.goto(`${environment.url}/${path}`)
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Buscar en la documentación' }).fill(question)
        await page.getByRole('dialog').getByRole('option').first().getByText(title, { exact: true }).click()
        await page.waitForURL(`${environment.url}/${target}`)
      }
    },
  )

  it('is whole without its program, with 30 KB, at the speed of a bad phone', async () => {
    const context = await openContext({ viewport: { width: 360, height: 740 } })
    const other = await context.newPage()
    const requests = await onSlowNetwork(other)
    await other.route(/\.js$/, (route) => route.abort())
    await other.goto(`${environment.url}/docs/inicio-rapido`)
    await other.getByText(`export GUIAS_URL=${environment.url}`).waitFor()
    expect(requests.sum()).toBeLessThan(30 * 1024)
    await context.close()
  })

  it('draws the states, and says in words what it draws', async () => {
    await page.goto(`${environment.url}/docs/estados`)
    const drawing = page.locator('img.maquina').first()
    const alt = await drawing.getAttribute('alt')
    const { Estado } = (contract.components as Record<string, Record<string, JsonObject>>).schemas!
    const { transiciones } = Estado!['x-transiciones'] as { transiciones: Record<string, string[]> }
    for (const [from, to] of Object.entries(transiciones))
      if (to.length > 0) expect(alt).toContain(`de ${from} a ${to.join(', ')}`)
    expect((await drawing.boundingBox())!.height).toBeGreaterThan(300)
  })

  it.each(['docs/errores', 'docs'])('follows the size of text that the browser asks for (/%s)', async (path) => {
    await page.goto(`${environment.url}/${path}`)
    const size = () =>
      evaluateIn<number>(page, `parseFloat(getComputedStyle(document.querySelector('main p, #redoc p')).fontSize)`)
    const before = await size()
    await evaluateIn(page, `document.documentElement.style.fontSize = '32px'`)
    expect(await size()).toBe(before * 2)
  })
})
