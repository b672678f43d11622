import { beforeAll, describe, expect, it } from 'vitest'
import { inGroups, newGuideCode } from '../../server/platform/codes/codes.ts'
import { buildLogoSvg, writeLogoFile } from '../brand/logos.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, hasta } from '../factories.ts'
import { checkLargeText, checkPage, evaluateIn } from './inspect.ts'

const NOMBRE = 'Envíos <del> Altiplano & Hijos'
const entorno = useEnvironment({}, () => ({
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
  const { api } = await entorno.nuevoComercio()
  guia = (await api.guias.crear(buildGuia())).guia
  const { guia: sinLugar } = await api.guias.crear(buildGuiaWithoutDestino({ destinatario: 'Marisol Quiñónez' }))
  await hasta(async () => (await api.guias.obtener(sinLugar)).secuencia === 2)
  const buzon = await (await fetch(`${entorno.url}/buzon`)).text()
  token = /u\/([\w-]{22})/.exec(buzon)![1]!
})
const leer = async (ruta: string) => (await fetch(entorno.url + ruta)).text()
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
const deLaPrevia = (pagina: string) =>
  Object.fromEntries([...pagina.matchAll(/<meta property="og:(\w+)" content="([^"]*)">/g)].map(([, a, b]) => [a, b]))

describe('the brand', () => {
  it('stands on every page: logo, colours by day and at night, and the telephone to call', async () => {
    for (const ruta of RUTAS()) {
      const pagina = await leer(ruta)
      expect(pagina).toContain('<meta name="theme-color" media="(prefers-color-scheme: light)" content="#8a1538">')
      expect(pagina).toMatch(/:root\{--marca-dia:#8a1538;--marca-noche:#[0-9a-f]{6}\}/)
      // In the footer, or among what the page says can be done, and not twice.
      expect(pagina.match(/href="tel:\+50223456789"/g)).toHaveLength(1)
      expect(pagina).toContain('>2345 6789<')
      const [, logo] = /<header class="marca"><a href="[^"]*"><img src="([^"]+)"/.exec(pagina)!
      expect(pagina).toContain(`alt="${ESCRITO}" width="200" height="36"`)
      const imagen = await fetch(new URL(logo!, entorno.url + ruta))
      expect([imagen.status, imagen.headers.get('content-type')]).toEqual([200, 'image/png'])
      expect(imagen.headers.get('cache-control')).toContain('immutable')
      expect(pagina).not.toContain(NOMBRE)
    }
  })

  it.skipIf(!hasBrowser)('stands in the documentation, too: name, colour of links and icon', async () => {
    const contexto = await openContext({ viewport: { width: 1_280, height: 800 } })
    const pagina = await contexto.newPage()
    await pagina.goto(`${entorno.url}/docs`)
    await pagina.locator('.barra').getByRole('link', { name: NOMBRE }).waitFor()
    // The logo shows the name, so the name is only read out.
    const estilo = await leer('/docs/marca.css')
    const [, logo] = /\.barra \.marca::before\{[^}]*url\(\.\.\/(marca\/logo[^)]+)\)/.exec(estilo)!
    expect((await fetch(`${entorno.url}/${logo}`)).status).toBe(200)
    expect((await pagina.locator('.barra .marca span').boundingBox())!.width).toBe(1)
    const enlace = pagina.locator('#redoc a[href^="#/"]:not(nav a, [role=navigation] a)').first()
    await enlace.waitFor({ state: 'attached' })
    // In one turn of the page, which chooses its own theme whenever its program arrives.
    const color = (tema: 'light' | 'dark') =>
      evaluateIn(
        pagina,
        `document.documentElement.classList.toggle('dark', ${tema === 'dark'}),
         getComputedStyle(document.documentElement).getPropertyValue('--link-color-primary')`,
      )
    expect(await color('light')).toBe('#8a1538')
    expect(await color('dark')).not.toBe('#8a1538')
    const icono = await fetch(`${entorno.url}/docs/icono.svg`)
    expect([icono.headers.get('content-type'), await icono.text()]).toEqual([
      'image/svg+xml',
      expect.stringContaining('#8a1538'),
    ])
    await contexto.close()
  })

  it('is the courier’s app when it is installed, and its logo is there without coverage', async () => {
    const manifiesto = JSON.parse(await leer('/repartidor/manifiesto.webmanifest'))
    expect(manifiesto).toMatchObject({ name: `${NOMBRE}: reparto`, theme_color: '#8a1538' })
    const icono = await fetch(new URL(manifiesto.icons[0].src, `${entorno.url}/repartidor/`))
    expect(icono.headers.get('content-type')).toBe('image/png')
    expect(await leer('/repartidor/servicio.js')).toMatch(/"first":\[[^\]]*"\.\.\/marca\/logo\.[0-9a-f]{12}\.png"\]/)
  })
})

describe('the preview of a link in a messaging app', () => {
  it('is the same for every parcel, place and state', async () => {
    const deSiempre = deLaPrevia(await leer('/'))
    expect(deSiempre).toMatchObject({ title: 'Siga su envío', site_name: ESCRITO, type: 'website' })
    expect(deSiempre.image).toMatch(new RegExp(`^${entorno.url}/marca/vista-previa\\.[0-9a-f]{12}\\.png$`))
    expect((await fetch(deSiempre.image!)).headers.get('content-type')).toBe('image/png')
    for (const ruta of [`/r/${guia}`, '/r/nada']) expect(deLaPrevia(await leer(ruta))).toEqual(deSiempre)
    const deQuienRecibe = deLaPrevia(await leer(`/u/${token}`))
    expect(deQuienRecibe).toEqual(deLaPrevia(await leer('/u/nada')))
    expect(JSON.stringify(deQuienRecibe)).not.toMatch(/Marisol|Quiñónez|Zapater/)
    expect(deLaPrevia(await leer('/repartidor'))).toEqual({})
  })
})

describe('the first page', () => {
  const conAccept = (Accept: string) => fetch(`${entorno.url}/`, { headers: { Accept } })

  it('is a page for people and their apps, and no operation for a client that asks for JSON', async () => {
    for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*']) {
      const respuesta = await conAccept(accept)
      expect([respuesta.status, respuesta.headers.get('vary')]).toEqual([200, 'Accept, Accept-Encoding'])
      expect(await respuesta.text()).toContain('<h1>¿Dónde está su paquete?</h1>')
    }
    const json = await conAccept('application/json')
    expect([json.status, await json.json()]).toMatchObject([404, { codigo: 'ruta_desconocida' }])
  })

  it('leads everybody to their place, and each place answers', async () => {
    const puertas = [...(await leer('/')).matchAll(/class="opcion" href="(.*?)"/g)].map(([, href]) => href!)
    expect(puertas).toEqual(['verificar', 'comercio', 'docs/consola', 'repartidor', 'entrar'])
    for (const puerta of puertas)
      expect([puerta, (await fetch(`${entorno.url}/${puerta}`)).status]).toEqual([puerta, 200])
  })

  it('leads to the parcel of what was typed, however it was, and says what is wrong with it', async () => {
    const escritas = [guia, inGroups(guia).toLowerCase(), ` ${guia.slice(0, 5)} ${guia.slice(5)} `]
    for (const escrita of escritas) {
      const respuesta = await fetch(`${entorno.url}/r?guia=${encodeURIComponent(escrita)}`)
      expect([respuesta.status, respuesta.url]).toEqual([200, `${entorno.url}/r/${guia}`])
    }
    const mala = await leer(`/r?guia=${encodeURIComponent('7K3M "><script>')}`)
    expect(mala).toContain('Los códigos no llevan «&quot;»')
    expect(mala).toContain('value="7K3M &quot;&gt;&lt;script&gt;"')
    expect(mala).toContain('aria-describedby="error-guia ayuda-guia" aria-invalid="true"')
    expect((await fetch(`${entorno.url}/r?guia=${newGuideCode()}`)).status).toBe(404)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  it.each([
    ['inicio', () => '/'],
    ['mal-escrito', () => '/r?guia=7k3m-9qx'],
    ['rastreo', () => `/r/${guia}`],
  ])('has no fault that can be found (%s)', async (nombre, ruta) => {
    const contexto = await openContext({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      isMobile: true,
    })
    const pagina = await contexto.newPage()
    await pagina.goto(entorno.url + ruta(), { waitUntil: 'networkidle' })
    await checkPage({ pagina, nombre: `marca-${nombre}`, touchTargets: 'button, input, a' })
    await checkLargeText(pagina)
    await contexto.close()
  })
})
