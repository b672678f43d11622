import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect } from 'vitest'
import { openContext } from '../../browser.ts'
import { checkPage, evaluateIn } from '../inspect.ts'
import { tilesUrl, url } from './service.ts'

export const PHONE_POSITION = { latitude: 14.64, longitude: -90.61 }

/** A phone that stands there, as exact as told. */
export const optionsFor = (accuracy: number): BrowserContextOptions => ({
  permissions: ['geolocation'],
  geolocation: { ...PHONE_POSITION, accuracy },
})

/** A recipient's phone, 360 × 740 unless told: what the page complains of, and whatever it asks of others, fails the test. */
function usePhone() {
  const complaints: string[] = []
  const requestedUrls: string[] = []
  let context: BrowserContext
  let pagina: Page
  afterEach(async () => {
    await context?.close()
    expect([...new Set(complaints)]).toEqual([])
    expect(
      requestedUrls.filter(
        (requestedUrl) => !requestedUrl.startsWith(`${url}/`) && !requestedUrl.startsWith(`${tilesUrl}/`),
      ),
    ).toEqual([])
  })
  return {
    requestedUrls,
    context: () => context,
    pagina: () => pagina,
    async open(token: string, options: BrowserContextOptions = {}) {
      complaints.length = 0
      requestedUrls.length = 0
      context = await openContext({
        viewport: { width: 360, height: 740 },
        deviceScaleFactor: 2,
        hasTouch: true,
        isMobile: true,
        ...options,
      })
      context.on('request', (solicitud) => requestedUrls.push(solicitud.url()))
      context.on('console', (mensaje) => {
        const isExpected = /ERR_INTERNET_DISCONNECTED|status of [45]\d\d/.test(mensaje.text())
        if (['error', 'warning'].includes(mensaje.type()) && !isExpected) complaints.push(mensaje.text().slice(0, 300))
      })
      context.on('weberror', (error) => complaints.push(`uncaught: ${error.error().message}`))
      if (options.javaScriptEnabled !== false) {
        await context.exposeFunction('violada', (violation: string) => complaints.push(`CSP: ${violation}`))
        await context.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
          window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
      }
      pagina = await context.newPage()
      await pagina.goto(`${url}/u/${token}`, { waitUntil: 'networkidle' })
    },
    /** Not Playwright's `evaluate()`, which the page's policy would report as an eval. */
    evaluate: <T>(expression: string) => evaluateIn<T>(pagina, expression),
    check: (name: string) =>
      checkPage({
        pagina,
        nombre: `ubicacion-${name}`,
        touchTargets:
          'button, a.boton, input:not([type=hidden], [type=checkbox]), textarea, summary, label.casilla, .errores a, dd a, .pin',
      }),
    readHiddenField: (name: string) => pagina.locator(`input[name=${name}]`).inputValue(),
    button: (name: string | RegExp) => pagina.getByRole('button', { name }),
    readFocused: () => evaluateIn<string>(pagina, 'document.activeElement.id || document.activeElement.tagName'),
    /** Where the button to confirm stands in the window, from its top. */
    readConfirmTop: () =>
      evaluateIn<number>(pagina, `document.querySelector('.barra .principal').getBoundingClientRect().y`),
    /** Words that don't stand in one line, such as «entregad/o». */
    findBrokenWords: () =>
      evaluateIn<string[]>(
        pagina,
        `(() => {
          const rotas = []
          const textos = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
          while (textos.nextNode()) {
            const nodo = textos.currentNode
            if (!nodo.parentElement.checkVisibility() || nodo.parentElement.closest('#mapa, textarea')) continue
            for (const { 0: palabra, index } of nodo.data.matchAll(/[\\p{L}\\d]+/gu)) {
              const trecho = document.createRange()
              trecho.setStart(nodo, index)
              trecho.setEnd(nodo, index + palabra.length)
              const lineas = new Set([...trecho.getClientRects()].map(({ bottom }) => Math.round(bottom)))
              if (lineas.size > 1) rotas.push(palabra)
            }
          }
          return rotas
        })()`,
      ),
  }
}

/** What a recipient sees and does on his phone. */
export function useRecipientPage() {
  const telefono = usePhone()
  const { pagina, evaluate } = telefono
  const titulo = (name: string | RegExp) => pagina().getByRole('heading', { name })
  return {
    ...telefono,
    titulo,
    texto: (textOrPattern: string | RegExp) => pagina().getByText(textOrPattern),
    enlace: () => pagina().getByLabel('Enlace del mapa'),
    referencia: () => pagina().getByLabel('¿Cómo reconocemos el lugar?'),
    waitForThanks: () => titulo(/Gracias/).waitFor(),
    tapMap: (x: number, y: number) => pagina().locator('#mapa').tap({ position: { x, y } }),
    waitForTiles: () =>
      expect.poll(() => evaluate('document.querySelector("#mapa.leaflet-container:not(.ciego)") !== null')).toBe(true),
    /** The map has come to rest. */
    waitForStillMap: () =>
      expect
        .poll(() =>
          evaluate(`!document.querySelector('.leaflet-zoom-anim, .leaflet-pan-anim') &&
            [...document.querySelectorAll('.leaflet-tile')].every((una) => getComputedStyle(una).opacity === '1')`),
        )
        .toBe(true),
  }
}
