/** The documentation's search: what comes first for what people ask, and the window in which they ask it. */
import { readFileSync } from 'node:fs'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readChapters } from '../../scripts/documentation/guide.ts'
import { createSearch, excerptOf, type SearchPart } from '../../server/pages/docs/browser/search.ts'
import { ROOT } from '../../server/platform/root.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { evaluateIn } from '../pages/inspect.ts'

const environment = shareEnvironment()
const read = (file: string) => readFileSync(new URL(`server/generated/contract/${file}`, ROOT), 'utf8')
const index = JSON.parse(read('documentation/indice.json')) as SearchPart[]
const search = createSearch(index)

/** What is asked, and where its first hit leads. */
const QUESTIONS = [
  ['idempotencia', 'docs/idempotencia'],
  ['IDEMPOTENSIA', 'docs/idempotencia'],
  ['external_ref', 'docs/idempotencia'],
  ['ubicacion', 'docs/ubicacion'],
  ['Ubicación', 'docs/ubicacion'],
  ['mcp', 'docs/asistentes-mcp'],
  ['asistente', 'docs/asistentes-mcp'],
  ['chatgpt', 'docs/asistentes-mcp'],
  ['webhooks', 'docs/recibir-webhooks'],
  ['web hook', 'docs/recibir-webhooks'],
  ['firma', 'docs/recibir-webhooks#firma'],
  ['reintentos', 'docs/recibir-webhooks#reintentos'],
  ['lote', 'docs/lotes'],
  ['qué hago si falla un lote', 'docs/lotes'],
  ['estados', 'docs/estados'],
  ['prueba de entrega', 'docs/prueba-de-entrega'],
  ['etiqueta', 'docs/etiquetas'],
  ['etiketas', 'docs/etiquetas'],
  ['imprimir etiquetas', 'docs/etiquetas'],
  ['npm', 'docs/sdk'],
  ['instalar sdk', 'docs/sdk'],
  ['npm install', 'docs/sdk'],
  ['cli', 'docs/linea-de-ordenes'],
  ['npx', 'docs/linea-de-ordenes'],
  ['csv', 'docs/linea-de-ordenes'],
  ['hoja de calculo', 'docs/hoja-de-calculo'],
  ['plantilla', 'docs/hoja-de-calculo'],
  ['comillas', 'docs/hoja-de-calculo'],
  ['llave de producción', 'docs/pasar-a-produccion'],
  ['llabe de produccion', 'docs/pasar-a-produccion'],
  ['go live', 'docs/pasar-a-produccion'],
  ['pasar a producción', 'docs/pasar-a-produccion'],
  ['cobro contra entrega', 'docs/lo-que-no-hay#cobro-contra-entrega'],
  ['contra entrega', 'docs/lo-que-no-hay#cobro-contra-entrega'],
  ['tarifas', 'docs/lo-que-no-hay#tarifas-y-cotizacion'],
  ['cuánto cuesta', 'docs/lo-que-no-hay#tarifas-y-cotizacion'],
  ['wordpress', 'docs/lo-que-no-hay#wordpress-woocommerce-y-shopify'],
  ['woocommerce', 'docs/lo-que-no-hay#wordpress-woocommerce-y-shopify'],
  ['excel', 'docs/lo-que-no-hay#excel'],
  ['modo de prueba', 'docs/modo-de-prueba'],
  ['llave', 'docs/autenticacion'],
  ['api key', 'docs/autenticacion'],
  ['autentificación', 'docs/autenticacion'],
  ['limites', 'docs/limites'],
  ['cursor', 'docs/paginas'],
  ['rastreo', 'docs/pagina-de-rastreo'],
  ['429', 'docs/errores#429'],
  ['carrera_perdida', 'docs/errores#error-carrera_perdida'],
  ['crear guia', 'docs#/guias/crearguia'],
  ['cómo cancelo una guía', 'docs#/guias/cancelarguia'],
  ['/api/v1/cuenta', 'docs#/cuenta/obtenercuenta'],
  ['rotar secreto', 'docs#/webhooks/rotarsecreto'],
  ['GuiaIndividual', 'docs#/objetos/guiaindividual'],
] as const

describe('the first result of a search', () => {
  it.each(QUESTIONS)('«%s»: %s', (askedQuestion, place) => {
    expect(search(askedQuestion)[0]?.lugar).toBe(place)
  })

  it('is tested with at least 40 questions', () => expect(QUESTIONS.length).toBeGreaterThanOrEqual(40))

  it('names a feature that the service does not have', () => {
    for (const askedQuestion of ['cobro contra entrega', 'tarifas', 'woocommerce']) {
      const [first] = search(askedQuestion)
      expect([askedQuestion, first?.de, first?.texto]).toEqual([
        askedQuestion,
        'Lo que no hay',
        expect.stringMatching(/^No hay/),
      ])
    }
  })

  it('is missing for unknown and for empty texts', () => {
    expect(search('xyzzy')).toEqual([])
    expect(search('')).toEqual([])
  })

  it('shows the words around the one that was asked for', () => {
    const text = `${'nada '.repeat(40)}aquí está la firma que se busca${' nada'.repeat(40)}`
    expect(excerptOf(text, 'FIRMA')).toMatch(/^….*la firma que se busca.*…$/)
  })
})

it('has each chapter, part, operation, schema and error by itself', () => {
  const count = Object.groupBy(index, ({ clase }) => clase)
  expect(count.Capítulo!.length).toBe(readChapters().length)
  for (const clase of ['Apartado', 'Operación', 'Objeto', 'Error'] as const) {
    expect(count[clase]!.length, clase).toBeGreaterThan(25)
  }
  expect(new Set(index.map(({ lugar: place }) => place)).size).toBe(index.length)
})

describe.skipIf(!hasBrowser)('the search window', () => {
  let page: Page
  const sentRequests: string[] = []
  beforeAll(async () => {
    const context = await openContext({ viewport: { width: 390, height: 844 } })
    context.on('request', (solicitud) => sentRequests.push(solicitud.url().replace(/\.[0-9a-f]{12}\./, '.')))
    page = await context.newPage()
    await page.goto(`${environment.url}/docs`)
    // Redoc's own search listens as soon as Redoc runs.
    await page.locator('[data-testid="color-mode-switcher"]').waitFor({ state: 'attached' })
  })
  afterAll(() => page?.context().close())
  const field = () => page.getByRole('combobox', { name: 'Buscar en la documentación' })
  const searchRequests = () => sentRequests.filter((url) => /buscador|indice/.test(url))

  it('opens by key and is read by a screen reader, and comes only when it is wanted', async () => {
    expect(searchRequests()).toEqual([])
    await page.keyboard.press('Control+k')
    await field().fill('idempotensia')
    const first = page.getByRole('dialog').getByRole('option').first()
    await first.getByText('Idempotencia', { exact: true }).waitFor()
    expect(await first.getAttribute('aria-selected')).toBe('true')
    expect(await field().getAttribute('aria-activedescendant')).toBe(await first.getAttribute('id'))
    expect(searchRequests().length).toBe(2)
    expect(await page.getByRole('dialog').count()).toBe(1)
    await captureScreen(page, 'docs-buscador')
  })

  const llevaA = async (place: string) => {
    await page.waitForURL(`${environment.url}/${place}`)
    const id = place.split('#')[1]?.replace(/^\//, '') ?? 'contenido'
    await expect
      .poll(() => evaluateIn(page, `document.getElementById('${id}')?.getBoundingClientRect().y`), { message: place })
      .toSatisfy((y: number) => y >= -50 && y < 300)
  }

  it('leads there with the keyboard alone', async () => {
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await llevaA('docs/idempotencia')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('leads to each class of things', async () => {
    for (const [askedQuestion, expectedTitle, place] of [
      ['reintentos', 'Reintentos', 'docs/recibir-webhooks#reintentos'],
      ['cancelar una guía', 'Cancelar una guía', 'docs#/guias/cancelarguia'],
      ['GuiaIndividual', 'Guía individual', 'docs#/objetos/guiaindividual'],
      ['carrera_perdida', 'carrera_perdida', 'docs/errores#error-carrera_perdida'],
    ] as const) {
      await page.locator('#buscar').click()
      await field().fill(askedQuestion)
      await page.getByRole('dialog').getByRole('option').first().getByText(expectedTitle, { exact: true }).click()
      await llevaA(place)
    }
  })

  it.each(['button', 'Control+k', '/'])('keeps every letter that is typed at once (%s)', async (asSpecified) => {
    const context = await openContext({ viewport: { width: 1280, height: 800 } })
    const other = await context.newPage()
    // The index arrives after the last letter.
    let release = () => {}
    const isReleased = new Promise<void>((listo) => {
      release = listo
    })
    await other.route(/indice/, async (path) => {
      await isReleased
      await path.continue()
    })
    // The button works as soon as it is seen, also before the page's program runs.
    await other.goto(`${environment.url}/docs`, { waitUntil: asSpecified === 'button' ? 'commit' : 'load' })
    if (asSpecified === 'button') await other.locator('#buscar').click()
    else await other.keyboard.press(asSpecified)
    await other.keyboard.type('cancelar')
    const searchBox = other.getByRole('combobox', { name: 'Buscar en la documentación' })
    expect(await searchBox.inputValue()).toBe('cancelar')
    release()
    await other.getByRole('option').first().getByText('Cancelar una guía', { exact: true }).waitFor()
    expect(await searchBox.inputValue()).toBe('cancelar')
    await context.close()
  })

  it.each(
    [['light', ''] as const, ['dark', ''] as const, ['light', '#/guias/crearlote'] as const].flatMap(([tema, place]) =>
      [390, 1440].map((width) => [tema, place, width] as const),
    ),
  )(
    'has no fault that axe can find, nor has the page around it (%s %s %i)',
    FULL_RUN_ONLY,
    async (tema, place, width) => {
      await page.setViewportSize({ width, height: 844 })
      await page.emulateMedia({ colorScheme: tema })
      await page.goto(`${environment.url}/docs?${tema}${width}${place}`)
      await page
        .locator(place ? '[id="guias/crearlote"] .token' : '[data-testid="color-mode-switcher"]')
        .first()
        .waitFor({ state: 'attached' })
      const faltas = (selector: string) =>
        evaluateIn<string[]>(
          page,
          `(async () => { if (!window.axe) { ${axe.source} }
          // Redoc writes its headings inside an operation as h4, below an h2.
          const { violations } = await axe.run('${selector}', { rules: { 'heading-order': { enabled: false } } })
          return violations.map((una) => una.id + ': ' + una.nodes[0].html.slice(0, 200)) })()`,
        )
      expect(await faltas('body')).toEqual([])
      await page.keyboard.press('Control+k')
      await field().fill('lote')
      await page.getByRole('dialog').getByRole('option').first().waitFor()
      expect(await faltas('.buscador')).toEqual([])
      await page.keyboard.press('Escape')
    },
  )

  it('is left with Escape, and says when there is nothing', async () => {
    await page.keyboard.press('/')
    await field().fill('xyzzy')
    await page.getByRole('dialog').getByRole('status').getByText('Nada coincide con «xyzzy».').waitFor()
    await page.keyboard.press('Escape')
    await field().waitFor({ state: 'hidden' })
  })
})
