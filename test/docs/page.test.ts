import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { toServed } from '../../scripts/generate/publish.ts'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { PROBLEMAS } from '../../server/generated/contract/vocabulary.ts'
import { withAddress } from '../../server/pages/docs/address.ts'
import type { SearchPart } from '../../server/pages/docs/browser/search.ts'
import { ROOT } from '../../server/platform/root.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, hasta } from '../factories.ts'
import { evaluateIn } from '../pages/inspect.ts'
import { fillRelativeDays } from './days.ts'

const entorno = shareEnvironment()
// The YAML reader of a tool that we have anyway, so that it isn't our own reading of YAML.
const YAML = createRequire(new URL('node_modules/knip/package.json', ROOT))('yaml') as { parse(texto: string): unknown }

interface Operacion {
  operationId: string
  summary: string
  tags: string[]
}
interface Contrato {
  openapi: string
  info: { title: string; description: string }
  components: { schemas: { Estado: { 'x-transiciones': { transiciones: Record<string, string[]> } } } }
  paths: Record<string, Record<string, Operacion>>
}
const bundle = readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8')
const contrato = JSON.parse(bundle) as Contrato
const operaciones = Object.values(contrato.paths).flatMap((ruta) =>
  Object.values(ruta).filter((operacion) => operacion.operationId),
)

const indice = JSON.parse(
  readFileSync(new URL('server/generated/contract/documentation/indice.json', ROOT), 'utf8'),
) as SearchPart[]

/** Words that Redoc has and we have not; marks of the contract, and expressions. */
const INGLES =
  /\b(?:the|of|or|and|to|copy|expand|collapse|requests?|responses?|required|security|servers?|overview|show|hide|search|loading|string|integer|number|boolean|object|array|any|items|characters|properties|property|unique|non-empty|null|example|enum|value|schemas?|link|light|dark|deprecated|default|variant|one|all|more)\b/i
const MARCAS = /\borigen:|\bx-(?!repetible\b)[a-z]|\[\^|\\x|\{\d+,\d*\}/

/** What stands at a place of the page, for eyes or for a screen reader, in no word of the contract's nor in Spanish. */
async function ajenas(pagina: Page, lugar: string): Promise<string[]> {
  await pagina.goto(`${entorno.url}/docs#${lugar}`)
  const id = lugar.slice(1)
  if (id) await pagina.locator(`[id="${id}"]`).waitFor({ state: 'attached' })
  await pagina.getByTestId('color-mode-switcher').waitFor({ state: 'attached' })
  return (
    await evaluateIn<string[]>(
      pagina,
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
  ).filter((texto) => MARCAS.test(texto) || (INGLES.test(texto) && !propias.has(texto.replace(/^Enlace a /, ''))))
}
/** Every word of the contract's that stands for itself: names and values, which are nobody's language. */
const propias = new Set<string>()
JSON.parse(bundle, (clave, valor) => {
  propias.add(clave)
  if (typeof valor === 'string') for (const uno of [valor, `"${valor}"`]) propias.add(uno)
  return valor
})

describe('the contract', () => {
  const servido = () =>
    fillRelativeDays(withAddress(JSON.stringify(toServed(JSON.parse(bundle)), null, 2), entorno.url), entorno)

  it('is served as JSON, as it was bundled, with its address and every merchant operation that is served', async () => {
    const respuesta = await fetch(`${entorno.url}/openapi.json`)
    expect(respuesta.status).toBe(200)
    expect(respuesta.headers.get('content-type')).toMatch(/^application\/json/)
    const texto = await respuesta.text()
    expect(texto).toBe(servido())
    expect(contrato.openapi).toBe('3.1.0')
    const servidas = readOperations(readDocument()).filter(({ path: ruta }) => /^\/(api\/v1|\.well-known)\//.test(ruta))
    expect(operaciones.map(({ operationId }) => operationId).sort()).toEqual(servidas.map(({ id }) => id).sort())
    expect(texto).not.toContain('/operaciones/v1')
  })

  it('is served as YAML that says the same', async () => {
    const respuesta = await fetch(`${entorno.url}/openapi.yaml`)
    expect(respuesta.status).toBe(200)
    expect(respuesta.headers.get('content-type')).toMatch(/^application\/yaml/)
    expect(YAML.parse(await respuesta.text())).toEqual(JSON.parse(servido()))
  })

  it.each(['/openapi.json', '/openapi.yaml', '/coleccion.json', '/docs'])('answers HEAD %s', async (ruta) => {
    const respuesta = await fetch(entorno.url + ruta, { method: 'HEAD' })
    expect([respuesta.status, await respuesta.text()]).toEqual([200, ''])
  })

  it.each([
    ['br', 'gzip, deflate, br, zstd', 100],
    ['gzip', 'gzip, deflate', 120],
    ['identity', 'identity', 600],
  ])('is documented on one page, packed (%s for «%s») into less than %i KB', async (codificacion, acepta, limite) => {
    const { statusCode, headers, body } = await request(`${entorno.url}/docs`, {
      headers: { 'accept-encoding': acepta },
    })
    expect([statusCode, headers['content-encoding'] ?? 'identity']).toEqual([200, codificacion])
    expect((await body.arrayBuffer()).byteLength).toBeLessThan(limite * 1024)
  })

  it('is documented under a CSP that allows nothing from elsewhere, and no inline script or style but by its digest', async () => {
    const csp = (await fetch(`${entorno.url}/docs`)).headers.get('content-security-policy') ?? ''
    const reglas = new Map(csp.split(/; */).map((regla) => [regla.split(' ')[0], regla.split(' ').slice(1)]))
    expect(reglas.get('default-src')).toEqual(["'none'"])
    expect(reglas.get('script-src')?.every((fuente) => /^'(sha256-[\w+/=]{44}|self)'$/.test(fuente))).toBe(true)
    expect(reglas.get('style-src')!.filter((fuente) => !/^'(sha256-[\w+/=]{44}|self)'$/.test(fuente))).toEqual([
      "'unsafe-hashes'",
    ])
    expect(csp).not.toMatch(/https?:|\*|unsafe-(?:eval|inline)/)
  })
})

describe('the place of each error', () => {
  const codigos = Object.entries(PROBLEMAS).map(([codigo, uno]) => ({ codigo, ajeno: 'ajeno' in uno }))
  const html = readFileSync(new URL('server/generated/contract/pages/docs/documentacion.html', ROOT), 'utf8')

  it.each(codigos)('$codigo', ({ codigo, ajeno }) => {
    expect(html.split(` id="error-${codigo}"`).length - 1).toBe(ajeno ? 0 : 1)
  })
})

describe.skipIf(!hasBrowser)('/docs in a browser', () => {
  let pagina: Page
  const pedidas: string[] = []
  const consola: string[] = []
  const violaciones: string[] = []

  beforeAll(async () => {
    const contexto = await openContext({ viewport: { width: 1440, height: 900 } })
    contexto.on('request', (solicitud) => pedidas.push(solicitud.url()))
    contexto.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type()))
        consola.push(`${mensaje.type()}: ${mensaje.text().slice(0, 300)}`)
    })
    contexto.on('weberror', (error) => consola.push(`uncaught: ${error.error().message}`))
    await contexto.exposeFunction('violada', (que: string) => violaciones.push(que))
    await contexto.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
      window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
    pagina = await contexto.newPage()
    await pagina.goto(`${entorno.url}/docs`, { waitUntil: 'networkidle' })
  })
  afterEach(async () => {
    await pagina.waitForLoadState('networkidle')
    expect(pedidas.filter((url) => !url.startsWith(`${entorno.url}/`) && !/^(data|blob):/.test(url))).toEqual([])
    // A library inside Redoc probes for eval and does without it: the policy is what keeps it from finding it.
    expect([...new Set(violaciones)].filter((una) => una !== 'script-src eval')).toEqual([])
    expect([...new Set(consola)]).toEqual([])
  })
  afterAll(() => pagina?.context().close())

  it('is read before the rest comes: 300 KB at most, at the speed of a phone', FULL_RUN_ONLY, async () => {
    const contexto = await openContext({ viewport: { width: 390, height: 844 } })
    const otra = await contexto.newPage()
    const sesion = await contexto.newCDPSession(otra)
    const pedidos = new Map<string, { cuando: number; bytes: number }>()
    sesion.on('Network.requestWillBeSent', ({ requestId, timestamp }) =>
      pedidos.set(requestId, { cuando: timestamp, bytes: 0 }),
    )
    sesion.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      pedidos.get(requestId)!.bytes = encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: (1.6 * 1024 * 1024) / 8,
      uploadThroughput: (0.75 * 1024 * 1024) / 8,
    })
    await otra.goto(`${entorno.url}/docs`)
    await otra.getByTestId('color-mode-switcher').waitFor({ state: 'attached' })
    const primera = await evaluateIn<number>(
      otra,
      `performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000`,
    )
    const suma = (unos: { bytes: number }[]) => unos.reduce((total, { bytes }) => total + bytes, 0)
    const todos = [...pedidos.values()]
    // Whatever was asked for by then, whole.
    const antes = suma(todos.filter(({ cuando }) => cuando <= todos[0]!.cuando + primera))
    expect(antes).toBeGreaterThan(20 * 1024)
    expect(antes).toBeLessThan(300 * 1024)
    // The rest is many times that.
    await expect.poll(() => suma(todos)).toBeGreaterThan(500 * 1024)
    await contexto.close()
  })

  it('names the address that serves it', FULL_RUN_ONLY, async () => {
    const contexto = await openContext({ viewport: { width: 1440, height: 900 } })
    const otra = await contexto.newPage()
    const direccion = entorno.url.replace('127.0.0.1', 'localhost')
    await otra.goto(`${direccion}/docs`)
    await otra.getByText(`export GUIAS_URL=${direccion}`).first().waitFor()
    await otra.getByTestId('server-panel-item-name').waitFor()
    await otra.getByText(direccion, { exact: true }).first().waitFor()
    await otra.goto(`${direccion}/docs#/guias/crearguia`)
    await otra.getByText(`"${direccion}/api/v1/guias"`).first().waitFor()
    // Only what is near the eye is on the page: the sample of a refusal comes when it is asked for.
    await otra.locator('[id="guias/crearguia"]').getByRole('button', { name: '422', exact: true }).last().click()
    await otra.getByText(`${direccion}/docs#error-validacion`).first().waitFor()
    expect(await otra.innerText('body')).not.toMatch(/127\.0\.0\.1:3000|guias\.ejemplo\.com/)
    await contexto.close()
  })

  it('shows the samples of an operation', async () => {
    await pagina.goto(`${entorno.url}/docs?muestras#operation/listarMunicipios`)
    const operacion = pagina.locator('[id="catalogo/listarmunicipios"]')
    await operacion.getByText('--data-urlencode').first().waitFor()
    // The list of languages opens where its button is then, and the page moves until all above it is drawn.
    let antes: number | undefined
    const quieta = async () => {
      const ahora = (await operacion.boundingBox())?.y
      const igual = ahora === antes
      antes = ahora
      return igual
    }
    await expect.poll(quieta, { interval: 500 }).toBe(true)
    await operacion.getByText('curl', { exact: true }).first().click()
    await pagina.getByText('Node.js', { exact: true }).first().click()
    const codigo = operacion.getByText("import { Guias } from '@guias/sdk'").first()
    await codigo.waitFor()
    // Words of a sample are coloured by rules, because the policy refuses Redoc's style attributes.
    const colores = await evaluateIn<string[]>(
      pagina,
      `[...new Set([...document.querySelectorAll('[data-color]')].map((uno) => getComputedStyle(uno).color))]`,
    )
    expect(colores.length).toBeGreaterThan(2)
  })

  it('shows samples with days near today', async () => {
    // A page of its own, because Redoc remembers the language of the samples.
    const contexto = await openContext({ viewport: { width: 1440, height: 900 } })
    const otra = await contexto.newPage()
    await otra.goto(`${entorno.url}/docs#operation/reintentarGuia`)
    const operacion = otra.locator('[id="guias/reintentarguia"]')
    await expect.poll(() => operacion.textContent()).toContain(fillRelativeDays('"fecha": "0001-01-04"', entorno))
    expect(await otra.textContent('body')).not.toContain('0001-01-04')
    await contexto.close()
  })

  it('says that it is in Spanish', async () => {
    expect(await pagina.getAttribute('html', 'lang')).toBe('es')
    expect(await pagina.title()).toBe(contrato.info.title)
    for (const lugar of ['/', '/guias/crearlote', '/eventos/listareventos', '/webhooks/crearwebhook', '/objetos/guia'])
      expect(await ajenas(pagina, lugar), lugar).toEqual([])
  })

  it('says all of it in Spanish, and shows no marks', FULL_RUN_ONLY, async () => {
    const lugares = indice.filter(({ clase }) => clase === 'Operación' || clase === 'Objeto').map(({ lugar }) => lugar)
    expect(lugares.length).toBeGreaterThan(operaciones.length + 50)
    for (const [i, lugar] of lugares.entries()) {
      // Redoc keeps what it has drawn, and each further place takes longer: 0.7 s at the end instead of 0.2.
      if (i % 15 === 0) await pagina.goto('about:blank')
      expect(await ajenas(pagina, lugar), lugar).toEqual([])
    }
  })

  it('draws the states, and says in words what it draws', FULL_RUN_ONLY, async () => {
    await pagina.goto(`${entorno.url}/docs#section/estados`)
    const dibujo = pagina.locator('img.maquina').first()
    await dibujo.waitFor()
    const alt = await dibujo.getAttribute('alt')
    const { transiciones } = contrato.components.schemas.Estado['x-transiciones']
    for (const [de, hacia] of Object.entries(transiciones))
      if (hacia.length > 0) expect(alt).toContain(`de ${de} a ${hacia.join(', ')}`)
    const caja = await dibujo.boundingBox()
    expect(caja?.height).toBeGreaterThan(300)
  })

  it('has links and chapters that lead somewhere', FULL_RUN_ONLY, async () => {
    await pagina.goto(`${entorno.url}/docs`)
    const guide = globSync('openapi/comercios/guia/*.md', { cwd: ROOT })
      .map((path) => readFileSync(new URL(path, ROOT), 'utf8'))
      .join('\n\n')
    const capitulos = guide.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^##? (.+)$/gm)
    const titulos = (await pagina.getByRole('heading').allInnerTexts()).join('\n')
    for (const [, titulo] of capitulos) expect(titulos).toContain(titulo)
    const anclas = new Set([...guide.matchAll(/\]\(#([^)]+)\)/g)].map(([, ancla]) => ancla!))
    expect(anclas.size).toBeGreaterThan(3)
    for (const ancla of anclas) {
      await pagina.goto(`${entorno.url}/docs#${ancla}`)
      await pagina.locator(`[id="${ancla.slice(1)}"]`).waitFor({ state: 'attached' })
      await expect
        .poll(async () => (await pagina.locator(`[id="${ancla.slice(1)}"]`).boundingBox())?.y, { message: ancla })
        .toBeLessThan(900)
    }
    for (const [, ruta] of `${contrato.info.description}${guide}`.matchAll(/\]\((\/[^)]+)\)/g))
      expect((await fetch(entorno.url + ruta)).status, ruta).toBe(200)
  })

  it('leads to an error from its documentacion', async () => {
    const { cuerpo } = await entorno.request('GET', '/api/v1/guias')
    for (const url of [cuerpo.documentacion, `${entorno.url}/docs#error-validacion`]) {
      await pagina.goto(url)
      const fila = pagina.locator('tr', { has: pagina.locator(`[id="${url.split('#')[1]}"]`) })
      await hasta(async () => {
        const { y = Number.NaN } = (await fila.boundingBox()) ?? {}
        return y >= 0 && y < 400
      })
    }
  })

  it('fits a phone', FULL_RUN_ONLY, async () => {
    await pagina.setViewportSize({ width: 390, height: 844 })
    await pagina.goto(`${entorno.url}/docs`, { waitUntil: 'networkidle' })
    await pagina.getByRole('heading', { name: contrato.info.title }).waitFor()
    await captureScreen(pagina, 'docs-phone')
    // Not evaluate(), which the page's policy would report as an eval.
    const medidas = await (await pagina.context().newCDPSession(pagina)).send('Page.getLayoutMetrics')
    expect(medidas.cssContentSize.width).toBeLessThanOrEqual(390)
  })
})
