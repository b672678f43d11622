import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { PruebaDeEntrega } from '@guias/sdk'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { inGroups, newGuideCode } from '../../server/platform/codes/codes.ts'
import { createDeliveredGuia, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const entorno = useEnvironment({}, () => ({ TRUST_PROXY: '1' }))
const ver = (codigo: string, init: RequestInit = {}) =>
  fetch(`${entorno.url}/verificar/${codigo}`, { redirect: 'manual', ...init })
const texto = (pagina: string) =>
  pagina.replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')

const conPdf = (guia: string, { api }: Pick<Comercio, 'api'>) =>
  hasta(async () => {
    const prueba = await api.guias.pruebaEntrega(guia)
    return prueba.pdf !== null && (prueba as PruebaDeEntrega & { pdf: { url: string; sha256: string } })
  })

describe('the page of a proof', () => {
  it('says what everybody may know of the delivery, and nothing of what the PDF says', async () => {
    const comercio = await entorno.nuevoComercio('live')
    const guia = await createGuiaOnRoute(entorno, comercio)
    const sinEntregar = await ver(guia)
    expect([sinEntregar.status, texto(await sinEntregar.text())]).toEqual([
      200,
      expect.stringMatching(/no se ha entregado.*Su estado: En ruta de entrega\..*No hay nada que verificar/),
    ])
    const fotos = [(await uploadArchivo(entorno, guia)).cuerpo.archivo]
    await entorno.operar('POST', `/guias/${guia}/entrega`, {
      recibido_por: { nombre: 'Marisol Quiñónez' },
      fotos,
      lat: 14.7189,
      lng: -90.6442,
    })
    const { pdf, manifiesto } = await conPdf(guia, comercio)
    const respuesta = await ver(guia.toLowerCase())
    const pagina = await respuesta.text()
    expect(respuesta.status).toBe(200)
    expect(texto(pagina)).toMatch(
      /Este envío se entregó el \d+ de [a-z]+ de \d{4}, \d\d:\d\d , hora de Guatemala \(UTC−6\)/,
    )
    expect(pagina).not.toContain('Guía de prueba')
    const todo = JSON.stringify([...respuesta.headers]) + pagina
    expect(todo).not.toMatch(/Marisol|Quiñónez|(?<!\d:)14\.7|90\.6|31481676|arch_|com_|Ceiba/)
    for (const secreto of [pdf.sha256, manifiesto!, fotos[0]]) expect(todo).not.toContain(secreto)
    expect(Object.fromEntries(respuesta.headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[^']+' 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; img-src 'self' data:; form-action 'self'/,
      ),
      'x-robots-tag': 'noindex',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(gzipSync(pagina).length).toBeLessThan(8_000)
  })

  it('says so of what was delivered without a proof, and of what is being made', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await createGuiaOnRoute(entorno, comercio)
    await entorno.operar('POST', `/guias/${guia}/eventos`, buildEstadoReport('entregado'))
    const pagina = texto(await (await ver(guia)).text())
    expect(pagina).toMatch(/Guía de prueba.*se entregó el .*No hay nada que verificar/)
    const otra = await createDeliveredGuia(entorno, comercio)
    await conPdf(otra.guia, comercio)
    const poner = (pdf: string | null) =>
      entorno.db.pool.query(
        `update prueba_entrega p set pdf = $2, proximo_en = '2200-01-01' from guia_indice i
         where i.comercio_id = p.comercio_id and i.id = p.guia_id and i.guia = $1`,
        [otra.guia, pdf],
      )
    await poner(null)
    expect(texto(await (await ver(otra.guia)).text())).toContain('La prueba se está preparando')
  })

  it('is asked for by its code, as people type it', async () => {
    const { guia } = await (await entorno.nuevoComercio()).api.guias.crear(buildGuia())
    const buscar = (consulta: string) => fetch(`${entorno.url}/verificar${consulta}`, { redirect: 'manual' })
    for (const consulta of ['', '?guia=', '/']) {
      const respuesta = await buscar(consulta)
      expect([consulta, respuesta.status]).toEqual([consulta, 200])
      expect(await respuesta.text()).toMatch(/<form class="buscador" method="get" action="(\.\.\/)?verificar">/)
    }
    const buena = await buscar(`?guia=${inGroups(guia).toLowerCase()}`)
    expect([buena.status, buena.headers.get('location')]).toEqual([303, `verificar/${guia}`])
    const mala = await buscar('?guia=7k3m')
    expect([mala.status, await mala.text()]).toEqual([404, expect.stringContaining('4 letras y números: faltan 8.')])
    expect((await buscar(`?guia=${guia}&guia=${guia}`)).status).toBe(404)
  })

  it('is one helpful page for what names no guide, and only for reading', async () => {
    const cuerpo = await (await ver(newGuideCode())).text()
    expect(cuerpo).toContain('No encontramos esa guía')
    for (const mala of ['nada', '%ZZ', '<script>', 'x'.repeat(5_000)]) {
      const respuesta = await ver(mala)
      expect([mala.slice(0, 20), respuesta.status, await respuesta.text()]).toEqual([mala.slice(0, 20), 404, cuerpo])
    }
    const { guia } = await (await entorno.nuevoComercio()).api.guias.crear(buildGuia())
    const mal = await ver(guia, { method: 'POST', body: 'x' })
    expect([mal.status, mal.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await ver(guia, { method: 'HEAD' })).status).toBe(200)
    expect((await ver(`${guia}/nada`)).status).toBe(404)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let contexto: BrowserContext
  let carpeta: string
  let guia: string
  const archivo = (nombre: string) => join(carpeta, nombre)
  const pedidas: { url: string; cuerpo: string | null }[] = []
  const quejas: string[] = []

  beforeAll(async () => {
    carpeta = await mkdtemp(join(tmpdir(), 'guias-verificar-'))
    const comercio = await entorno.nuevoComercio('live')
    guia = (await createDeliveredGuia(entorno, comercio)).guia
    const { guia: otra } = await createDeliveredGuia(entorno, comercio)
    const pdfDe = async (cual: string) => {
      const { pdf } = await conPdf(cual, comercio)
      return new Uint8Array(await (await fetch(pdf.url)).arrayBuffer())
    }
    const bueno = await pdfDe(guia)
    const alterado = bueno.slice()
    alterado[bueno.length >> 1]! ^= 1
    await writeFile(archivo('bueno.pdf'), bueno)
    await writeFile(archivo('alterado.pdf'), alterado)
    await writeFile(archivo('ajeno.pdf'), await pdfDe(otra))
    await writeFile(archivo('foto.pdf'), 'no es un PDF')
    await writeFile(archivo('vacio.pdf'), '')
    await writeFile(archivo('enorme.pdf'), Buffer.alloc(41 * 1024 * 1024, '%PDF-'))
  })
  afterAll(() => rm(carpeta, { recursive: true, force: true }))
  afterEach(async () => {
    await contexto?.close()
    expect(quejas.splice(0)).toEqual([])
  })

  async function abrir(cual = guia, { javaScriptEnabled = true, ancho = 360, preparar = '' } = {}): Promise<Page> {
    pedidas.length = 0
    contexto = await openContext({
      viewport: { width: ancho, height: 740 },
      deviceScaleFactor: 2,
      isMobile: ancho < 500,
      hasTouch: ancho < 500,
      javaScriptEnabled,
    })
    if (preparar) await contexto.addInitScript(preparar)
    contexto.on('request', (solicitud) => pedidas.push({ url: solicitud.url(), cuerpo: solicitud.postData() }))
    contexto.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type()) && !/status of (4\d\d|503)|ERR_/.test(mensaje.text()))
        quejas.push(mensaje.text().slice(0, 300))
    })
    contexto.on('weberror', (error) => quejas.push(error.error().message))
    const pagina = await contexto.newPage()
    await pagina.goto(`${entorno.url}/verificar/${cual}`, { waitUntil: 'networkidle' })
    return pagina
  }
  const elegir = (pagina: Page, nombre: string) => pagina.getByLabel('Elegir el PDF').setInputFiles(archivo(nombre))
  const titulo = (pagina: Page, name: string) => pagina.getByRole('heading', { level: 2, name }).waitFor()

  /** Also with large letters. */
  async function revisar(pagina: Page, nombre: string, ancho = 360) {
    await checkPage({ pagina, nombre: `verificar-${nombre}`, ancho, touchTargets: 'button, input, a' })
    await checkLargeText(pagina)
  }

  it(
    'finds the original genuine, and checks its signature itself; the file stays where it is',
    FULL_RUN_ONLY,
    async () => {
      const pagina = await abrir()
      await revisar(pagina, 'inicio')
      await contexto.close()
      const otraVez = await abrir()
      await elegir(otraVez, 'bueno.pdf')
      await titulo(otraVez, 'Es auténtica')
      await otraVez.getByText('Comprobada aquí mismo').waitFor()
      const visto = (await otraVez.locator('#resultado').innerText()).replace(/\s+/g, ' ')
      expect(visto).toMatch(/Entregada \d+ de [a-z]+ de \d{4}, \d\d:\d\d Fotos 1 Firma de quien recibió Sí/)
      expect(await otraVez.evaluate('document.activeElement.textContent')).toBe('Es auténtica')
      // The page, one question of a few bytes, and the keys: nobody else's server, and no upload.
      expect(pedidas.map(({ url }) => url)).toEqual([
        `${entorno.url}/verificar/${guia}`,
        `${entorno.url}/verificar/${guia}/comprobar`,
        `${entorno.url}/.well-known/jwks.json`,
      ])
      expect(pedidas.map(({ cuerpo }) => cuerpo?.length ?? 0)).toEqual([0, 77, 0])
      await revisar(otraVez, 'autentica')
    },
  )

  it('knows an altered byte, another guide’s PDF, and what is no PDF', FULL_RUN_ONLY, async () => {
    const pagina = await abrir()
    for (const nombre of ['alterado.pdf', 'ajeno.pdf']) {
      await elegir(pagina, nombre)
      await pagina.getByText('Es la prueba de otra guía').waitFor()
      await pagina.getByText('El archivo cambió después de emitirse').waitFor()
      // The next one begins anew.
      await elegir(pagina, 'bueno.pdf')
      await titulo(pagina, 'Es auténtica')
    }
    const antes = pedidas.length
    for (const [nombre, dicho] of [
      ['foto.pdf', 'no es un PDF de este servicio'],
      ['vacio.pdf', 'no es un PDF de este servicio'],
      ['enorme.pdf', 'demasiado grande'],
    ] as const) {
      await elegir(pagina, nombre)
      await pagina.getByText(dicho).waitFor()
    }
    expect(pedidas.length).toBe(antes)
    await elegir(pagina, 'alterado.pdf')
    await titulo(pagina, 'No es la prueba de esta guía')
    await revisar(pagina, 'alterada')
  })

  it('says that the PDF of a delivery that was undone is no longer valid', async () => {
    const comercio = await entorno.nuevoComercio()
    const deshecha = await createDeliveredGuia(entorno, comercio)
    const { pdf } = await conPdf(deshecha.guia, comercio)
    const buffer = Buffer.from(await (await fetch(pdf.url)).arrayBuffer())
    const cuerpo = { razon: 'Era otra puerta', secuencia: 4 }
    expect((await entorno.operar('POST', `/guias/${deshecha.guia}/rectificar`, cuerpo)).status).toBe(200)
    const pagina = await abrir(deshecha.guia)
    await titulo(pagina, 'Una entrega fue un error')
    const anterior = { name: 'prueba.pdf', mimeType: 'application/pdf', buffer }
    await pagina.getByLabel('Elegir el PDF').setInputFiles(anterior)
    await titulo(pagina, 'Ya no vale')
    await elegir(pagina, 'bueno.pdf')
    await titulo(pagina, 'No es la prueba de esta guía')
    await pagina.getByLabel('Elegir el PDF').setInputFiles(anterior)
    await titulo(pagina, 'Ya no vale')
    await revisar(pagina, 'deshecha')
  })

  it('takes what is dropped, anywhere on the page', async () => {
    const pagina = await abrir(guia, { ancho: 1280 })
    const soltar = async (donde: string, nombre: string) => {
      const bytes = JSON.stringify([...readFileSync(archivo(nombre))])
      const datos = await pagina.evaluateHandle(`(() => {
        const traido = new DataTransfer()
        traido.items.add(new File([new Uint8Array(${bytes})], 'prueba.pdf', { type: 'application/pdf' }))
        return traido
      })()`)
      for (const tipo of ['dragenter', 'dragover', 'drop'])
        await pagina.dispatchEvent(donde, tipo, { dataTransfer: datos })
    }
    await soltar('.zona', 'bueno.pdf')
    await titulo(pagina, 'Es auténtica')
    await soltar('h1', 'alterado.pdf')
    await titulo(pagina, 'No es la prueba de esta guía')
    expect(pagina.url()).toBe(`${entorno.url}/verificar/${guia}`)
    await soltar('body', 'bueno.pdf')
    await titulo(pagina, 'Es auténtica')
    await revisar(pagina, 'escritorio', 1280)
  })

  it('shows the result of the file that was chosen last, even if an earlier answer comes later', async () => {
    const pagina = await abrir()
    const [llega, suelta] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await pagina.route(
      '**/comprobar',
      async (ruta) => {
        llega.resolve()
        await suelta.promise
        await ruta.continue()
      },
      { times: 1 },
    )
    await elegir(pagina, 'alterado.pdf')
    await llega.promise
    await elegir(pagina, 'bueno.pdf')
    await titulo(pagina, 'Es auténtica')
    const tardia = pagina.waitForResponse('**/comprobar')
    suelta.resolve()
    await (await tardia).finished()
    // Two frames later the page has read the answer.
    await pagina.evaluate('new Promise((hecho) => requestAnimationFrame(() => requestAnimationFrame(hecho)))')
    expect(await pagina.getByRole('heading', { level: 2 }).allTextContents()).toContain('Es auténtica')
  })

  it('is not fooled by a service that only says that it is good', FULL_RUN_ONLY, async () => {
    const pagina = await abrir()
    const pasar = async (cambiar: (jws: string) => string) => {
      await pagina.unroute('**/comprobar')
      await pagina.route('**/comprobar', async (ruta) => {
        const respuesta = await ruta.fetch()
        const json = await respuesta.json()
        await ruta.fulfill({
          response: respuesta,
          json: { ...json, manifiesto: json.manifiesto && cambiar(json.manifiesto) },
        })
      })
      await elegir(pagina, 'bueno.pdf')
    }
    const conCuerpo = (jws: string, cambiar: (cuerpo: { guia: string }) => void) => {
      const [cabeza, cuerpo, firma] = jws.split('.')
      const contenido = JSON.parse(Buffer.from(cuerpo!, 'base64url').toString())
      cambiar(contenido)
      return [cabeza, Buffer.from(JSON.stringify(contenido)).toString('base64url'), firma].join('.')
    }
    await pasar((jws) =>
      conCuerpo(jws, (cuerpo) => Object.assign(cuerpo, { entregado_en: '2020-01-01T00:00:00.000Z' })),
    )
    await titulo(pagina, 'La firma no es válida')
    await pasar((jws) => jws)
    await titulo(pagina, 'Es auténtica')
    await pasar((jws) => jws.replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url')))
    await titulo(pagina, 'La firma no es válida')
    await revisar(pagina, 'sin-firma-valida')
  })

  it('tells what failed: no answer, too many questions, a browser that can’t', FULL_RUN_ONLY, async () => {
    const pagina = await abrir()
    await contexto.setOffline(true)
    await elegir(pagina, 'bueno.pdf')
    await titulo(pagina, 'No se pudo comprobar')
    await contexto.setOffline(false)
    for (const [status, dicho] of [
      [429, 'Espere 7 s'],
      [503, 'Algo nos falló'],
    ] as const) {
      await pagina.unroute('**/comprobar')
      await pagina.route('**/comprobar', (ruta) => ruta.fulfill({ status, headers: { 'Retry-After': '7' }, json: {} }))
      await elegir(pagina, 'bueno.pdf')
      await pagina.getByText(dicho).waitFor()
    }
    await revisar(pagina, 'sin-respuesta')
    await contexto.close()
    const viejo = await abrir(guia, {
      preparar:
        'if (window.SubtleCrypto) SubtleCrypto.prototype.importKey = () => Promise.reject(new DOMException("x", "NotSupportedError"))',
    })
    await elegir(viejo, 'bueno.pdf')
    await titulo(viejo, 'Es auténtica')
    await viejo.getByText('no sabe comprobar además la firma digital').waitFor()
    await contexto.close()
    const inseguro = await abrir(guia, {
      preparar: 'Object.defineProperty(Crypto.prototype, "subtle", { value: undefined })',
    })
    await elegir(inseguro, 'bueno.pdf')
    await titulo(inseguro, 'Este navegador no puede comprobarlo')
  })

  it('needs no pointer; without JavaScript it says what to do', FULL_RUN_ONLY, async () => {
    const pagina = await abrir(guia, { ancho: 1280 })
    // The brand comes first.
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Tab')
    expect(await pagina.evaluate('document.activeElement.id')).toBe('archivo')
    const elegido = pagina.waitForEvent('filechooser')
    // By this answer the browser knows that somebody waits for the chooser: it was told so before.
    await pagina.evaluate('0')
    await pagina.keyboard.press('Space')
    const selector = await elegido
    await selector.setFiles(archivo('bueno.pdf'))
    await titulo(pagina, 'Es auténtica')
    await contexto.close()
    const sin = await abrir(guia, { javaScriptEnabled: false })
    await titulo(sin, 'Hace falta JavaScript')
    expect(await sin.getByLabel('Elegir el PDF').isVisible()).toBe(false)
    await captureScreen(sin, 'verificar-sin-js')
    await contexto.close()
    await revisar(await abrir('nada'), 'desconocida')
  })
})
