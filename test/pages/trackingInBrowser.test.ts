import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const environment = shareEnvironment()
const registrar = async (guia: string, body: object) =>
  expect([body, (await environment.asOperador('POST', `/guias/${guia}/eventos`, body)).status]).toEqual([body, 201])

describe.skipIf(!hasBrowser)('the page of a guide, in a browser', () => {
  let context: BrowserContext
  let comercio: Comercio
  const sentRequests: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    comercio = await environment.createComercio('test')
  })
  afterEach(async () => {
    await context?.close()
    expect(complaints.splice(0)).toEqual([])
  })

  async function open(path: string, javaScriptEnabled = true): Promise<Page> {
    sentRequests.length = 0
    context = await openContext({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
      javaScriptEnabled,
    })
    context.on('request', (solicitud) => sentRequests.push(solicitud.url()))
    context.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type()) && !/status of 4\d\d/.test(mensaje.text()))
        complaints.push(mensaje.text().slice(0, 300))
    })
    const page = await context.newPage()
    await page.goto(environment.url + path, { waitUntil: 'networkidle' })
    return page
  }

  /** Also with large letters. */
  async function revisar(pagina: Page, name: string) {
    await checkPage({ pagina, nombre: `rastreo-${name}`, touchTargets: 'button, input, a' })
    await checkLargeText(pagina)
  }

  it('shows a parcel under way', async () => {
    const { api } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(buildGuia())
    for (const body of [
      { estado: 'recolectado' },
      { estado: 'en_bodega' },
      { estado: 'en_ruta' },
      { estado: 'intento_fallido', motivo: 'sin_respuesta' },
      { estado: 'en_ruta' },
    ])
      await registrar(guia, body)
    const page = await open(`/r/${guia.toLowerCase()}`)
    await page.getByRole('heading', { level: 1, name: 'En ruta de entrega' }).waitFor()
    // One request, and nobody else's server.
    expect(sentRequests).toEqual([`${environment.url}/r/${guia.toLowerCase()}`])
    await revisar(page, 'en-ruta')
  })

  it('shows news by itself, says them, keeps the focus, and stops at the end', async () => {
    const { api } = await environment.createComercio('test')
    const { guia } = await api.guias.crear(buildGuia())
    context = await openContext({ viewport: { width: 360, height: 740 } })
    const page = await context.newPage()
    await page.clock.install()
    await page.goto(`${environment.url}/r/${guia}`)
    const peticiones: string[] = []
    page.on('request', (one) => peticiones.push(one.url()))
    const titular = page.getByRole('heading', { level: 1 })
    const liveStatus = page.getByRole('status')
    // The next request is planned when the last one is answered, so time passes until something is seen.
    const pasa = <T>(ver: () => Promise<T>) =>
      expect.poll(async () => {
        await page.clock.runFor(120_000)
        return ver()
      })
    await pasa(async () => peticiones.length).toBeGreaterThanOrEqual(2)
    // Nothing has changed: nothing is said.
    expect([await titular.textContent(), await liveStatus.textContent()]).toEqual(['Envío registrado', ''])
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const updateLink = page.getByRole('link', { name: 'Actualizar' })
    await updateLink.focus()
    await pasa(() => titular.textContent()).toBe('Recolectado')
    expect(await liveStatus.textContent()).toBe('Hay novedades: Recolectado')
    await page.locator('#visto a:focus').waitFor()
    for (const estado of ['en_ruta', 'entregado'] as const) await api.simulador.avanzar(guia, { estado })
    await pasa(() => titular.textContent()).toBe('Entregado')
    await updateLink.waitFor({ state: 'detached' })
    const hechas = peticiones.length
    await page.clock.runFor(600_000)
    expect(peticiones).toHaveLength(hechas)
  })

  it('asks a bounded number of times, and goes on after a failure', async () => {
    const { api } = await environment.createComercio('test')
    const { guia } = await api.guias.crear(buildGuia())
    context = await openContext()
    const page = await context.newPage()
    await page.clock.install()
    await page.goto(`${environment.url}/r/${guia}`)
    let count = 0
    await page.route('**/r/*', (path) => (count++ % 2 ? path.abort() : path.fulfill({ status: 503 })))
    const passTime = async () => {
      await page.clock.runFor(120_000)
      return count
    }
    await expect.poll(passTime, { timeout: 60_000 }).toBe(30)
    for (let i = 0; i < 5; i++) expect(await passTime()).toBe(30)
    await page.getByRole('heading', { level: 1, name: 'Envío registrado' }).waitFor()
    complaints.length = 0
  })

  it('shows a test guide whose place is missing', FULL_RUN_ONLY, async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'María José Ajú' }))
    await waitUntil(async () => (await comercio.api.guias.obtener(guia)).secuencia === 2)
    const page = await open(`/r/${guia}`)
    await page.getByRole('heading', { name: 'Falta saber dónde entregar' }).waitFor()
    await page.getByText('Guía de prueba.').waitFor()
    await revisar(page, 'prueba')
  })

  it('shows what is over, with long names', FULL_RUN_ONLY, async () => {
    const { guia } = await comercio.api.guias.crear(
      buildGuia({ municipio: `San${'antiagotlan'.repeat(6)}`, destinatario: 'Álvaro' }),
    )
    for (const estado of ['recolectado', 'en_bodega', 'entregado'] as const)
      await comercio.api.simulador.avanzar(guia, { estado })
    const page = await open(`/r/${guia}`)
    await page.getByText(/^Se entregó hoy a las/).waitFor()
    await revisar(page, 'entregado')
  })

  it('helps a person who mistyped the code', FULL_RUN_ONLY, async () => {
    await revisar(await open('/r/no-es-nada'), 'desconocida')
    await context.close()
    await revisar(await open('/r?guia=7k3m-9qx2'), 'mal-escrita')
  })

  it('needs no JavaScript, and no pointer', FULL_RUN_ONLY, async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const page = await open('/r/no-es-nada', false)
    await page.getByLabel('Código de la guía').focus()
    await page.keyboard.type(`${guia.slice(0, 6)}-${guia.slice(6)}`.toLowerCase())
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Envío registrado' }).waitFor()
    expect(page.url()).toBe(`${environment.url}/r/${guia}`)
    await page.getByRole('link', { name: 'Seguir otro envío' }).tap()
    await page.getByRole('heading', { name: '¿Dónde está su paquete?' }).waitFor()
  })
})
