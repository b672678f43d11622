// The check of layout: the sheet of components has no fault, and each planted fault is found.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { evaluateIn } from './inspect.ts'
import { brandLeft, checkLayout, findLayoutFaults } from './layout.ts'

const local = useEnvironment({}, () => ({ MAILBOX: '1' }))

/** Planted faults: a declaration that is lost, or a rule that is added; and the rule of the check that finds them. */
const PLANTED: Record<string, { lost?: [selector: string, property: string]; added?: string; found: string }> = {
  'rows of a list that are no blocks': { lost: ['.lista a', 'display'], found: 'a row that is not a block' },
  'a box above the text of its row': { lost: ['.marcable', 'display'], found: 'a choice that is not beside its label' },
  'a radio above the text of its option': {
    lost: ['.opcion', 'display'],
    found: 'a choice that is not beside its label',
  },
  'low tabs': { lost: ['.pestanas>a', 'min-height'], found: 'a target that is too small' },
  'a name that is cut': {
    added: '.lista strong { display: block; overflow: hidden; white-space: nowrap }',
    found: 'clipped text',
  },
  'lines over each other': { added: '.linea li { height: 1rem; padding-bottom: 0 }', found: 'overlapping text' },
  'a card that is lower than its text': { added: '.tarjeta { height: 2rem }', found: 'text outside its box' },
  'a picture that is wider than its box': {
    added: '.etiqueta { width: 120% }',
    found: 'a box outside the box around it',
  },
  'a field above its label': {
    added: '.campo { display: flex; flex-direction: column-reverse }',
    found: 'a label that is not above its field',
  },
  'a layer over the buttons': {
    added: 'main::after { content: ""; position: absolute; inset: 0 }',
    found: 'a target that is covered',
  },
}

/** Expression that plants a fault in the style sheets of a page; its value is the number of changed rules. */
const plant = ({ lost, added }: (typeof PLANTED)[string]) => `(() => {
  const [sheet] = [...document.styleSheets].slice(-1)
  const added = ${JSON.stringify(added ?? '')}
  if (added) return sheet.insertRule(added, sheet.cssRules.length) > 0 ? 1 : 0
  const [selector, property] = ${JSON.stringify(lost ?? [])}
  const rules = [...document.styleSheets].flatMap((one) => [...one.cssRules])
    .filter((rule) => rule.selectorText?.replace(/ > /g, '>').split(', ').includes(selector) && rule.style[property])
  for (const rule of rules) rule.style.removeProperty(property)
  return rules.length })()`

describe.skipIf(!hasBrowser)('the sheet of components', () => {
  let page: Page
  beforeAll(async () => {
    page = await (await openContext({ viewport: { width: 360, height: 740 } })).newPage()
  })
  afterAll(() => page?.context().close())

  it.each([360, 1_440])('has no fault of layout, %i pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 740 })
    await page.goto(`${local.url}/ui`)
    await checkLayout(page, 'ui')
  })

  it.each(Object.entries(PLANTED))('has a fault that is found: %s', async (_nombre, planted) => {
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${local.url}/ui`)
    expect(await evaluateIn(page, plant(planted))).toBeGreaterThan(0)
    expect((await findLayoutFaults(page)).map((fault) => fault.split(':')[0])).toContain(planted.found)
  })

  it('has a fault that is found: a hint that touches its field', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${local.url}/ui`)
    const field = '<label for="sin-aire">Nombre</label><input id="sin-aire"><p class="suave">Como en la etiqueta</p>'
    await evaluateIn(page, `document.querySelector('main').insertAdjacentHTML('beforeend', '${field}')`)
    expect((await findLayoutFaults(page)).map((fault) => fault.split(':')[0])).toEqual([
      'a text that touches its field',
    ])
  })

  it('has the brand where a column of another width has it', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.goto(`${local.url}/ui`)
    const left = await brandLeft(page)
    await evaluateIn(page, `document.documentElement.style.setProperty('--ancho', '35rem')`)
    expect(await brandLeft(page)).toBe(left)
  })
})
