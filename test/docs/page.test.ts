import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { toServed } from '../../scripts/generate/publish.ts'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { withAddress } from '../../server/pages/docs/address.ts'
import type { SearchPart } from '../../server/pages/docs/browser/search.ts'
import { ROOT } from '../../server/platform/root.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { evaluateIn } from '../pages/inspect.ts'
import { fillRelativeDays } from './days.ts'
import { onSlowNetwork } from './slowNetwork.ts'

const environment = shareEnvironment()
// The YAML reader of a tool that we have anyway, so that it isn't our own reading of YAML.
const YAML = createRequire(new URL('node_modules/knip/package.json', ROOT))('yaml') as { parse(text: string): unknown }

interface Operacion {
  operationId: string
  summary: string
  tags: string[]
}
interface Contract {
  openapi: string
  info: { title: string; description: string }
  paths: Record<string, Record<string, Operacion>>
}
const bundle = readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8')
const contract = JSON.parse(bundle) as Contract
const operaciones = Object.values(contract.paths).flatMap((path) =>
  Object.values(path).filter((operacion) => operacion.operationId),
)

const index = JSON.parse(
  readFileSync(new URL('server/generated/contract/documentation/indice.json', ROOT), 'utf8'),
) as SearchPart[]

/** Words that Redoc has and we have not; marks of the contract, and expressions. */
const ENGLISH_WORDS =
  /\b(?:the|of|or|and|to|copy|expand|collapse|requests?|responses?|required|security|servers?|overview|show|hide|search|loading|string|integer|number|boolean|object|array|any|items|characters|properties|property|unique|non-empty|null|example|enum|value|schemas?|link|light|dark|deprecated|default|variant|one|all|more)\b/i
const MARKS = /\borigen:|\bx-(?!repetible\b)[a-z]|\[\^|\\x|\{\d+,\d*\}/

/** What stands at a place of the page, for eyes or for a screen reader, in no word of the contract's nor in Spanish. */
async function foreign(page: Page, place: string): Promise<string[]> {
  await page.goto(`${environment.url}/docs#${place}`)
  const id = place.slice(1)
  if (id) await page.locator(`[id="${id}"]`).waitFor({ state: 'attached' })
  await page.getByTestId('color-mode-switcher').waitFor({ state: 'attached' })
  return (
    await evaluateIn<string[]>(
      page,
      `(async () => {
        const raiz = document.getElementById(${JSON.stringify(id)}) ?? document.body
        raiz.querySelectorAll('[data-testid="schema-expand-all-button"]').forEach((boton) => boton.click())
        await new Promise((listo) => requestAnimationFrame(() => setTimeout(listo)))
        const vistos = []
        const todo = document.createTreeWalker(raiz, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
        while (todo.nextNode()) {
          const nodo = todo.currentNode
          if (nodo.nodeType === Node.TEXT_NODE) {
            if (!nodo.parentElement.closest('script, style, pre, code, .token, .tag-schema')) vistos.push(nodo.data)
          } else vistos.push(...['aria-label', 'title', 'placeholder'].map((cual) => nodo.getAttribute(cual) ?? ''))
        }
        return [...new Set(vistos.map((uno) => uno.trim()).filter(Boolean))]
      })()`,
    )
  ).filter(
    (text) => MARKS.test(text) || (ENGLISH_WORDS.test(text) && !contractWords.has(text.replace(/^Enlace a /, ''))),
  )
}
/** Every word of the contract's that stands for itself: names and values, which are nobody's language. */
const contractWords = new Set<string>()
JSON.parse(bundle, (key, value) => {
  contractWords.add(key)
  if (typeof value === 'string') for (const one of [value, `"${value}"`]) contractWords.add(one)
  return value
})

describe('the contract', () => {
  const servedContract = () =>
    fillRelativeDays(withAddress(JSON.stringify(toServed(JSON.parse(bundle)), null, 2), environment.url), environment)

  it('is served as JSON, as it was bundled, with its address and every merchant operation that is served', async () => {
    const response = await fetch(`${environment.url}/openapi.json`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const text = await response.text()
    expect(text).toBe(servedContract())
    expect(contract.openapi).toBe('3.1.0')
    const servedOperations = readOperations(readDocument()).filter(({ path }) =>
      /^\/(api\/v1|\.well-known)\//.test(path),
    )
    expect(operaciones.map(({ operationId }) => operationId).sort()).toEqual(
      servedOperations.map(({ id }) => id).sort(),
    )
    expect(text).not.toContain('/operaciones/v1')
  })

  it('is served as YAML that says the same', async () => {
    const response = await fetch(`${environment.url}/openapi.yaml`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/yaml/)
    expect(YAML.parse(await response.text())).toEqual(JSON.parse(servedContract()))
  })

  it.each(['/openapi.json', '/openapi.yaml', '/coleccion.json', '/docs'])('answers HEAD %s', async (path) => {
    const response = await fetch(environment.url + path, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it.each([
    ['br', 'gzip, deflate, br, zstd', 50],
    ['gzip', 'gzip, deflate', 60],
    ['identity', 'identity', 400],
  ])('is documented on one page, packed (%s for «%s») into less than %i KB', async (encoding, accepts, limite) => {
    const { statusCode, headers, body } = await request(`${environment.url}/docs`, {
      headers: { 'accept-encoding': accepts },
    })
    expect([statusCode, headers['content-encoding'] ?? 'identity']).toEqual([200, encoding])
    expect((await body.arrayBuffer()).byteLength).toBeLessThan(limite * 1024)
  })

  it('is documented under a CSP that allows nothing from elsewhere, and no inline script or style but by its digest', async () => {
    const csp = (await fetch(`${environment.url}/docs`)).headers.get('content-security-policy') ?? ''
    const rules = new Map(csp.split(/; */).map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)]))
    expect(rules.get('default-src')).toEqual(["'none'"])
    expect(rules.get('script-src')?.every((source) => /^'(sha256-[\w+/=]{44}|self)'$/.test(source))).toBe(true)
    expect(rules.get('style-src')!.filter((source) => !/^'(sha256-[\w+/=]{44}|self)'$/.test(source))).toEqual([
      "'unsafe-hashes'",
    ])
    expect(csp).not.toMatch(/https?:|\*|unsafe-(?:eval|inline)/)
  })
})

describe.skipIf(!hasBrowser)('/docs in a browser', () => {
  let page: Page
  const sentRequests: string[] = []
  const consola: string[] = []
  const violations: string[] = []

  beforeAll(async () => {
    const context = await openContext({ viewport: { width: 1440, height: 900 } })
    context.on('request', (solicitud) => sentRequests.push(solicitud.url()))
    context.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type()))
        consola.push(`${mensaje.type()}: ${mensaje.text().slice(0, 300)}`)
    })
    context.on('weberror', (error) => consola.push(`uncaught: ${error.error().message}`))
    await context.exposeFunction('violada', (kind: string) => violations.push(kind))
    await context.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
      window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
    page = await context.newPage()
    await page.goto(`${environment.url}/docs`, { waitUntil: 'networkidle' })
  })
  afterEach(async () => {
    await page.waitForLoadState('networkidle')
    expect(sentRequests.filter((url) => !url.startsWith(`${environment.url}/`) && !/^(data|blob):/.test(url))).toEqual(
      [],
    )
    // A library inside Redoc probes for eval and does without it: the policy is what keeps it from finding it.
    expect([...new Set(violations)].filter((one) => one !== 'script-src eval')).toEqual([])
    expect([...new Set(consola)]).toEqual([])
  })
  afterAll(() => page?.context().close())

  it('is read before the rest comes: 150 KB at most, at the speed of a bad phone', FULL_RUN_ONLY, async () => {
    const context = await openContext({ viewport: { width: 390, height: 844 } })
    const other = await context.newPage()
    const requests = await onSlowNetwork(other)
    await other.goto(`${environment.url}/docs`, { waitUntil: 'commit' })
    await other.getByText('¿Dónde está su llave?').waitFor()
    await expect.poll(() => requests.bytesBefore(/redoc/)).toBeGreaterThan(20 * 1024)
    expect(requests.bytesBefore(/redoc/)).toBeLessThan(150 * 1024)
    // The rest, once the page is idle, is many times that.
    await expect.poll(requests.sum).toBeGreaterThan(500 * 1024)
    const [painted, asked] = await evaluateIn<[number, number]>(
      other,
      `[performance.getEntriesByName('first-contentful-paint')[0], performance.getEntriesByType('resource').find(({ name }) => name.includes('redoc'))].map(({ startTime }) => startTime)`,
    )
    expect(painted).toBeLessThan(asked)
    await context.close()
  })

  it('loads what draws operations at once for a reader who opens one', async () => {
    const context = await openContext({ viewport: { width: 1_440, height: 900 } })
    await context.addInitScript('window.requestIdleCallback = () => 0')
    const other = await context.newPage()
    await other.goto(`${environment.url}/docs`)
    await other.getByRole('navigation', { name: 'Índice' }).getByText('Webhooks', { exact: true }).click()
    await other.locator('[id="webhooks/crearwebhook"]').waitFor()
    await context.close()
  })

  it('names the address that serves it', FULL_RUN_ONLY, async () => {
    const context = await openContext({ viewport: { width: 1440, height: 900 } })
    const other = await context.newPage()
    const direccion = environment.url.replace('127.0.0.1', 'localhost')
    await other.goto(`${direccion}/docs`)
    await other.getByTestId('server-panel-item-name').waitFor()
    await other.getByText(direccion, { exact: true }).first().waitFor()
    await other.goto(`${direccion}/docs#/guias/crearguia`)
    await other.getByText(`"${direccion}/api/v1/guias"`).first().waitFor()
    // Only what is near the eye is on the page: the sample of a refusal comes when it is asked for.
    await other.locator('[id="guias/crearguia"]').getByRole('button', { name: '422', exact: true }).last().click()
    await other.getByText(`${direccion}/docs/errores#error-validacion`).first().waitFor()
    expect(await other.innerText('body')).not.toMatch(/127\.0\.0\.1:3000|guias\.ejemplo\.com/)
    await context.close()
  })

  it('shows the samples of an operation', async () => {
    await page.goto(`${environment.url}/docs?muestras#operation/listarMunicipios`)
    const operacion = page.locator('[id="catalogo/listarmunicipios"]')
    await operacion.getByText('--data-urlencode').first().waitFor()
    // The list of languages opens where its button is then, and the page moves until all above it is drawn.
    let before: number | undefined
    const quieta = async () => {
      const now = (await operacion.boundingBox())?.y
      const same = now === before
      before = now
      return same
    }
    await expect.poll(quieta, { interval: 500 }).toBe(true)
    await operacion.getByText('curl', { exact: true }).first().click()
    await page.getByText('Node.js', { exact: true }).first().click()
    const codigo = operacion.getByText("import { Guias } from '@guias/sdk'").first()
    await codigo.waitFor()
    // Words of a sample are coloured by rules, because the policy refuses Redoc's style attributes.
    const colors = await evaluateIn<string[]>(
      page,
      `[...new Set([...document.querySelectorAll('[data-color]')].map((uno) => getComputedStyle(uno).color))]`,
    )
    expect(colors.length).toBeGreaterThan(2)
  })

  it('shows samples with days near today', async () => {
    // A page of its own, because Redoc remembers the language of the samples.
    const context = await openContext({ viewport: { width: 1440, height: 900 } })
    const other = await context.newPage()
    await other.goto(`${environment.url}/docs#operation/reintentarGuia`)
    const operacion = other.locator('[id="guias/reintentarguia"]')
    await expect.poll(() => operacion.textContent()).toContain(fillRelativeDays('"fecha": "0001-01-04"', environment))
    expect(await other.textContent('body')).not.toContain('0001-01-04')
    await context.close()
  })

  it('says that it is in Spanish', async () => {
    expect(await page.getAttribute('html', 'lang')).toBe('es')
    expect(await page.title()).toBe(contract.info.title)
    for (const place of ['/', '/guias/crearlote', '/eventos/listareventos', '/webhooks/crearwebhook', '/objetos/guia'])
      expect(await foreign(page, place), place).toEqual([])
  })

  it('says all of it in Spanish, and shows no marks', FULL_RUN_ONLY, async () => {
    const lugares = index
      .filter(({ clase }) => clase === 'Operación' || clase === 'Objeto')
      .map(({ lugar: place }) => place.replace(/^docs#/, ''))
    expect(lugares.length).toBeGreaterThan(operaciones.length + 50)
    for (const [i, place] of lugares.entries()) {
      // Redoc keeps what it has drawn, and each further place takes longer: 0.7 s at the end instead of 0.2.
      if (i % 15 === 0) await page.goto('about:blank')
      expect(await foreign(page, place), place).toEqual([])
    }
  })

  it('leads to an error from its documentacion', async () => {
    const { body } = await environment.request('GET', '/api/v1/guias')
    for (const url of [body.documentacion, `${environment.url}/docs/errores#error-validacion`]) {
      await page.goto(url)
      const row = page.locator('tr', { has: page.locator(`[id="${url.split('#')[1]}"]`) })
      await waitUntil(async () => {
        const { y = Number.NaN } = (await row.boundingBox()) ?? {}
        return y >= 0 && y < 400
      })
    }
  })

  it('fits a phone', FULL_RUN_ONLY, async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${environment.url}/docs`, { waitUntil: 'networkidle' })
    await page.getByRole('heading', { name: contract.info.title }).waitFor()
    await captureScreen(page, 'docs-phone')
    // Not evaluate(), which the page's policy would report as an eval.
    const medidas = await (await page.context().newCDPSession(page)).send('Page.getLayoutMetrics')
    expect(medidas.cssContentSize.width).toBeLessThanOrEqual(390)
  })
})
