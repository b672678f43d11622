// Addresses of the service where nothing is.
import type { BrowserContext } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const environment = useEnvironment({}, () => ({ SUPPORT_PHONE: '+50223145500' }))

/** Header `Accept` of Chromium when somebody opens an address. */
const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const request = (path: string, Accept: string | undefined = BROWSER_ACCEPT, init: RequestInit = {}) =>
  fetch(environment.url + path, { redirect: 'manual', ...init, headers: Accept ? { Accept } : {} })
const codigoOf = async (response: Response) => ((await response.json()) as { codigo: string }).codigo
const PER_RESPONSE_HEADERS = ['date', 'x-request-id', 'connection', 'keep-alive']
/** Header `Vary` of the page. */
const VARY = 'Accept, Accept-Encoding'
const ODD_PATHS = ['/nada', '/no/hay/nada', '/docs/x/y', '/R/7K3M9QX2A1B4', '/index.html', '/nada?x=1', '/n%C3%A1']

/** Addresses whose path or query cannot be decoded. */
const ILEGIBLES = [
  '/%E0%A4%A',
  '/r/%ff',
  '/u/%00',
  '/no/%C3%28/hay',
  '/r?guia=%E0%A4%A',
  '//nada',
  '/archivos/%',
  '/verificar/%/comprobar',
]

describe('an address where nothing is', () => {
  it('answers a browser with a page: the search, the way home and the telephone', async () => {
    const response = await request('/nada')
    const page = await response.text()
    expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
      404,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-language': 'es',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        vary: VARY,
        'permissions-policy': 'camera=(), geolocation=(), microphone=()',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[\w+/=]+' 'sha256-[\w+/=]+'; img-src .*; form-action 'self' http:\S+; base-uri 'none'; frame-ancestors 'none'$/,
        ),
      },
    ])
    expect(page).toContain('<h1>Aquí no hay nada</h1>')
    expect(page).toContain(`action="${environment.url}/r"`)
    expect(page).toContain(`class="opcion" href="${environment.url}/"`)
    expect(page.match(/href="tel:\+50223145500"/g)).toHaveLength(1)
  })

  it('is one and the same page for every address, which says nothing of it', async () => {
    const body = await (await request('/nada')).text()
    for (const path of [...ODD_PATHS, `/${'a/'.repeat(3_000)}`, '/%3Cscript%3E']) {
      const response = await request(path)
      expect([path.slice(0, 20), response.status]).toEqual([path.slice(0, 20), 404])
      expect(await response.text()).toBe(body)
    }
  })

  it('is that page too if the address cannot be decoded', async () => {
    const body = await (await request('/nada')).text()
    for (const path of [...ILEGIBLES, '/%', '/rastreo/%', '/r%', '/marca/%2']) {
      const response = await request(path)
      expect([path, response.status, response.headers.get('vary')]).toEqual([path, 404, VARY])
      expect(await response.text()).toBe(body)
    }
  })

  it('is JSON for a program if the address cannot be decoded', async () => {
    for (const path of ILEGIBLES) {
      const response = await request(path, 'application/json')
      expect([path, response.status, response.headers.get('vary')]).toEqual([path, 400, 'Accept'])
      expect(await codigoOf(response)).toBe('parametro_invalido')
    }
    for (const path of ['/api/v1/guias/%ff', '/api/v1/guias/%', '/repartidor/v1/%ff'])
      expect([path, (await request(path, '*/*')).headers.get('content-type')]).toEqual([path, 'application/json'])
    expect((await request('/%ff', BROWSER_ACCEPT, { method: 'POST' })).status).toBe(400)
  })

  it('answers HEAD with the same headers and no body', async () => {
    const omitDate = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([name]) => !PER_RESPONSE_HEADERS.includes(name)))
    const head = await request('/nada', BROWSER_ACCEPT, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([404, ''])
    expect(omitDate(head)).toEqual(omitDate(await request('/nada')))
  })

  it.each([
    '*/*',
    'application/json',
    'application/problem+json',
    'image/avif,image/webp,*/*;q=0.8',
    'application/json, text/html;q=0.5',
  ])('stays JSON for a program that accepts %s', async (accept) => {
    for (const path of ODD_PATHS) {
      const response = await request(path, accept)
      expect([path, response.status, response.headers.get('vary')]).toEqual([path, 404, 'Accept'])
      expect(response.headers.get('content-type')).toMatch(/^application\/(problem\+)?json/)
      expect(await response.text()).toContain('ruta_desconocida')
    }
  })

  it('is that page too below the paths of an API', async () => {
    const body = await (await request('/nada')).text()
    for (const root of ['/api', '/operaciones', '/repartidor'])
      for (const path of [`${root}/nada`, `${root}/v1/nada`, `${root}/v2/guias`]) {
        const response = await request(path)
        expect([path, response.status, await response.text()]).toEqual([path, 404, body])
        const programResponse = await request(path, '*/*')
        expect([path, programResponse.status, await codigoOf(programResponse)]).toEqual([path, 404, 'ruta_desconocida'])
      }
  })

  it('stays JSON for what changes something', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await request('/nada', BROWSER_ACCEPT, { method })
      expect([method, response.status, await codigoOf(response)]).toEqual([method, 404, 'ruta_desconocida'])
    }
  })

  it('leaves the answers of pages and operations as they are', async () => {
    const bad = await request('/docs', BROWSER_ACCEPT, { method: 'POST' })
    expect([bad.status, bad.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const { status, headers } = await request('/api/v1/cuenta')
    expect([status, headers.get('content-type')]).toEqual([401, 'application/json'])
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let context: BrowserContext
  afterEach(() => context.close())

  it('has no fault, and leads to the parcel and home', async () => {
    context = await openContext({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false })
    const page = await context.newPage()
    const { guia } = await (await environment.createComercio()).api.guias.crear(buildGuia())
    await page.goto(`${environment.url}/no/hay/nada`)
    await page.getByLabel('Busque con el código de la guía').fill(guia)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${environment.url}/r/${guia}`)
    await page.goBack()
    await page.getByRole('link', { name: 'Ir al inicio' }).click()
    await page.getByRole('heading', { name: '¿Dónde está su paquete?' }).waitFor()
    await context.close()

    context = await openContext({ viewport: { width: 360, height: 740 } })
    const other = await context.newPage()
    await other.goto(`${environment.url}/no/hay/nada`)
    await checkPage({ pagina: other, nombre: 'desconocida', touchTargets: 'main a, main button, main input' })
    await checkLargeText(other)
  })
})
