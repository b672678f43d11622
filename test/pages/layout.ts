// Faults of layout, which axe does not see: found by geometry, in a page that is open.
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { evaluateIn } from './inspect.ts'

/** Functions that the rules share. */
const HELPERS = String.raw`
  /** Elements that only screen readers get are clipped to nothing. */
  const isForReaders = (e) => e !== null && (getComputedStyle(e).clipPath === 'inset(50%)' || isForReaders(e.parentElement))
  const isShown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('svg, dialog:not([open])') && !isForReaders(e)
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isShown)
  const styleOf = (e) => getComputedStyle(e)
  const nameOf = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') +
    [...e.classList].map((c) => '.' + c).join('') + ' «' + e.textContent.trim().replace(/\s+/g, ' ').slice(0, 40) + '»'
  const isFloating = (e) => {
    for (let up = e; up; up = up.parentElement)
      if (['fixed', 'sticky', 'absolute'].includes(styleOf(up).position) || up.matches('dialog')) return true
    return false
  }
  const isPainted = (color) => color !== 'rgba(0, 0, 0, 0)' && color !== 'transparent'
  /** An element that is drawn as a box: with a border on all sides, or a background of its own. */
  const isBox = (e) => {
    const style = styleOf(e)
    return isPainted(style.backgroundColor) ||
      ['Top', 'Right', 'Bottom', 'Left'].every((side) => parseFloat(style['border' + side + 'Width']) > 0)
  }
  const isScrolledAway = (e, { top, bottom }) => {
    const scroller = e.closest('pre')
    const around = scroller?.getBoundingClientRect()
    return scroller && styleOf(scroller).overflowY === 'auto' && (bottom > around.bottom + 2 || top < around.top - 2)
  }
  /** The lines of text of the page: each with its element and its rectangle. */
  const lines = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement
    if (!node.data.trim() || e.matches('script, style, noscript, option') || !isShown(e)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects())
      if (rect.width > 1 && rect.height > 1 && !isScrolledAway(e, rect)) lines.push({ e, rect })
  }`

/** Smallest side of a target in pixels. */
const MIN_TARGET = 44

/**
 * Rules by name. Each is an expression whose value is the elements that break the rule. A tolerance of two pixels allows
 * for rounding and for letters that are higher than their line.
 */
const RULES = {
  'clipped text': `all('body *').filter((e) => {
    const { overflowX, overflowY } = styleOf(e)
    const isClipped = (overflow, scroll, client) => ['hidden', 'clip'].includes(overflow) && scroll > client + 2
    return e.textContent.trim() &&
      (isClipped(overflowX, e.scrollWidth, e.clientWidth) || isClipped(overflowY, e.scrollHeight, e.clientHeight))
  })`,
  'text outside its box': `lines.filter(({ e, rect }) => {
    for (let box = e; box && box !== document.body; box = box.parentElement) {
      if (['auto', 'scroll'].includes(styleOf(box).overflowX)) return false
      if (styleOf(box).display === 'inline' || !isBox(box)) continue
      const outer = box.getBoundingClientRect()
      return rect.left < outer.left - 2 || rect.right > outer.right + 2 || rect.top < outer.top - 2 || rect.bottom > outer.bottom + 2
    }
    return rect.left < -2 || rect.right > innerWidth + 2
  }).map(({ e }) => e)`,
  'overlapping text': `lines.filter(({ e, rect }, i) => !isFloating(e) && lines.slice(i + 1).some((other) => {
    const width = Math.min(rect.right, other.rect.right) - Math.max(rect.left, other.rect.left)
    const height = Math.min(rect.bottom, other.rect.bottom) - Math.max(rect.top, other.rect.top)
    return width > 2 && height > Math.min(rect.height, other.rect.height) / 3 && !isFloating(other.e)
  })).map(({ e }) => e)`,
  'a row that is not a block': `all('li > a, li > label, li > button, label:has(> [type=checkbox], > [type=radio])').filter((e) => {
    const { display } = styleOf(e)
    return isBox(e) && display.startsWith('inline') && (display === 'inline' || e.getClientRects().length > 1)
  })`,
  'a box outside the box around it': `all('body *').filter((e) => {
    if (!isBox(e) || isFloating(e) || styleOf(e).display === 'inline') return false
    let outer = e.parentElement
    while (outer !== document.body && !isBox(outer)) {
      if (styleOf(outer).overflowX === 'auto') return false
      outer = outer.parentElement
    }
    const [inside, around] = [e, outer].map((box) => box.getBoundingClientRect())
    return inside.left < around.left - 2 || inside.right > around.right + 2 ||
      (outer !== document.body && (inside.top < around.top - 2 || inside.bottom > around.bottom + 2))
  })`,
  'a choice that is not beside its label': `all('label:has(> [type=checkbox], > [type=radio])').filter((label) => {
    const choice = label.querySelector('input')
    const ownLines = lines.filter(({ e }) => label.contains(e)).map(({ rect }) => rect)
    if (!isShown(choice) || ownLines.length === 0) return false
    const control = choice.getBoundingClientRect()
    const isBeside = ownLines.every(({ left }) => control.right <= left + 2)
    return !isBeside || control.top > ownLines.at(-1).bottom || control.bottom < ownLines[0].top
  })`,
  'a label that is not above its field': `all('label[for]').filter((label) => {
    const field = document.getElementById(label.htmlFor)
    if (!field || !isShown(field) || !field.matches('input:not([type=checkbox], [type=radio], [type=file]), select, textarea')) return false
    const [text, control] = [label, field].map((part) => part.getBoundingClientRect())
    const isBeside = text.right <= control.left + 2 && text.bottom > control.top && text.top < control.bottom
    return !isBeside && (text.bottom > control.top + 2 || control.top - text.bottom > 120 || text.left > control.right)
  })`,
  'a text that touches its field': `all('p, span').filter((text) => {
    if (!text.textContent.trim() || styleOf(text).display === 'inline' || text.closest('label, button, a')) return false
    const below = text.getBoundingClientRect()
    return all('input:not([type=checkbox], [type=radio], [type=file]), select, textarea').some((field) => {
      const { left, right, bottom } = field.getBoundingClientRect()
      return below.top > bottom - 2 && below.top < bottom + 4 && below.left < right && below.right > left
    })
  })`,
  'a target that is too small': `targets.filter((e) => {
    const { width, height } = e.getBoundingClientRect()
    return Math.min(width, height) < ${MIN_TARGET} - 0.5
  })`,
  'a target that is covered': `targets.filter((e) => {
    if (isFloating(e)) return false
    const { left, top, width, height } = e.getBoundingClientRect()
    if (top < 0 || top + height > innerHeight) return false
    const hit = document.elementFromPoint(left + width / 2, top + height / 2)
    return !hit || !(e.contains(hit) || hit.contains(e) || isFloating(hit) || (e.labels && [...e.labels].some((label) => label.contains(hit))))
  })`,
}

type Rule = keyof typeof RULES

/** Controls that a finger or a mouse must hit: all but those within a sentence, and boxes whose label is the target. */
const TARGETS = String.raw`all('a[href], button, summary, select, textarea, input, label:has(> input)').filter((e) => {
  if (e.matches('input') && (e.closest('label') || ['checkbox', 'radio'].includes(e.type))) return false
  const isInSentence = e.matches('a, button') && styleOf(e).display.startsWith('inline') &&
    [...e.parentElement.childNodes].some((node) => node.nodeType === 3 && /\w/.test(node.data))
  return !isInSentence && styleOf(e).pointerEvents !== 'none'
})`

/**
 * Finds the faults of layout in a page, as «rule: element». The window is made as high as the page meanwhile, so that
 * bars that stay in the window cover nothing.
 */
export async function findLayoutFaults(page: Page): Promise<string[]> {
  const window = page.viewportSize()!
  const height = Math.max(window.height, await evaluateIn<number>(page, 'document.documentElement.scrollHeight'))
  await page.setViewportSize({ ...window, height })
  await evaluateIn(page, 'scrollTo(0, 0)')
  const faults = await evaluateIn<string[]>(
    page,
    `(() => { ${HELPERS}
          const targets = ${TARGETS}
      const rules = { ${Object.entries(RULES)
        .map(([rule, elements]) => `${JSON.stringify(rule)}: () => ${elements}`)
        .join(',\n')} }
      return Object.entries(rules).flatMap(([rule, find]) => [...new Set(find().map(nameOf))].map((name) => rule + ': ' + name)) })()`,
  )
  await page.setViewportSize(window)
  return faults
}

/** Expects that a page has no fault of layout, except those of known rules. */
export async function checkLayout(page: Page, name: string, except: readonly Rule[] = []): Promise<void> {
  const faults = await findLayoutFaults(page)
  expect
    .soft(
      faults.filter((fault) => !except.some((rule) => fault.startsWith(`${rule}:`))),
      `${name}, ${page.viewportSize()!.width} pixels wide`,
    )
    .toEqual([])
}

/** Returns the left edge of the brand, in pixels. */
export const brandLeft = (page: Page): Promise<number> =>
  evaluateIn(
    page,
    `(document.querySelector('.marca a, .marca img') ?? document.querySelector('.marca')).getBoundingClientRect().left`,
  )
