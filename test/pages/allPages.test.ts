// Every page of the service, on a phone, in light and dark: no fault that axe can find. On a phone and on a desktop: no
// fault of layout, and the brand at one place.
import { existsSync, readdirSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Estado } from '../../server/generated/contract/types/index.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useQuestions } from '../decisiones/questions.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona } from '../equipo/persona.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { createTelefono } from '../mensajeria/channel.ts'
import { checkWithAxe, evaluateIn } from './inspect.ts'
import { brandLeft, checkLayout, findLayoutFaults } from './layout.ts'

const environment = useEnvironment({}, () => ({ MAILBOX: '1', SUPPORT_PHONE: '+50223145500' }))
const { createAskedGuia: askedGuia, send } = useQuestions(environment)

/** Pages by the folder of `server/pages/` that makes them: a name, and the address below the service. */
const PAGINAS: Record<string, Record<string, () => string | Promise<string>>> = {
  home: {
    'the first page': () => '/',
    'the page for shops': () => '/comercio',
    'an address where nothing is': () => '/no/hay/nada',
  },
  tracking: {
    'a code that can’t be one': () => '/r?guia=no+es',
    'an unknown code': () => '/r/nada',
    registered: () => createGuiaInEstado(),
    'on its way': () => createGuiaInEstado('recolectado', 'en_ruta'),
    'a failed attempt': () => createGuiaInEstado('recolectado', 'en_ruta', 'intento_fallido'),
    lost: () => createGuiaInEstado('recolectado', 'extraviado'),
    returning: () => createGuiaInEstado('recolectado', 'en_ruta', 'intento_fallido', 'en_devolucion'),
    delivered: async () => `/r/${await createGuiaWithPrueba()}`,
  },
  verify: {
    'by a code': () => '/verificar',
    'an unknown code': () => '/verificar/nada',
    'no proof': async () => (await createGuiaInEstado()).replace('/r/', '/verificar/'),
    'a proof': async () => `/verificar/${await createGuiaWithPrueba()}`,
  },
  location: {
    'an unknown link': () => '/u/nada',
    'the question': () => createLinkOfPlace(),
    'a confirmed place': async () => {
      const link = await createLinkOfPlace()
      await send(link, { metodo: 'descripcion', referencia: 'Casa azul, frente a la escuela del barrio' })
      return link
    },
  },
  decide: {
    'an unknown link': () => '/d/nada',
    'the question': async () => (await askedGuia()).enlace,
    'a decision': async () => {
      const { enlace } = await askedGuia()
      await send(enlace, { eleccion: 'otro_dia' })
      return enlace
    },
  },
  signIn: {
    'the address': () => '/entrar',
    'the code': () => '/entrar/codigo',
    'an invitation that is none': () => `/invitacion/${'A'.repeat(43)}`,
  },
  central: { 'without a session': () => '/central' },
  courier: { 'signing in': () => '/repartidor' },
  docs: {
    'the reading view': () => '/docs',
    'the quick start': () => '/docs/inicio-rapido',
    'a chapter with a drawing': () => '/docs/estados',
    'a chapter with tables': () => '/docs/errores',
  },
  console: { 'the console': () => '/docs/consola' },
  mailbox: { 'the mailbox': () => '/buzon' },
  ui: { 'the components': () => '/ui' },
}

/** Left edge of the brand in a window of 1,440 pixels, in pixels. */
const BRAND_LEFT = 136

let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio('test')
})

/** A delivery of an endpoint of the merchant. */
async function entregaDeWebhook(webhook: string): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuia())
  return `avi_${webhook.slice(3)}_${guia}_1`
}

async function createGuiaInEstado(...estados: Estado[]): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuia())
  for (const estado of estados) {
    const motivo = {
      intento_fallido: 'destinatario_ausente',
      en_devolucion: 'destinatario_rechaza',
      extraviado: 'otro',
    }
    const reason = motivo[estado as keyof typeof motivo]
    await comercio.api.simulador.avanzar(guia, { estado, ...(reason ? { motivo: reason } : {}) } as never)
  }
  return `/r/${guia}`
}

async function createGuiaWithPrueba(): Promise<string> {
  const { guia } = await createDeliveredGuia(environment, comercio)
  await waitUntil(async () => (await comercio.api.guias.pruebaEntrega(guia)).pdf)
  return guia
}

async function createLinkOfPlace(): Promise<string> {
  const { guia } = await comercio.api.guias.crear(buildGuiaWithoutDestino({ telefono: `+${createTelefono()}` }))
  await waitUntil(async () => (await comercio.api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  const buzon = await (await fetch(`${environment.url}/buzon`)).text()
  return `/u/${/u\/([\w-]{22})/.exec(buzon)![1]}`
}

it('names every page that the service has', () => {
  const folder = new URL('../../server/pages/', import.meta.url)
  // `/mcp` serves programs.
  const paths = readdirSync(folder).filter((one) => one !== 'mcp' && existsSync(new URL(`${one}/route.ts`, folder)))
  expect(Object.keys(PAGINAS).sort()).toEqual(paths.sort())
})

describe.skipIf(!hasBrowser)('every page, on a phone, in light and dark', () => {
  let page: Page
  // One window for all pages: a new one compiles everything again.
  beforeAll(async () => {
    page = await (await openContext({ viewport: { width: 360, height: 740 }, hasTouch: true })).newPage()
  })
  beforeEach(() => page.context().clearCookies())
  afterAll(() => page?.context().close())

  /** Waits until Redoc, which draws what is near the eye bit by bit, has drawn all that a high window shows. */
  async function settle(name: string): Promise<void> {
    if (name !== 'docs, the reading view') return
    await page.locator('#redoc').getByText('Copiar', { exact: true }).first().waitFor()
    await expect.poll(() => findLayoutFaults(page), { message: name }).toEqual([])
  }

  async function revisar(name: string): Promise<void> {
    await checkWithAxe(page, name)
    expect(await evaluateIn(page, 'document.documentElement.scrollWidth'), name).toBeLessThanOrEqual(360)
    await settle(name)
    await checkLayout(page, name)
    await page.setViewportSize({ width: 1_440, height: 900 })
    await settle(name)
    await checkLayout(page, name)
    expect(await brandLeft(page), name).toBe(BRAND_LEFT)
    await page.setViewportSize({ width: 360, height: 740 })
  }

  async function open(direccion: string): Promise<void> {
    await page.goto(environment.url + direccion)
    await page.getByRole('heading').first().waitFor()
  }

  it.each(
    Object.entries(PAGINAS).flatMap(([folder, unas]) =>
      Object.entries(unas).map(([name, direccion]) => [folder, name, direccion] as const),
    ),
  )('has no fault that axe finds (%s, %s)', async (folder, name, direccion) => {
    await open(await direccion())
    await revisar(`${folder}, ${name}`)
  })

  // Redoc writes headings of an operation that axe reports; a test of the documentation's search checks the rest.
  it.each([360, 1_440])(
    'has no fault of layout in an operation of the documentation, %i pixels wide',
    async (width) => {
      await page.setViewportSize({ width, height: 900 })
      await page.goto('about:blank')
      await page.goto(`${environment.url}/docs#/guias/crearguia`)
      await page.locator('[id="guias/crearguia"] .token').first().waitFor()
      // Redoc cuts names of examples with «…», and its links to types stand in rows of fields.
      await checkLayout(page, 'docs, an operation', [
        'clipped text',
        'text outside its box',
        'a target that is too small',
      ])
      await page.setViewportSize({ width: 360, height: 740 })
    },
  )

  it('has no fault that axe finds (central)', async () => {
    const { cookie, persona } = await createTestPersona(environment)
    const [name = '', value = ''] = cookie.split('=')
    const { operador } = (await environment.asOperador('POST', '/operadores', { nombre: 'Bodega' })).body
    const guia = (await createGuiaInEstado('recolectado', 'en_ruta', 'intento_fallido')).replace('/r/', '')
    const guiaWithPruebas = await createGuiaWithPrueba()
    const byComercio = `/central/comercios/${comercio.comercio}`
    const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/nadie' })
    const entrega = await entregaDeWebhook(webhook)
    const { repartidor } = (await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos Méndez' })).body
    await environment.asOperador('POST', '/asignaciones', { guias: [guia], repartidor })
    await page.context().addCookies([{ name, value, url: environment.url }])
    for (const direccion of [
      '/central',
      '/central/reparto',
      `/central/reparto/${repartidor}`,
      '/central/reparto/asignar?estado=intento_fallido&cuales=todas',
      '/central/guias',
      '/central/guias?q=nadie',
      `/central/guias/${guia}`,
      `/central/guias/${guiaWithPruebas}`,
      '/central/avisos',
      `/central/varias?accion=reintentar&guia=${guia}`,
      '/central/varias',
      '/central/nada',
      '/central/comercios',
      '/central/comercios?texto=%25',
      '/central/comercios/nuevo',
      byComercio,
      `${byComercio}/webhooks`,
      `${byComercio}/webhooks/${webhook}`,
      `${byComercio}/webhooks/${webhook}/${entrega}`,
      `${byComercio}/bitacora`,
      '/central/equipo?espera=invitar',
      `/central/equipo/${persona}`,
      '/central/equipo/sistemas',
      '/central/equipo/servicio',
      `/central/equipo/sistemas/${operador}`,
      '/central/equipo/repartidores',
    ]) {
      await open(direccion)
      for (const cerrada of await page.locator('summary').all()) await cerrada.click()
      await revisar(`central, ${direccion}`)
    }
  })

  it('has no fault that axe finds (repartidor, the first screen)', async () => {
    const { codigo } = (await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos Méndez' })).body
    await open('/repartidor')
    await page.getByLabel('Su código de repartidor').fill(codigo)
    await page.getByRole('button', { name: 'Entrar' }).click()
    await page.getByLabel('Su código de repartidor').waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1 }).waitFor()
    await revisar('repartidor, first screen')
  })
})
