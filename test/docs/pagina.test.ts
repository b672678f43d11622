import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { leerDocumento, leerOperaciones } from '../../server/contrato/contrato.ts'
import { PROBLEMAS } from '../../server/contrato/generado/vocabulario.ts'
import { RAIZ } from '../../server/contrato/raiz.ts'
import { compartirEntorno } from '../entorno.ts'
import { COMPLETO, hasta } from '../fabricas.ts'
import { abrirContexto, hayNavegador } from '../navegador.ts'

const entorno = compartirEntorno()
// The YAML reader of a tool that we have anyway, so that it isn't our own reading of YAML.
const YAML = createRequire(new URL('node_modules/knip/package.json', RAIZ))('yaml') as { parse(texto: string): unknown }

interface Operacion {
  operationId: string
  summary: string
  tags: string[]
  'x-origen': 'especificado' | 'decision'
}
interface Contrato {
  openapi: string
  info: { title: string; description: string }
  components: { schemas: { Estado: { 'x-transiciones': { transiciones: Record<string, string[]> } } } }
  paths: Record<string, Record<string, Operacion>>
}
const bundle = readFileSync(new URL('server/contrato/generado/comercios.json', RAIZ), 'utf8')
const contrato = JSON.parse(bundle) as Contrato
const operaciones = Object.values(contrato.paths).flatMap((ruta) =>
  Object.values(ruta).filter((operacion) => operacion.operationId),
)

describe('the contract', () => {
  it('is served as JSON, as it was bundled, with every merchant operation that is served', async () => {
    const respuesta = await fetch(`${entorno.url}/openapi.json`)
    expect(respuesta.status).toBe(200)
    expect(respuesta.headers.get('content-type')).toMatch(/^application\/json/)
    const texto = await respuesta.text()
    expect(texto).toBe(bundle)
    expect(contrato.openapi).toBe('3.1.0')
    const servidas = leerOperaciones(leerDocumento()).filter(({ ruta }) => /^\/(api\/v1|\.well-known)\//.test(ruta))
    expect(operaciones.map(({ operationId }) => operationId).sort()).toEqual(servidas.map(({ id }) => id).sort())
    expect(texto).not.toContain('/operaciones/v1')
  })

  it('is served as YAML that says the same', async () => {
    const respuesta = await fetch(`${entorno.url}/openapi.yaml`)
    expect(respuesta.status).toBe(200)
    expect(respuesta.headers.get('content-type')).toMatch(/^application\/yaml/)
    expect(YAML.parse(await respuesta.text())).toEqual(contrato)
  })

  it.each(['/openapi.json', '/openapi.yaml', '/coleccion.json', '/docs'])('answers HEAD %s', async (ruta) => {
    const respuesta = await fetch(entorno.url + ruta, { method: 'HEAD' })
    expect([respuesta.status, await respuesta.text()]).toEqual([200, ''])
  })

  it.each([
    ['br', 'gzip, deflate, br, zstd', 750],
    ['gzip', 'gzip, deflate', 900],
    ['identity', 'identity', 3_300],
  ])('is documented on one page, packed (%s for «%s») into less than %i KB', async (codificacion, acepta, limite) => {
    const { statusCode, headers, body } = await request(`${entorno.url}/docs`, {
      headers: { 'accept-encoding': acepta },
    })
    expect([statusCode, headers['content-encoding'] ?? 'identity']).toEqual([200, codificacion])
    expect((await body.arrayBuffer()).byteLength).toBeLessThan(limite * 1024)
  })

  it('is documented under a CSP that allows nothing from elsewhere and no inline script', async () => {
    const csp = (await fetch(`${entorno.url}/docs`)).headers.get('content-security-policy') ?? ''
    const reglas = new Map(csp.split(/; */).map((regla) => [regla.split(' ')[0], regla.split(' ').slice(1)]))
    expect(reglas.get('default-src')).toEqual(["'none'"])
    expect(reglas.get('script-src')?.every((fuente) => /^'(sha256-[\w+/=]{44}|self)'$/.test(fuente))).toBe(true)
    expect(csp).not.toMatch(/https?:|\*|unsafe-eval/)
  })
})

describe('the place of each error', () => {
  const codigos = Object.entries(PROBLEMAS).map(([codigo, uno]) => ({ codigo, ajeno: 'ajeno' in uno }))
  const html = readFileSync(new URL('server/contrato/generado/documentacion.html', RAIZ), 'utf8')

  it.each(codigos)('$codigo', ({ codigo, ajeno }) => {
    expect(html.split(` id="error-${codigo}"`).length - 1).toBe(ajeno ? 0 : 1)
  })
})

describe.skipIf(!hayNavegador)('/docs in a browser', () => {
  let pagina: Page
  const pedidas: string[] = []
  const consola: string[] = []
  const violaciones: string[] = []

  beforeAll(async () => {
    const contexto = await abrirContexto({ viewport: { width: 1440, height: 900 } })
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

  it('shows every operation in Spanish, and where each comes from', COMPLETO, async () => {
    await pagina.getByRole('heading', { name: contrato.info.title }).waitFor()
    await pagina.screenshot({ path: '/tmp/docs-desktop.png' })
    const origenes = new Map<string, string[]>()
    for (const { operationId, summary } of operaciones) {
      await pagina.goto(`${entorno.url}/docs#operation/${operationId}`)
      await pagina.getByRole('heading', { name: summary }).first().waitFor()
      // Redoc shows x-origen as «origen:».
      const vistos = await hasta(async () => {
        const marcas = [...(await pagina.innerText('body')).matchAll(/^(?:x-)?origen:\s*"?(\w+)"?$/gm)]
        return marcas.length > 0 && marcas
      })
      origenes.set(summary, [...new Set(vistos.map(([, valor]) => valor ?? ''))].sort())
    }
    expect(Object.fromEntries(origenes)).toEqual(
      Object.fromEntries(operaciones.map((una) => [una.summary, expect.arrayContaining([una['x-origen']])])),
    )
  })

  it('shows the samples of an operation', async () => {
    await pagina.goto(`${entorno.url}/docs?muestras#operation/listarMunicipios`)
    await pagina.getByText('--data-urlencode').first().waitFor()
    await pagina.getByText('curl', { exact: true }).first().click()
    await pagina.getByText('Node.js', { exact: true }).first().click()
    await pagina.getByText("import { Guias } from '@guias/sdk'").first().waitFor()
  })

  it('says that it is in Spanish', async () => {
    expect(await pagina.getAttribute('html', 'lang')).toBe('es')
    expect(await pagina.title()).toBe(contrato.info.title)
    await pagina.goto(`${entorno.url}/docs#operation/crearLote`)
    await pagina.getByRole('heading', { name: 'Respuestas' }).first().waitFor()
    // Redoc's own words; what stays in English is the notation of types («Array of strings»).
    const INGLES =
      /\b(Copy|Expand all|Collapse all|Requests?|Responses?|required|Security|Servers|Overview|Show|Search|Loading)\b/
    const texto = (await pagina.innerText('body')).split('\n').filter((linea) => INGLES.test(linea))
    expect(texto.filter((linea) => !bundle.includes(linea.trim()))).toEqual([])
  })

  it('draws the states, and says in words what it draws', COMPLETO, async () => {
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

  it('has links and chapters that lead somewhere', COMPLETO, async () => {
    await pagina.goto(`${entorno.url}/docs`)
    const { description } = contrato.info
    const capitulos = description.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^##? (.+)$/gm)
    const titulos = (await pagina.getByRole('heading').allInnerTexts()).join('\n')
    for (const [, titulo] of capitulos) expect(titulos).toContain(titulo)
    const anclas = new Set([...description.matchAll(/\]\(#([^)]+)\)/g)].map(([, ancla]) => ancla!))
    expect(anclas.size).toBeGreaterThan(3)
    for (const ancla of anclas) {
      await pagina.goto(`${entorno.url}/docs#${ancla}`)
      await pagina.locator(`[id="${ancla.slice(1)}"]`).waitFor({ state: 'attached' })
      await expect
        .poll(async () => (await pagina.locator(`[id="${ancla.slice(1)}"]`).boundingBox())?.y, { message: ancla })
        .toBeLessThan(900)
    }
    for (const [, ruta] of description.matchAll(/\]\((\/[^)]+)\)/g))
      expect((await fetch(entorno.url + ruta)).status, ruta).toBe(200)
  })

  it('leads to an error from its documentacion', async () => {
    const { cuerpo } = await entorno.pedir('GET', '/api/v1/guias')
    for (const url of [cuerpo.documentacion, `${entorno.url}/docs#error-validacion`]) {
      await pagina.goto(url)
      const fila = pagina.locator('tr', { has: pagina.locator(`[id="${url.split('#')[1]}"]`) })
      await hasta(async () => {
        const { y = Number.NaN } = (await fila.boundingBox()) ?? {}
        return y >= 0 && y < 400
      })
    }
  })

  it.each([
    ['cancelar', '/api/v1/guias/{guia}/cancelar'],
    ['ubicación', 'Ubicación'],
    ['ubicacion', 'Ubicación'],
  ])('finds «%s»', COMPLETO, async (escrito, hallado) => {
    await pagina.goto(`${entorno.url}/docs?${encodeURIComponent(escrito)}`)
    await pagina.getByText('Buscar').first().waitFor()
    await pagina.keyboard.press('Control+k')
    await pagina.locator('input:focus').fill(escrito)
    await pagina.locator('[role=dialog],[data-component-name*="Search"]').getByText(hallado).first().waitFor()
    await pagina.keyboard.press('Escape')
  })

  it('fits a phone', COMPLETO, async () => {
    await pagina.setViewportSize({ width: 390, height: 844 })
    await pagina.goto(`${entorno.url}/docs`, { waitUntil: 'networkidle' })
    await pagina.getByRole('heading', { name: contrato.info.title }).waitFor()
    await pagina.screenshot({ path: '/tmp/docs-phone.png' })
    // Not evaluate(), which the page's policy would report as an eval.
    const medidas = await (await pagina.context().newCDPSession(pagina)).send('Page.getLayoutMetrics')
    expect(medidas.cssContentSize.width).toBeLessThanOrEqual(390)
  })
})
