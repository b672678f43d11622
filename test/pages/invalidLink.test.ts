// Signed links that a browser opens too late, or mutilated.
import type { BrowserContext } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { hasBrowser, openContext } from '../browser.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { checkLargeText, checkPage } from './inspect.ts'

const environment = useEnvironment({}, () => ({ SUPPORT_PHONE: '+50223145500' }))

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
const open = (url: string, Accept = BROWSER, init: RequestInit = {}) => fetch(url, { ...init, headers: { Accept } })

/** Links of a label and of a photo, before the clock moves past their end. */
const links: Record<'label' | 'photo', string> = { label: '', photo: '' }
beforeAll(async () => {
  const comercio = await environment.createComercio()
  const { guia } = await createDeliveredGuia(environment, comercio)
  links.photo = (await comercio.api.guias.pruebaEntrega(guia)).fotos[0]!.url
  links.label = (await comercio.api.guias.etiqueta((await comercio.api.guias.crear(buildGuia())).guia)).url
  for (const url of Object.values(links)) expect((await open(url)).headers.get('content-type')).not.toContain('html')
  await environment.advance(16 * 60_000)
})

describe('a signed link that is not valid', () => {
  it('shows a browser the same page with the ways out, for every reason', async () => {
    const response = await open(links.label)
    const page = await response.text()
    expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
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
    expect(page).toContain('<h1>El enlace ya no vale</h1>')
    expect(page).toContain('pida otro a quien se lo envió')
    expect(page).toContain(`href="${environment.url}/docs/errores#error-enlace_invalido"`)
    expect(page.match(/href="tel:\+50223145500"/g)).toHaveLength(1)
    const { label, photo } = links
    for (const url of [
      photo,
      `${label}0`,
      label.split('?')[0]!,
      photo.replace('v=1', 'v=2'),
      `${environment.url}/archivos/x`,
    ]) {
      const other = await open(url)
      expect([url, other.status, await other.text()]).toEqual([url, 403, page])
    }
  })

  it('answers HEAD with the status alone, and programs with the remedy in JSON', async () => {
    for (const url of Object.values(links)) {
      const head = await open(url, BROWSER, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
        403,
        'text/html; charset=utf-8',
        '',
      ])
      for (const accept of ['*/*', 'application/json', 'image/avif,image/webp,*/*;q=0.8']) {
        const response = await open(url, accept)
        expect([response.status, response.headers.get('vary')]).toEqual([403, 'Accept'])
        expect(await response.json()).toMatchObject({
          codigo: 'enlace_invalido',
          mensaje: expect.stringContaining('Pida otra vez la prueba de entrega o la etiqueta'),
        })
      }
    }
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let context: BrowserContext
  afterEach(() => context.close())

  it('has no fault, and leads home', async () => {
    context = await openContext({ viewport: { width: 360, height: 740 } })
    const pagina = await context.newPage()
    await pagina.goto(links.label)
    await checkPage({ pagina, nombre: 'invalidLink', touchTargets: 'main a' })
    await checkLargeText(pagina)
    await pagina.getByRole('link', { name: 'Ir al inicio' }).click()
    await pagina.getByRole('heading', { name: '¿Dónde está su paquete?' }).waitFor()
  })
})
