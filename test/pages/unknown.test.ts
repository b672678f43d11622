// Addresses of the service where nothing is.
import type { BrowserContext } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const entorno = useEnvironment({}, () => ({ SUPPORT_PHONE: '+50223145500' }))

/** Header `Accept` of Chromium when somebody opens an address. */
const NAVEGADOR = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const pedir = (ruta: string, Accept: string | undefined = NAVEGADOR, init: RequestInit = {}) =>
  fetch(entorno.url + ruta, { redirect: 'manual', ...init, headers: Accept ? { Accept } : {} })
const codigoDe = async (respuesta: Response) => ((await respuesta.json()) as { codigo: string }).codigo
const DE_CADA_VEZ = ['date', 'x-request-id', 'connection', 'keep-alive']
/** Header `Vary` of the page. */
const VARIAN = 'Accept, Accept-Encoding'
const RAROS = ['/nada', '/no/hay/nada', '/docs/x/y', '/R/7K3M9QX2A1B4', '/index.html', '/nada?x=1', '/n%C3%A1']

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
    const respuesta = await pedir('/nada')
    const pagina = await respuesta.text()
    expect([respuesta.status, Object.fromEntries(respuesta.headers)]).toMatchObject([
      404,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-language': 'es',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-robots-tag': 'noindex',
        vary: VARIAN,
        'permissions-policy': 'camera=(), geolocation=(), microphone=()',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[\w+/=]+' 'sha256-[\w+/=]+'; img-src .*; form-action 'self' http:\S+; base-uri 'none'; frame-ancestors 'none'$/,
        ),
      },
    ])
    expect(pagina).toContain('<h1>Aquí no hay nada</h1>')
    expect(pagina).toContain(`action="${entorno.url}/r"`)
    expect(pagina).toContain(`class="opcion" href="${entorno.url}/"`)
    expect(pagina.match(/href="tel:\+50223145500"/g)).toHaveLength(1)
  })

  it('is one and the same page for every address, which says nothing of it', async () => {
    const cuerpo = await (await pedir('/nada')).text()
    for (const ruta of [...RAROS, `/${'a/'.repeat(3_000)}`, '/%3Cscript%3E']) {
      const respuesta = await pedir(ruta)
      expect([ruta.slice(0, 20), respuesta.status]).toEqual([ruta.slice(0, 20), 404])
      expect(await respuesta.text()).toBe(cuerpo)
    }
  })

  it('is that page too if the address cannot be decoded', async () => {
    const cuerpo = await (await pedir('/nada')).text()
    for (const ruta of [...ILEGIBLES, '/%', '/rastreo/%', '/r%', '/marca/%2']) {
      const respuesta = await pedir(ruta)
      expect([ruta, respuesta.status, respuesta.headers.get('vary')]).toEqual([ruta, 404, VARIAN])
      expect(await respuesta.text()).toBe(cuerpo)
    }
  })

  it('is JSON for a program if the address cannot be decoded', async () => {
    for (const ruta of ILEGIBLES) {
      const respuesta = await pedir(ruta, 'application/json')
      expect([ruta, respuesta.status, respuesta.headers.get('vary')]).toEqual([ruta, 400, 'Accept'])
      expect(await codigoDe(respuesta)).toBe('parametro_invalido')
    }
    for (const ruta of ['/api/v1/guias/%ff', '/api/v1/guias/%', '/repartidor/v1/%ff'])
      expect([ruta, (await pedir(ruta, '*/*')).headers.get('content-type')]).toEqual([ruta, 'application/json'])
    expect((await pedir('/%ff', NAVEGADOR, { method: 'POST' })).status).toBe(400)
  })

  it('answers HEAD with the same headers and no body', async () => {
    const sinDia = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([nombre]) => !DE_CADA_VEZ.includes(nombre)))
    const cabeza = await pedir('/nada', NAVEGADOR, { method: 'HEAD' })
    expect([cabeza.status, await cabeza.text()]).toEqual([404, ''])
    expect(sinDia(cabeza)).toEqual(sinDia(await pedir('/nada')))
  })

  it.each([
    '*/*',
    'application/json',
    'application/problem+json',
    'image/avif,image/webp,*/*;q=0.8',
    'application/json, text/html;q=0.5',
  ])('stays JSON for a program that accepts %s', async (accept) => {
    for (const ruta of RAROS) {
      const respuesta = await pedir(ruta, accept)
      expect([ruta, respuesta.status, respuesta.headers.get('vary')]).toEqual([ruta, 404, 'Accept'])
      expect(respuesta.headers.get('content-type')).toMatch(/^application\/(problem\+)?json/)
      expect(await respuesta.text()).toContain('ruta_desconocida')
    }
  })

  it('is that page too below the paths of an API', async () => {
    const cuerpo = await (await pedir('/nada')).text()
    for (const raiz of ['/api', '/operaciones', '/repartidor'])
      for (const ruta of [`${raiz}/nada`, `${raiz}/v1/nada`, `${raiz}/v2/guias`]) {
        const respuesta = await pedir(ruta)
        expect([ruta, respuesta.status, await respuesta.text()]).toEqual([ruta, 404, cuerpo])
        const paraPrograma = await pedir(ruta, '*/*')
        expect([ruta, paraPrograma.status, await codigoDe(paraPrograma)]).toEqual([ruta, 404, 'ruta_desconocida'])
      }
  })

  it('stays JSON for what changes something', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const respuesta = await pedir('/nada', NAVEGADOR, { method })
      expect([method, respuesta.status, await codigoDe(respuesta)]).toEqual([method, 404, 'ruta_desconocida'])
    }
  })

  it('leaves the answers of pages and operations as they are', async () => {
    const mala = await pedir('/docs', NAVEGADOR, { method: 'POST' })
    expect([mala.status, mala.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const { status, headers } = await pedir('/api/v1/cuenta')
    expect([status, headers.get('content-type')]).toEqual([401, 'application/json'])
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let contexto: BrowserContext
  afterEach(() => contexto.close())

  it('has no fault, and leads to the parcel and home', async () => {
    contexto = await openContext({ viewport: { width: 360, height: 740 }, javaScriptEnabled: false })
    const pagina = await contexto.newPage()
    const { guia } = await (await entorno.nuevoComercio()).api.guias.crear(buildGuia())
    await pagina.goto(`${entorno.url}/no/hay/nada`)
    await pagina.getByLabel('Busque con el código de la guía').fill(guia)
    await pagina.keyboard.press('Enter')
    await pagina.waitForURL(`${entorno.url}/r/${guia}`)
    await pagina.goBack()
    await pagina.getByRole('link', { name: 'Ir al inicio' }).click()
    await pagina.getByRole('heading', { name: '¿Dónde está su paquete?' }).waitFor()
    await contexto.close()

    contexto = await openContext({ viewport: { width: 360, height: 740 } })
    const otra = await contexto.newPage()
    await otra.goto(`${entorno.url}/no/hay/nada`)
    await checkPage({ pagina: otra, nombre: 'desconocida', touchTargets: 'main a, main button, main input' })
    await checkLargeText(otra)
  })
})
