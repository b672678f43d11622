// The sheet of components, `/ui`: each component in each state.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Estado } from '../../server/generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { button, facts, field, pagination } from '../../server/pages/ui/components.ts'
import { ICON_NAMES } from '../../server/pages/ui/iconNames.ts'
import { STATE_LOOKS } from '../../server/pages/ui/states.ts'
import { html } from '../../server/platform/html.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment, useEnvironment } from '../environment.ts'
import { checkLargeText, checkPage, evaluateIn } from './inspect.ts'

const local = useEnvironment({}, () => ({ MAILBOX: '1' }))
const ofAll = shareEnvironment()
const ESTADOS = Object.keys(STATE_MACHINE.transiciones) as Estado[]

describe('/ui', () => {
  it('is served where the mailbox is, and nowhere else', async () => {
    expect((await fetch(`${local.url}/ui`)).status).toBe(200)
    expect((await fetch(`${local.url}/ui/x`)).status).toBe(404)
    expect((await fetch(`${ofAll.url}/ui`)).status).toBe(404)
  })

  it('shows every state with its icon and word, each component, and every icon that is drawn', async () => {
    const sheet = await (await fetch(`${local.url}/ui`)).text()
    for (const estado of ESTADOS) {
      const { tone: tono, icon } = STATE_LOOKS[estado]
      expect(sheet).toContain(
        `<span class="insignia" data-tono="${tono}"><svg class="icono" viewBox="0 0 24 24" aria-hidden="true">${icon}</svg>`,
      )
    }
    const folder = new URL('../../server/pages/ui/', import.meta.url)
    const rules = readdirSync(folder)
      .filter((one) => one.endsWith('.css') && !['style.css', 'document.css', 'parcel.css'].includes(one))
      .map((one) => readFileSync(new URL(one, folder), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''))
    const clases = [...new Set(rules.flatMap((css) => [...css.matchAll(/\.([a-z][\w-]*)/g)].map(([, one]) => one!)))]
    expect(clases.length).toBeGreaterThan(30)
    expect(clases.filter((one) => !new RegExp(`class="[^"]*\\b${one}\\b`).test(sheet) && one !== 'css')).toEqual([])
  })

  it('uses every icon of the list', () => {
    const pages = new URL('../../server/pages/', import.meta.url)
    const sources = readdirSync(pages, { recursive: true, encoding: 'utf8' })
      .filter((one) => /\.tsx?$/.test(one))
      .map((one) => readFileSync(new URL(one, pages), 'utf8'))
      .join('\n')
    const constantNameOf = (name: string) =>
      name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase())
    expect(ICON_NAMES.filter((name) => !new RegExp(`\\b${constantNameOf(name)}\\b`).test(sources))).toEqual([])
  })

  it.skipIf(!hasBrowser).each([360, 1_440])('has no fault that can be found, %i pixels wide', async (width) => {
    const context = await openContext({ viewport: { width, height: width === 360 ? 740 : 900 } })
    const pagina = await context.newPage()
    await pagina.goto(`${local.url}/ui`)
    const touchTargets =
      'main button, main a, main input:not(.oculto, [type=checkbox], [type=radio]), main label.opcion'
    await checkPage({ pagina, nombre: `piezas-${width}`, ancho: width, touchTargets })
    if (width === 360) await checkLargeText(pagina)
    await context.close()
  })

  it.skipIf(!hasBrowser)(
    'shows a pointed and a focused control as the pointer and the keyboard make them',
    async () => {
      const context = await openContext({ viewport: { width: 1_440, height: 900 } })
      const page = await context.newPage()
      await page.goto(`${local.url}/ui`)
      const styleOf = (selector: string, property: string) =>
        evaluateIn<string>(page, `getComputedStyle(document.querySelector('${selector}')).${property}`)
      for (const [real, shown] of [
        ['.grupo > .principal', '.principal.con-puntero'],
        ['.lista a:not(.con-puntero)', '.lista .con-puntero'],
        ['.marcable:not(.con-puntero)', '.marcable.con-puntero'],
        ['a.opcion:not(.principal)', 'a.opcion.con-puntero'],
      ] as const) {
        await page.locator(real).first().hover()
        expect(await styleOf(real, 'boxShadow'), real).toBe(await styleOf(shown, 'boxShadow'))
        expect(await styleOf(real, 'boxShadow'), real).not.toBe('none')
      }
      await page.keyboard.press('Tab')
      expect(await styleOf(':focus-visible', 'outline')).toBe(await styleOf('.principal.con-foco', 'outline'))
      await context.close()
    },
  )

  it.skipIf(!hasBrowser)('is light or dark as the page asks, not only as the phone does', async () => {
    const context = await openContext({ colorScheme: 'dark' })
    const page = await context.newPage()
    await page.goto(`${local.url}/ui`)
    const background = () => evaluateIn<string>(page, 'getComputedStyle(document.body).backgroundColor')
    const nightBackground = await background()
    await evaluateIn(page, `document.documentElement.dataset.tema = 'claro'`)
    const ofDay = await background()
    await evaluateIn(page, `document.documentElement.dataset.tema = 'oscuro'`)
    expect([nightBackground, ofDay, await background()]).toEqual([
      'rgb(13, 17, 16)',
      'rgb(246, 248, 247)',
      'rgb(13, 17, 16)',
    ])
    await context.close()
  })
})

describe('a component', () => {
  it('escapes what it is given', () => {
    const bad = '"><script>'
    const all = [
      button({ text: bad, href: bad }),
      field({ id: 'a', label: bad, hint: bad, fault: bad, control: (attributes) => html`<input ${attributes}>` }),
      facts([[bad, bad]]),
      pagination(bad, bad, undefined),
    ]
    for (const { texto: text } of all) expect(text).not.toContain('<script>')
  })

  it('names what describes a field, its fault first, and leaves out values that are missing', () => {
    const control = (attributes: ReturnType<typeof html>) => html`<input ${attributes}>`
    expect(field({ id: 'a', label: 'A', hint: 'B', fault: 'C', control }).texto).toContain(
      '<input id="a" aria-describedby="error-a ayuda-a" aria-invalid="true">',
    )
    expect(field({ id: 'a', label: 'A', control }).texto).toContain('<input id="a">')
    expect(
      facts([
        ['A', 0],
        ['B', null],
        ['C', false],
      ]).texto,
    ).toBe('<dl>\n<dt>A</dt><dd>0</dd>\n</dl>')
  })
})
