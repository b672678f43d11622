import { beforeAll, describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { inGroups } from '../../server/platform/codes/guideCode.ts'
import { buildLogoSvg, writeLogoFile } from '../brand/logos.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const NOMBRE = 'Envíos <del> Altiplano & Hijos'
const environment = useEnvironment({}, () => ({
  MAILBOX: '1',
  BRAND_NAME: NOMBRE,
  BRAND_LOGO: writeLogoFile('ancho.svg', buildLogoSvg(500, 90)),
  BRAND_COLOR: '#8a1538',
  SUPPORT_PHONE: '+502 2345-6789',
}))
const ESCRITO = 'Envíos &lt;del&gt; Altiplano &amp; Hijos'
let guia: string
let token: string

beforeAll(async () => {
  const { api } = await environment.createComercio()
  guia = (await api.guias.crear(buildGuia())).guia
  const { guia: guiaWithoutPlace } = await api.guias.crear(
    buildGuiaWithoutDestino({ destinatario: 'Marisol Quiñónez' }),
  )
  await waitUntil(async () => (await api.guias.obtener(guiaWithoutPlace)).secuencia === 2)
  const buzon = await (await fetch(`${environment.url}/buzon`)).text()
  token = /u\/([\w-]{22})/.exec(buzon)![1]!
})
const read = async (path: string) => (await fetch(environment.url + path)).text()
const RUTAS = () => [
  '/',
  '/comercio',
  `/r/${guia}`,
  '/r/nada',
  '/repartidor',
  '/docs/consola',
  `/verificar/${guia}`,
  `/u/${token}`,
  '/d/nada',
]
const previewOf = (page: string) =>
  Object.fromEntries([...page.matchAll(/<meta property="og:(\w+)" content="([^"]*)">/g)].map(([, a, b]) => [a, b]))

describe('the brand', () => {
  it('stands on every page: logo, colours by day and at night, and the telephone to call', async () => {
    for (const path of RUTAS()) {
      const page = await read(path)
      expect(page).toContain('<meta name="theme-color" media="(prefers-color-scheme: light)" content="#8a1538">')
      expect(page).toMatch(/:root\{--marca-dia:#8a1538;--marca-noche:#[0-9a-f]{6}\}/)
      // In the footer, or among what the page says can be done, and not twice.
      expect(page.match(/href="tel:\+50223456789"/g)).toHaveLength(1)
      expect(page).toContain('>2345 6789<')
      const [, logo] = /class="marca"[^>]*>(?:<a href="[^"]*">)?<img src="([^"]+)"/.exec(page)!
      expect(page).toContain(`alt="${ESCRITO}" width="200" height="36"`)
      const image = await fetch(new URL(logo!, environment.url + path))
      expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(image.headers.get('cache-control')).toContain('immutable')
      expect(page).not.toContain(NOMBRE)
    }
  })

  it.skipIf(!hasBrowser)('stands in the documentation, too: name, colour and icon', async () => {
    const context = await openContext({ viewport: { width: 1_280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${environment.url}/docs`)
    await page.locator('.barra').getByRole('link', { name: NOMBRE }).waitFor()
    // The logo shows the name, so the name is only read out.
    const estilo = await read('/docs/marca.css')
    expect(estilo).toContain('--marca-dia:#8a1538')
    const [, logo] = /\.barra \.marca::before\{[^}]*url\(\.\.\/(marca\/logo[^)]+)\)/.exec(estilo)!
    expect((await fetch(`${environment.url}/${logo}`)).status).toBe(200)
    expect((await page.locator('.barra .marca span').boundingBox())!.width).toBe(1)
    const icon = await fetch(`${environment.url}/docs/icono.svg`)
    expect([icon.headers.get('content-type'), await icon.text()]).toEqual([
      'image/svg+xml',
      expect.stringContaining('#8a1538'),
    ])
    await context.close()
  })

  it('is the courier’s app when it is installed, and its logo is there without coverage', async () => {
    const manifiesto = JSON.parse(await read('/repartidor/manifiesto.webmanifest'))
    expect(manifiesto).toMatchObject({ name: `${NOMBRE}: reparto`, theme_color: '#8a1538' })
    const icon = await fetch(new URL(manifiesto.icons[0].src, `${environment.url}/repartidor/`))
    expect(icon.headers.get('content-type')).toBe('image/png')
    expect(await read('/repartidor/servicio.js')).toMatch(/"first":\[[^\]]*"\.\.\/marca\/logo\.[0-9a-f]{12}\.png"\]/)
  })
})

describe('the preview of a link in a messaging app', () => {
  it('is the same for every parcel, place and state', async () => {
    const usualPreview = previewOf(await read('/'))
    expect(usualPreview).toMatchObject({ title: 'Siga su envío', site_name: ESCRITO, type: 'website' })
    expect(usualPreview.image).toMatch(new RegExp(`^${environment.url}/marca/vista-previa\\.[0-9a-f]{12}\\.png$`))
    expect((await fetch(usualPreview.image!)).headers.get('content-type')).toBe('image/png')
    for (const path of [`/r/${guia}`, '/r/nada']) expect(previewOf(await read(path))).toEqual(usualPreview)
    const recipientPreview = previewOf(await read(`/u/${token}`))
    expect(recipientPreview).toEqual(previewOf(await read('/u/nada')))
    expect(JSON.stringify(recipientPreview)).not.toMatch(/Marisol|Quiñónez|Zapater/)
    expect(previewOf(await read('/repartidor'))).toEqual({})
  })
})

describe('the first page', () => {
  const requestWithAccept = (Accept: string) => fetch(`${environment.url}/`, { headers: { Accept } })

  it('is a page for people and their apps, and no operation for a client that asks for JSON', async () => {
    for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*']) {
      const response = await requestWithAccept(accept)
      expect([response.status, response.headers.get('vary')]).toEqual([200, 'Accept, Accept-Encoding'])
      expect(await response.text()).toContain('<h1>¿Dónde está su paquete?</h1>')
    }
    const json = await requestWithAccept('application/json')
    expect([json.status, await json.json()]).toMatchObject([404, { codigo: 'ruta_desconocida' }])
  })

  it('leads everybody to their place, and each place answers', async () => {
    const doors = [...(await read('/')).matchAll(/class="opcion" href="(.*?)"/g)].map(([, href]) => href!)
    expect(doors).toEqual(['verificar', 'comercio', 'docs/consola', 'repartidor', 'entrar'])
    for (const door of doors) expect([door, (await fetch(`${environment.url}/${door}`)).status]).toEqual([door, 200])
  })

  it('leads to the parcel of what was typed, however it was, and says what is wrong with it', async () => {
    const spellings = [guia, inGroups(guia).toLowerCase(), ` ${guia.slice(0, 5)} ${guia.slice(5)} `]
    for (const spelling of spellings) {
      const response = await fetch(`${environment.url}/r?guia=${encodeURIComponent(spelling)}`)
      expect([response.status, response.url]).toEqual([200, `${environment.url}/r/${guia}`])
    }
    const bad = await read(`/r?guia=${encodeURIComponent('7K3M "><script>')}`)
    expect(bad).toContain('Los códigos no llevan «&quot;»')
    expect(bad).toContain('value="7K3M &quot;&gt;&lt;script&gt;"')
    expect(bad).toContain('aria-describedby="error-guia ayuda-guia" aria-invalid="true"')
    expect((await fetch(`${environment.url}/r?guia=${newGuideCode()}`)).status).toBe(404)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it.each([
    ['inicio', () => '/'],
    ['mal-escrito', () => '/r?guia=7k3m-9qx'],
    ['rastreo', () => `/r/${guia}`],
  ])('has no fault that can be found (%s)', async (name, path) => {
    const context = await openContext({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      isMobile: true,
    })
    const pagina = await context.newPage()
    await pagina.goto(environment.url + path(), { waitUntil: 'networkidle' })
    await checkPage({ pagina, nombre: `marca-${name}`, touchTargets: 'button, input, a' })
    await checkLargeText(pagina)
    await context.close()
  })
})
