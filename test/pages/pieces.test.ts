// The sheet of components, `/ui`: each component in each state.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Estado } from '../../server/generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { html } from '../../server/pages/html.ts'
import { button, facts, field, pagination } from '../../server/pages/ui/components.ts'
import { ICON_NAMES } from '../../server/pages/ui/iconNames.ts'
import { STATE_LOOKS } from '../../server/pages/ui/states.ts'
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
    const carpeta = new URL('../../server/pages/ui/', import.meta.url)
    const reglas = readdirSync(carpeta)
      .filter((una) => una.endsWith('.css') && !['style.css', 'document.css', 'parcel.css'].includes(una))
      .map((una) => readFileSync(new URL(una, carpeta), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''))
    const clases = [...new Set(reglas.flatMap((css) => [...css.matchAll(/\.([a-z][\w-]*)/g)].map(([, una]) => una!)))]
    expect(clases.length).toBeGreaterThan(30)
    expect(clases.filter((una) => !new RegExp(`class="[^"]*\\b${una}\\b`).test(hoja) && una !== 'css')).toEqual([])
  })

  it('uses every icon of the list', () => {
    const paginas = new URL('../../server/pages/', import.meta.url)
    const fuentes = readdirSync(paginas, { recursive: true, encoding: 'utf8' })
      .filter((una) => /\.tsx?$/.test(una))
      .map((una) => readFileSync(new URL(una, paginas), 'utf8'))
      .join('\n')
    const constante = (nombre: string) => nombre.replace(/(?:^|-)(\w)/g, (_todo, letra: string) => letra.toUpperCase())
    expect(ICON_NAMES.filter((nombre) => !new RegExp(`\\b${constante(nombre)}\\b`).test(fuentes))).toEqual([])
  })

  it.skipIf(!hasBrowser).each([360, 1_440])('has no fault that can be found, %i pixels wide', async (width) => {
    const contexto = await openContext({ viewport: { width, height: width === 360 ? 740 : 900 } })
    const pagina = await contexto.newPage()
    await pagina.goto(`${local.url}/ui`)
    const blancos = 'main button, main a, main input:not(.oculto, [type=checkbox], [type=radio]), main label.opcion'
    await checkPage({ pagina, nombre: `piezas-${width}`, ancho: width, touchTargets: blancos })
    if (width === 360) await checkLargeText(pagina)
    await contexto.close()
  })

  it.skipIf(!hasBrowser)('is light or dark as the page asks, not only as the phone does', async () => {
    const contexto = await openContext({ colorScheme: 'dark' })
    const pagina = await contexto.newPage()
    await pagina.goto(`${local.url}/ui`)
    const fondo = () => evaluateIn<string>(pagina, 'getComputedStyle(document.body).backgroundColor')
    const deNoche = await fondo()
    await evaluateIn(pagina, `document.documentElement.dataset.tema = 'claro'`)
    const deDia = await fondo()
    await evaluateIn(pagina, `document.documentElement.dataset.tema = 'oscuro'`)
    expect([deNoche, deDia, await fondo()]).toEqual(['rgb(13, 17, 16)', 'rgb(246, 248, 247)', 'rgb(13, 17, 16)'])
    await contexto.close()
  })
})

describe('a component', () => {
  it('escapes what it is given', () => {
    const malo = '"><script>'
    const todo = [
      button({ text: malo, href: malo }),
      field({ id: 'a', label: malo, hint: malo, fault: malo, control: (atributos) => html`<input ${atributos}>` }),
      facts([[malo, malo]]),
      pagination(malo, malo, undefined),
    ]
    for (const { texto } of todo) expect(texto).not.toContain('<script>')
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
