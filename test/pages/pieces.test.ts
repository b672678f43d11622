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
const deTodos = shareEnvironment()
const ESTADOS = Object.keys(STATE_MACHINE.transiciones) as Estado[]

describe('/ui', () => {
  it('is served where the mailbox is, and nowhere else', async () => {
    expect((await fetch(`${local.url}/ui`)).status).toBe(200)
    expect((await fetch(`${local.url}/ui/x`)).status).toBe(404)
    expect((await fetch(`${deTodos.url}/ui`)).status).toBe(404)
  })

  it('shows every state with its icon and word, each component, and every icon that is drawn', async () => {
    const hoja = await (await fetch(`${local.url}/ui`)).text()
    for (const estado of ESTADOS) {
      const { tone: tono, icon: icono } = STATE_LOOKS[estado]
      expect(hoja).toContain(
        `<span class="insignia" data-tono="${tono}"><svg class="icono" viewBox="0 0 24 24" aria-hidden="true">${icono}</svg>`,
      )
    }
    const folder = new URL('../../server/pages/ui/', import.meta.url)
    const reglas = readdirSync(folder)
      .filter((one) => one.endsWith('.css') && !['style.css', 'document.css', 'parcel.css'].includes(one))
      .map((one) => readFileSync(new URL(one, folder), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''))
    const clases = [...new Set(reglas.flatMap((css) => [...css.matchAll(/\.([a-z][\w-]*)/g)].map(([, one]) => one!)))]
    expect(clases.length).toBeGreaterThan(30)
    expect(clases.filter((one) => !new RegExp(`class="[^"]*\\b${one}\\b`).test(hoja) && one !== 'css')).toEqual([])
  })

  it('uses every icon of the list', () => {
    const pages = new URL('../../server/pages/', import.meta.url)
    const fuentes = readdirSync(pages, { recursive: true, encoding: 'utf8' })
      .filter((one) => /\.tsx?$/.test(one))
      .map((one) => readFileSync(new URL(one, pages), 'utf8'))
      .join('\n')
    const constante = (name: string) => name.replace(/(?:^|-)(\w)/g, (_todo, letter: string) => letter.toUpperCase())
    expect(ICON_NAMES.filter((name) => !new RegExp(`\\b${constante(name)}\\b`).test(fuentes))).toEqual([])
  })

  it.skipIf(!hasBrowser).each([360, 1_440])('has no fault that can be found, %i pixels wide', async (width) => {
    const context = await openContext({ viewport: { width, height: width === 360 ? 740 : 900 } })
    const pagina = await context.newPage()
    await pagina.goto(`${local.url}/ui`)
    const blancos = 'main button, main a, main input:not(.oculto, [type=checkbox], [type=radio]), main label.opcion'
    await checkPage({ pagina, nombre: `piezas-${width}`, ancho: width, touchTargets: blancos })
    if (width === 360) await checkLargeText(pagina)
    await context.close()
  })

  it.skipIf(!hasBrowser)('is light or dark as the page asks, not only as the phone does', async () => {
    const context = await openContext({ colorScheme: 'dark' })
    const page = await context.newPage()
    await page.goto(`${local.url}/ui`)
    const fondo = () => evaluateIn<string>(page, 'getComputedStyle(document.body).backgroundColor')
    const deNoche = await fondo()
    await evaluateIn(page, `document.documentElement.dataset.tema = 'claro'`)
    const deDia = await fondo()
    await evaluateIn(page, `document.documentElement.dataset.tema = 'oscuro'`)
    expect([deNoche, deDia, await fondo()]).toEqual(['rgb(13, 17, 16)', 'rgb(246, 248, 247)', 'rgb(13, 17, 16)'])
    await context.close()
  })
})

describe('a component', () => {
  it('escapes what it is given', () => {
    const bad = '"><script>'
    const all = [
      button({ text: bad, href: bad }),
      field({ id: 'a', label: bad, hint: bad, fault: bad, control: (atributos) => html`<input ${atributos}>` }),
      facts([[bad, bad]]),
      pagination(bad, bad, undefined),
    ]
    for (const { texto } of all) expect(texto).not.toContain('<script>')
  })

  it('names what describes a field, its fault first, and leaves out values that are missing', () => {
    const control = (atributos: ReturnType<typeof html>) => html`<input ${atributos}>`
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
