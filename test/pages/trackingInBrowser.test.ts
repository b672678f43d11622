import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openContext } from '../browser.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const entorno = shareEnvironment()
const registrar = async (guia: string, cuerpo: object) =>
  expect([cuerpo, (await entorno.operar('POST', `/guias/${guia}/eventos`, cuerpo)).status]).toEqual([cuerpo, 201])

describe.skipIf(!hasBrowser)('the page of a guide, in a browser', () => {
  let contexto: BrowserContext
  let comercio: Comercio
  const pedidas: string[] = []
  const quejas: string[] = []

  beforeAll(async () => {
    comercio = await entorno.nuevoComercio('test')
  })
  afterEach(async () => {
    await contexto?.close()
    expect(quejas.splice(0)).toEqual([])
  })

  async function abrir(ruta: string, javaScriptEnabled = true): Promise<Page> {
    pedidas.length = 0
    contexto = await openContext({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      isMobile: true,
      hasTouch: true,
      javaScriptEnabled,
    })
    contexto.on('request', (solicitud) => pedidas.push(solicitud.url()))
    contexto.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type()) && !/status of 4\d\d/.test(mensaje.text()))
        quejas.push(mensaje.text().slice(0, 300))
    })
    const pagina = await contexto.newPage()
    await pagina.goto(entorno.url + ruta, { waitUntil: 'networkidle' })
    return pagina
  }

  /** Also with large letters. */
  async function revisar(pagina: Page, nombre: string) {
    await checkPage({ pagina, nombre: `rastreo-${nombre}`, touchTargets: 'button, input, a' })
    await checkLargeText(pagina)
  }

  it('shows a parcel under way', async () => {
    const { api } = await entorno.nuevoComercio('live')
    const { guia } = await api.guias.crear(buildGuia())
    for (const cuerpo of [
      { estado: 'recolectado' },
      { estado: 'en_bodega' },
      { estado: 'en_ruta' },
      { estado: 'intento_fallido', motivo: 'sin_respuesta' },
      { estado: 'en_ruta' },
    ])
      await registrar(guia, cuerpo)
    const pagina = await abrir(`/r/${guia.toLowerCase()}`)
    await pagina.getByRole('heading', { level: 1, name: 'En ruta de entrega' }).waitFor()
    // One request, and nobody else's server.
    expect(pedidas).toEqual([`${entorno.url}/r/${guia.toLowerCase()}`])
    await revisar(pagina, 'en-ruta')
  })

  it('shows news by itself, says them, keeps the focus, and stops at the end', async () => {
    const { api } = await entorno.nuevoComercio('test')
    const { guia } = await api.guias.crear(buildGuia())
    contexto = await openContext({ viewport: { width: 360, height: 740 } })
    const pagina = await contexto.newPage()
    await pagina.clock.install()
    await pagina.goto(`${entorno.url}/r/${guia}`)
    const peticiones: string[] = []
    pagina.on('request', (una) => peticiones.push(una.url()))
    const titular = pagina.getByRole('heading', { level: 1 })
    const novedad = pagina.getByRole('status')
    // The next request is planned when the last one is answered, so time passes until something is seen.
    const pasa = <T>(ver: () => Promise<T>) =>
      expect.poll(async () => {
        await pagina.clock.runFor(120_000)
        return ver()
      })
    await pasa(async () => peticiones.length).toBeGreaterThanOrEqual(2)
    // Nothing has changed: nothing is said.
    expect([await titular.textContent(), await novedad.textContent()]).toEqual(['Envío registrado', ''])
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const actualizar = pagina.getByRole('link', { name: 'Actualizar' })
    await actualizar.focus()
    await pasa(() => titular.textContent()).toBe('Recolectado')
    expect(await novedad.textContent()).toBe('Hay novedades: Recolectado')
    await pagina.locator('#visto a:focus').waitFor()
    for (const estado of ['en_ruta', 'entregado'] as const) await api.simulador.avanzar(guia, { estado })
    await pasa(() => titular.textContent()).toBe('Entregado')
    await actualizar.waitFor({ state: 'detached' })
    const hechas = peticiones.length
    await pagina.clock.runFor(600_000)
    expect(peticiones).toHaveLength(hechas)
  })

  it('asks a bounded number of times, and goes on after a failure', async () => {
    const { api } = await entorno.nuevoComercio('test')
    const { guia } = await api.guias.crear(buildGuia())
    contexto = await openContext()
    const pagina = await contexto.newPage()
    await pagina.clock.install()
    await pagina.goto(`${entorno.url}/r/${guia}`)
    let cuantas = 0
    await pagina.route('**/r/*', (ruta) => (cuantas++ % 2 ? ruta.abort() : ruta.fulfill({ status: 503 })))
    const pasar = async () => {
      await pagina.clock.runFor(120_000)
      return cuantas
    }
    await expect.poll(pasar, { timeout: 60_000 }).toBe(30)
    for (let i = 0; i < 5; i++) expect(await pasar()).toBe(30)
    await pagina.getByRole('heading', { level: 1, name: 'Envío registrado' }).waitFor()
    quejas.length = 0
  })

  it('shows a test guide whose place is missing', FULL_RUN_ONLY, async () => {
    const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'María José Ajú' }))
    await hasta(async () => (await comercio.api.guias.obtener(guia)).secuencia === 2)
    const pagina = await abrir(`/r/${guia}`)
    await pagina.getByRole('heading', { name: 'Falta saber dónde entregar' }).waitFor()
    await pagina.getByText('Guía de prueba.').waitFor()
    await revisar(pagina, 'prueba')
  })

  it('shows what is over, with long names', FULL_RUN_ONLY, async () => {
    const { guia } = await comercio.api.guias.crear(
      buildGuia({ municipio: `San${'antiagotlan'.repeat(6)}`, destinatario: 'Álvaro' }),
    )
    for (const estado of ['recolectado', 'en_bodega', 'entregado'] as const)
      await comercio.api.simulador.avanzar(guia, { estado })
    const pagina = await abrir(`/r/${guia}`)
    await pagina.getByText('Nada más: el paquete ya se entregó.').waitFor()
    await revisar(pagina, 'entregado')
  })

  it('helps a person who mistyped the code', FULL_RUN_ONLY, async () => {
    await revisar(await abrir('/r/no-es-nada'), 'desconocida')
    await contexto.close()
    await revisar(await abrir('/r?guia=7k3m-9qx2'), 'mal-escrita')
  })

  it('needs no JavaScript, and no pointer', FULL_RUN_ONLY, async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const pagina = await abrir('/r/no-es-nada', false)
    await pagina.getByLabel('Código de la guía').focus()
    await pagina.keyboard.type(`${guia.slice(0, 6)}-${guia.slice(6)}`.toLowerCase())
    await pagina.keyboard.press('Enter')
    await pagina.getByRole('heading', { level: 1, name: 'Envío registrado' }).waitFor()
    expect(pagina.url()).toBe(`${entorno.url}/r/${guia}`)
    await pagina.getByRole('link', { name: 'Seguir otro envío' }).tap()
    await pagina.getByRole('heading', { name: '¿Dónde está su paquete?' }).waitFor()
  })
})
