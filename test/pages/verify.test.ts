import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { PruebaDeEntrega } from '@guias/sdk'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { inGroups } from '../../server/platform/codes/guideCode.ts'
import { createDeliveredGuia, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const environment = useEnvironment({}, () => ({ TRUST_PROXY: '1' }))
const ver = (codigo: string, init: RequestInit = {}) =>
  fetch(`${environment.url}/verificar/${codigo}`, { redirect: 'manual', ...init })
const text = (page: string) => page.replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')

const waitForPdf = (guia: string, { api }: Pick<Comercio, 'api'>) =>
  waitUntil(async () => {
    const prueba = await api.guias.pruebaEntrega(guia)
    return prueba.pdf !== null && (prueba as PruebaDeEntrega & { pdf: { url: string; sha256: string } })
  })

describe('the page of a proof', () => {
  it('says what everybody may know of the delivery, and nothing of what the PDF says', async () => {
    const comercio = await environment.createComercio('live')
    const guia = await createGuiaOnRoute(environment, comercio)
    const undeliveredGuia = await ver(guia)
    expect([undeliveredGuia.status, text(await undeliveredGuia.text())]).toEqual([
      200,
      expect.stringMatching(/no se ha entregado.*Su estado: En ruta de entrega\..*No hay nada que verificar/),
    ])
    const fotos = [(await uploadArchivo(environment, guia)).body.archivo]
    await environment.asOperador('POST', `/guias/${guia}/entrega`, {
      recibido_por: { nombre: 'Marisol Quiñónez' },
      fotos,
      lat: 14.7189,
      lng: -90.6442,
    })
    const { pdf, manifiesto } = await waitForPdf(guia, comercio)
    const response = await ver(guia.toLowerCase())
    const page = await response.text()
    expect(response.status).toBe(200)
    expect(text(page)).toMatch(
      /Este envío se entregó el \d+ de [a-z]+ de \d{4}, \d\d:\d\d , hora de Guatemala \(UTC−6\)/,
    )
    expect(page).not.toContain('Guía de prueba')
    const all = JSON.stringify([...response.headers]) + page
    expect(all).not.toMatch(/Marisol|Quiñónez|(?<!\d:)14\.7|90\.6|31481676|arch_|com_|Ceiba/)
    for (const secret of [pdf.sha256, manifiesto!, fotos[0]]) expect(all).not.toContain(secret)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+' 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; img-src 'self' data:; form-action 'self'/,
      ),
      'x-robots-tag': 'noindex',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(gzipSync(page).length).toBeLessThan(8_000)
  })

  it('says so of what was delivered without a proof, and of what is being made', async () => {
    const comercio = await environment.createComercio()
    const guia = await createGuiaOnRoute(environment, comercio)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport('entregado'))
    const page = text(await (await ver(guia)).text())
    expect(page).toMatch(/Guía de prueba.*se entregó el .*No hay nada que verificar/)
    const other = await createDeliveredGuia(environment, comercio)
    await waitForPdf(other.guia, comercio)
    const add = (pdf: string | null) =>
      environment.db.pool.query(
        `update prueba_entrega p set pdf = $2, proximo_en = '2200-01-01' from guia_indice i
         where i.comercio_id = p.comercio_id and i.id = p.guia_id and i.guia = $1`,
        [other.guia, pdf],
      )
    await add(null)
    expect(text(await (await ver(other.guia)).text())).toContain('La prueba se está preparando')
  })

  it('is asked for by its code, as people type it', async () => {
    const { guia } = await (await environment.createComercio()).api.guias.crear(buildGuia())
    const search = (query: string) => fetch(`${environment.url}/verificar${query}`, { redirect: 'manual' })
    for (const query of ['', '?guia=', '/']) {
      const response = await search(query)
      expect([query, response.status]).toEqual([query, 200])
      expect(await response.text()).toMatch(/<form class="buscador" method="get" action="(\.\.\/)?verificar">/)
    }
    const good = await search(`?guia=${inGroups(guia).toLowerCase()}`)
    expect([good.status, good.headers.get('location')]).toEqual([303, `verificar/${guia}`])
    const bad = await search('?guia=7k3m')
    expect([bad.status, await bad.text()]).toEqual([404, expect.stringContaining('4 letras y números: faltan 8.')])
    expect((await search(`?guia=${guia}&guia=${guia}`)).status).toBe(404)
  })

  it('is one helpful page for what names no guide, and only for reading', async () => {
    const body = await (await ver(newGuideCode())).text()
    expect(body).toContain('No encontramos esa guía')
    for (const bad of ['nada', '%ZZ', '<script>', 'x'.repeat(5_000)]) {
      const response = await ver(bad)
      expect([bad.slice(0, 20), response.status, await response.text()]).toEqual([bad.slice(0, 20), 404, body])
    }
    const { guia } = await (await environment.createComercio()).api.guias.crear(buildGuia())
    const bad = await ver(guia, { method: 'POST', body: 'x' })
    expect([bad.status, bad.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await ver(guia, { method: 'HEAD' })).status).toBe(200)
    expect((await ver(`${guia}/nada`)).status).toBe(404)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let context: BrowserContext
  let folder: string
  let guia: string
  const file = (name: string) => join(folder, name)
  const sentRequests: { url: string; body: string | null }[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guias-verificar-'))
    const comercio = await environment.createComercio('live')
    guia = (await createDeliveredGuia(environment, comercio)).guia
    const { guia: other } = await createDeliveredGuia(environment, comercio)
    const pdfOf = async (target: string) => {
      const { pdf } = await waitForPdf(target, comercio)
      return new Uint8Array(await (await fetch(pdf.url)).arrayBuffer())
    }
    const good = await pdfOf(guia)
    const altered = good.slice()
    altered[good.length >> 1]! ^= 1
    await writeFile(file('bueno.pdf'), good)
    await writeFile(file('alterado.pdf'), altered)
    await writeFile(file('ajeno.pdf'), await pdfOf(other))
    await writeFile(file('foto.pdf'), 'no es un PDF')
    await writeFile(file('vacio.pdf'), '')
    await writeFile(file('enorme.pdf'), Buffer.alloc(41 * 1024 * 1024, '%PDF-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  afterEach(async () => {
    await context?.close()
    expect(complaints.splice(0)).toEqual([])
  })

  async function open(
    target = guia,
    { javaScriptEnabled = true, ancho = 360, preparar: initScript = '' } = {},
  ): Promise<Page> {
    sentRequests.length = 0
    context = await openContext({
      viewport: { width: ancho, height: 740 },
      deviceScaleFactor: 2,
      isMobile: ancho < 500,
      hasTouch: ancho < 500,
      javaScriptEnabled,
    })
    if (initScript) await context.addInitScript(initScript)
    context.on('request', (solicitud) => sentRequests.push({ url: solicitud.url(), body: solicitud.postData() }))
    context.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type()) && !/status of (4\d\d|503)|ERR_/.test(mensaje.text()))
        complaints.push(mensaje.text().slice(0, 300))
    })
    context.on('weberror', (error) => complaints.push(error.error().message))
    const page = await context.newPage()
    await page.goto(`${environment.url}/verificar/${target}`, { waitUntil: 'networkidle' })
    return page
  }
  const elegir = (page: Page, name: string) => page.getByLabel('Elegir el PDF').setInputFiles(file(name))
  const title = (page: Page, name: string) => page.getByRole('heading', { level: 2, name }).waitFor()

  /** Also with large letters. */
  async function revisar(pagina: Page, name: string, ancho = 360) {
    await checkPage({ pagina, nombre: `verificar-${name}`, ancho, touchTargets: 'button, input, a' })
    await checkLargeText(pagina)
  }

  it(
    'finds the original genuine, and checks its signature itself; the file stays where it is',
    FULL_RUN_ONLY,
    async () => {
      const page = await open()
      await revisar(page, 'inicio')
      await context.close()
      const repetition = await open()
      await elegir(repetition, 'bueno.pdf')
      await title(repetition, 'Es auténtica')
      await repetition.getByText('Comprobada aquí mismo').waitFor()
      const seen = (await repetition.locator('#resultado').innerText()).replace(/\s+/g, ' ')
      expect(seen).toMatch(/Entregado \d+ de [a-z]+ de \d{4}, \d\d:\d\d Fotos 1 Firma de quien recibió Sí/)
      expect(await repetition.evaluate('document.activeElement.textContent')).toBe('Es auténtica')
      // The page, one question of a few bytes, and the keys: nobody else's server, and no upload.
      expect(sentRequests.map(({ url }) => url)).toEqual([
        `${environment.url}/verificar/${guia}`,
        `${environment.url}/verificar/${guia}/comprobar`,
        `${environment.url}/.well-known/jwks.json`,
      ])
      expect(sentRequests.map(({ body }) => body?.length ?? 0)).toEqual([0, 77, 0])
      await revisar(repetition, 'autentica')
    },
  )

  it('knows an altered byte, another guide’s PDF, and what is no PDF', FULL_RUN_ONLY, async () => {
    const page = await open()
    for (const name of ['alterado.pdf', 'ajeno.pdf']) {
      await elegir(page, name)
      await page.getByText('Es la prueba de otra guía').waitFor()
      await page.getByText('El archivo cambió después de emitirse').waitFor()
      // The next one begins anew.
      await elegir(page, 'bueno.pdf')
      await title(page, 'Es auténtica')
    }
    const before = sentRequests.length
    for (const [name, message] of [
      ['foto.pdf', 'no es un PDF de este servicio'],
      ['vacio.pdf', 'no es un PDF de este servicio'],
      ['enorme.pdf', 'demasiado grande'],
    ] as const) {
      await elegir(page, name)
      await page.getByText(message).waitFor()
    }
    expect(sentRequests.length).toBe(before)
    await elegir(page, 'alterado.pdf')
    await title(page, 'No es la prueba de esta guía')
    await revisar(page, 'alterada')
  })

  it('says that the PDF of a delivery that was undone is no longer valid', async () => {
    const comercio = await environment.createComercio()
    const undoneEntrega = await createDeliveredGuia(environment, comercio)
    const { pdf } = await waitForPdf(undoneEntrega.guia, comercio)
    const buffer = Buffer.from(await (await fetch(pdf.url)).arrayBuffer())
    const body = { razon: 'Era otra puerta', secuencia: 4 }
    expect((await environment.asOperador('POST', `/guias/${undoneEntrega.guia}/rectificar`, body)).status).toBe(200)
    const page = await open(undoneEntrega.guia)
    await title(page, 'Una entrega fue un error')
    const anterior = { name: 'prueba.pdf', mimeType: 'application/pdf', buffer }
    await page.getByLabel('Elegir el PDF').setInputFiles(anterior)
    await title(page, 'Ya no vale')
    await elegir(page, 'bueno.pdf')
    await title(page, 'No es la prueba de esta guía')
    await page.getByLabel('Elegir el PDF').setInputFiles(anterior)
    await title(page, 'Ya no vale')
    await revisar(page, 'deshecha')
  })

  it('takes what is dropped, anywhere on the page', async () => {
    const page = await open(guia, { ancho: 1280 })
    const release = async (selector: string, name: string) => {
      const bytes = JSON.stringify([...readFileSync(file(name))])
      const datos = await page.evaluateHandle(`(() => {
        const traido = new DataTransfer()
        traido.items.add(new File([new Uint8Array(${bytes})], 'prueba.pdf', { type: 'application/pdf' }))
        return traido
      })()`)
      for (const tipo of ['dragenter', 'dragover', 'drop'])
        await page.dispatchEvent(selector, tipo, { dataTransfer: datos })
    }
    await release('.zona', 'bueno.pdf')
    await title(page, 'Es auténtica')
    await release('h1', 'alterado.pdf')
    await title(page, 'No es la prueba de esta guía')
    expect(page.url()).toBe(`${environment.url}/verificar/${guia}`)
    await release('body', 'bueno.pdf')
    await title(page, 'Es auténtica')
    await revisar(page, 'escritorio', 1280)
  })

  it('shows the result of the file that was chosen last, even if an earlier answer comes later', async () => {
    const page = await open()
    const [receive, looseArchivo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(
      '**/comprobar',
      async (path) => {
        receive.resolve()
        await looseArchivo.promise
        await path.continue()
      },
      { times: 1 },
    )
    await elegir(page, 'alterado.pdf')
    await receive.promise
    await elegir(page, 'bueno.pdf')
    await title(page, 'Es auténtica')
    const lateGuia = page.waitForResponse('**/comprobar')
    looseArchivo.resolve()
    await (await lateGuia).finished()
    // Two frames later the page has read the answer.
    await page.evaluate('new Promise((hecho) => requestAnimationFrame(() => requestAnimationFrame(hecho)))')
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toContain('Es auténtica')
  })

  it('is not fooled by a service that only says that it is good', FULL_RUN_ONLY, async () => {
    const page = await open()
    const passTime = async (change: (jws: string) => string) => {
      await page.unroute('**/comprobar')
      await page.route('**/comprobar', async (path) => {
        const response = await path.fetch()
        const json = await response.json()
        await path.fulfill({
          response,
          json: { ...json, manifiesto: json.manifiesto && change(json.manifiesto) },
        })
      })
      await elegir(page, 'bueno.pdf')
    }
    const withBody = (jws: string, change: (body: { guia: string }) => void) => {
      const [head, body, firma] = jws.split('.')
      const contenido = JSON.parse(Buffer.from(body!, 'base64url').toString())
      change(contenido)
      return [head, Buffer.from(JSON.stringify(contenido)).toString('base64url'), firma].join('.')
    }
    await passTime((jws) => withBody(jws, (body) => Object.assign(body, { entregado_en: '2020-01-01T00:00:00.000Z' })))
    await title(page, 'La firma no es válida')
    await passTime((jws) => jws)
    await title(page, 'Es auténtica')
    await passTime((jws) => jws.replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url')))
    await title(page, 'La firma no es válida')
    await revisar(page, 'sin-firma-valida')
  })

  it('tells what failed: no answer, too many questions, a browser that can’t', FULL_RUN_ONLY, async () => {
    const page = await open()
    await context.setOffline(true)
    await elegir(page, 'bueno.pdf')
    await title(page, 'No se pudo comprobar')
    await context.setOffline(false)
    for (const [status, message] of [
      [429, 'Espere 7 s'],
      [503, 'Algo nos falló'],
    ] as const) {
      await page.unroute('**/comprobar')
      await page.route('**/comprobar', (path) => path.fulfill({ status, headers: { 'Retry-After': '7' }, json: {} }))
      await elegir(page, 'bueno.pdf')
      await page.getByText(message).waitFor()
    }
    await revisar(page, 'sin-respuesta')
    await context.close()
    const old = await open(guia, {
      preparar:
        'if (window.SubtleCrypto) SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("x", "NotSupportedError"))',
    })
    await elegir(old, 'bueno.pdf')
    await title(old, 'Es auténtica')
    await old.getByText('no sabe comprobar además la firma digital').waitFor()
    await context.close()
    const insecurePage = await open(guia, {
      preparar: 'Object.defineProperty(Crypto.prototype, "subtle", { value: undefined })',
    })
    await elegir(insecurePage, 'bueno.pdf')
    await title(insecurePage, 'Este navegador no puede comprobarlo')
  })

  it('needs no pointer; without JavaScript it says what to do', FULL_RUN_ONLY, async () => {
    const page = await open(guia, { ancho: 1280 })
    // The brand comes first.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.id')).toBe('archivo')
    const fileChooser = page.waitForEvent('filechooser')
    // By this answer the browser knows that somebody waits for the chooser: it was told so before.
    await page.evaluate('0')
    await page.keyboard.press('Space')
    const selector = await fileChooser
    await selector.setFiles(file('bueno.pdf'))
    await title(page, 'Es auténtica')
    await context.close()
    const caseWithout = await open(guia, { javaScriptEnabled: false })
    await title(caseWithout, 'Hace falta JavaScript')
    expect(await caseWithout.getByLabel('Elegir el PDF').isVisible()).toBe(false)
    await captureScreen(caseWithout, 'verificar-sin-js')
    await context.close()
    await revisar(await open('nada'), 'desconocida')
  })
})
