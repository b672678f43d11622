// Pages beside reviewed pictures of them: what no rule of geometry and no tool sees.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { evaluateIn } from './inspect.ts'
import {
  comparePictures,
  compareWithReviewed,
  REVIEWED_FOLDER,
  reviewedNames,
  TOLERANCE,
  takePicture,
} from './pictures.ts'

const local = useEnvironment({}, () => ({ MAILBOX: '1', SUPPORT_PHONE: '+50223145500' }))

/** Pages that are the same on every day and at every address. */
const PAGES: Record<string, string> = {
  pieces: '/ui',
  home: '/',
  shops: '/comercio',
  'sign-in': '/entrar',
  courier: '/repartidor',
  proof: '/verificar',
  chapter: '/docs/pagina-de-rastreo',
}
const VIEWS = [
  [360, 'light'],
  [360, 'dark'],
  [1_440, 'light'],
] as const
const PICTURES = Object.entries(PAGES).flatMap(([name, path]) =>
  VIEWS.map(([width, scheme]) => [`${name}-${width}-${scheme}`, path, width, scheme] as const),
)

/** Faults that no rule of geometry sees, as rules of a style sheet. */
const FAULTS: Record<string, string> = {
  'a heading as small as text': 'h2 { font-size: 1rem; font-weight: 400 }',
  'rows without space between them': '.lista a, .marcable { margin: 0 }',
  'a filled button without its fill': '.principal { background: none; color: inherit }',
  'icons that are gone': '.icono { visibility: hidden }',
  'a column that is centred no longer': 'main { margin-left: 0 }',
}

it('has reviewed pictures of all pages, of 1.5 MB together', () => {
  expect(reviewedNames()).toEqual(PICTURES.map(([name]) => name).sort())
  const sizes = readdirSync(REVIEWED_FOLDER).map((file) => statSync(join(REVIEWED_FOLDER, file)).size)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(1.5 * 1024 * 1024)
})

describe.skipIf(!hasBrowser)('a page', () => {
  let page: Page
  const notCompared: string[] = []
  const open = async (path: string, width: number, colorScheme: 'light' | 'dark') => {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 900 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.goto(local.url + path, { waitUntil: 'networkidle' })
  }
  beforeAll(async () => {
    page = await (await openContext()).newPage()
  })
  afterAll(async () => {
    await page?.context().close()
    if (notCompared.length > 0) console.log(notCompared.join('\n'))
  })

  it.each(PICTURES)('looks as it was reviewed (%s)', FULL_RUN_ONLY, async (name, path, width, scheme) => {
    await open(path, width, scheme)
    const result = await compareWithReviewed(page, name)
    if (typeof result === 'string') notCompared.push(`${name}: ${result}`)
    else expect(result, name).toBeLessThanOrEqual(TOLERANCE)
  })

  it.each(Object.entries(FAULTS))('looks different with a fault: %s', FULL_RUN_ONLY, async (_name, rule) => {
    await open('/ui', 1_440, 'light')
    const before = await takePicture(page)
    expect((await comparePictures(await takePicture(page), before)).share).toBeLessThanOrEqual(TOLERANCE)
    await evaluateIn(
      page,
      `[...document.styleSheets].at(-1).insertRule(${JSON.stringify(rule)}, [...document.styleSheets].at(-1).cssRules.length)`,
    )
    expect((await comparePictures(await takePicture(page), before)).share).toBeGreaterThan(TOLERANCE)
  })
})
