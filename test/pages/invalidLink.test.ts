// Signed links that a browser opens too late, or mutilated.
import type { BrowserContext } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const entorno = useEnvironment({}, () => ({ SUPPORT_PHONE: '+50223145500' }))

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const open = (url: string, Accept = BROWSER, init: RequestInit = {}) => fetch(url, { ...init, headers: { Accept } })

/** Links of a label and of a photo, before the clock moves past their end. */
const links: Record<'label' | 'photo', string> = { label: '', photo: '' }
beforeAll(async () => {
  const comercio = await entorno.nuevoComercio()
  const { guia } = await createDeliveredGuia(entorno, comercio)
  links.photo = (await comercio.api.guias.pruebaEntrega(guia)).fotos[0]!.url
  links.label = (await comercio.api.guias.etiqueta((await comercio.api.guias.crear(buildGuia())).guia)).url
  for (const url of Object.values(links)) expect((await open(url)).headers.get('content-type')).not.toContain('html')
  await entorno.advance(16 * 60_000)
})

describe('a signed link that is not valid', () => {
  it('shows a browser the same page with the ways out, for every reason', async () => {
    const respuesta = await open(links.label)
    const pagina = await respuesta.text()
    expect([respuesta.status, Object.fromEntries(respuesta.headers)]).toMatchObject([
      403,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        vary: 'Accept, Accept-Encoding',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
      },
    ])
    expect(pagina).toContain('<h1>El enlace ya no vale</h1>')
    expect(pagina).toContain('pida otro a quien se lo envió')
    expect(pagina).toContain(`href="${entorno.url}/docs#error-enlace_invalido"`)
    expect(pagina.match(/href="tel:\+50223145500"/g)).toHaveLength(1)
    const { label, photo } = links
    for (const url of [
      photo,
      `${label}0`,
      label.split('?')[0]!,
      photo.replace('v=1', 'v=2'),
      `${entorno.url}/archivos/x`,
    ]) {
      const otra = await open(url)
      expect([url, otra.status, await otra.text()]).toEqual([url, 403, pagina])
    }
  })

  it('answers HEAD with the status alone, and programs with the remedy in JSON', async () => {
    for (const url of Object.values(links)) {
      const cabeza = await open(url, BROWSER, { method: 'HEAD' })
      expect([cabeza.status, cabeza.headers.get('content-type'), await cabeza.text()]).toEqual([
        403,
        'text/html; charset=utf-8',
        '',
      ])
      for (const accept of ['*/*', 'application/json', 'image/avif,image/webp,*/*;q=0.8']) {
        const respuesta = await open(url, accept)
        expect([respuesta.status, respuesta.headers.get('vary')]).toEqual([403, 'Accept'])
        expect(await respuesta.json()).toMatchObject({
          codigo: 'enlace_invalido',
          mensaje: expect.stringContaining('Pida otra vez la prueba de entrega o la etiqueta'),
        })
      }
    }
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let contexto: BrowserContext
  afterEach(() => contexto.close())

  it('has no fault, and leads home', async () => {
    contexto = await openContext({ viewport: { width: 360, height: 740 } })
    const pagina = await contexto.newPage()
    await pagina.goto(links.label)
    await checkPage({ pagina, nombre: 'invalidLink', touchTargets: 'main a' })
    await checkLargeText(pagina)
    await pagina.getByRole('link', { name: 'Ir al inicio' }).click()
    await pagina.getByRole('heading', { name: '¿Dónde está su paquete?' }).waitFor()
  })
})
