import { beforeAll, describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../archivos/images.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createTestPersona, type TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'
import { evaluateIn } from './inspect.ts'
import { useOffice } from './office.ts'

const environment = useEnvironment({}, () => ({ TIME_ZONE: 'UTC' }))
const { perform } = useOffice(environment)
let comercio: Comercio
let ana: TestPersona
beforeAll(async () => {
  comercio = await environment.createComercio()
  ana = await createTestPersona(environment)
})

const createCourier = async (nombre: string): Promise<Mobile> =>
  createMobile(environment, (await environment.asOperador('POST', '/repartidores', { nombre })).body)
const carriedBy = (courier: Mobile, n: number) =>
  Promise.all(Array.from({ length: n }, () => createGuiaOnRoute(environment, comercio, courier.repartidor)))
const readGuia = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body
const hiddenValue = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)![1]!

describe('a parcel that a courier carries', () => {
  it('is assigned to another in one form, waits for the scan, and then has changed hands', async () => {
    const [eva, luis] = [await createCourier('Eva Tum'), await createCourier('Luis Batz')]
    const [first, second] = (await carriedBy(eva, 2)) as [string, string]
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const page = `/central/reparto/${eva.repartidor}`
    const { texto: text } = await visit(page)
    expect(text).toContain('Para que otro siga con ellos, márquelos y asígneselos.')
    for (const guia of [first, second]) expect(text).toContain(`name="guia" value="${guia}"`)
    const asked = await visit(
      `/central/varias?${new URLSearchParams([
        ['volver', hiddenValue(text, 'volver')],
        ['pagina', hiddenValue(text, 'pagina')],
        ['todas', '1'],
        ['accion', 'asignar'],
      ])}`,
    )
    expect(asked.texto).toContain('Asignar a un repartidor: 2 guías')
    const { texto: answered } = await visit('/central/varias', [
      ...['accion', 'idempotencia', 'volver'].map((name): [string, string] => [name, hiddenValue(asked.texto, name)]),
      ['guia', first],
      ['guia', second],
      ['repartidor', luis.repartidor],
      ['fecha', ''],
    ])
    expect(answered).toContain('Se hizo en 2 guías.')
    expect(answered).toContain(`central/reparto/${eva.repartidor}">Volver a la lista`)
    const waiting = (await visit(page)).texto
    expect(waiting).toContain('Lleva 2 paquetes. 2 esperan el traspaso a otro repartidor.')
    expect(waiting.match(/Espera el traspaso a Luis Batz/g)).toHaveLength(2)
    expect((await visit(`/central/reparto/${luis.repartidor}`)).texto).toContain('Lo lleva Eva Tum')
    expect((await visit(`/central/guias/${first}`)).texto).toContain(
      'Espera el traspaso: lo lleva Eva Tum hasta que Luis Batz lo escanee.',
    )
    await luis.registrar(first, { estado: 'en_ruta', idempotencia: 'recibe' })
    const after = (await visit(`/central/guias/${first}`)).texto
    expect(after).toMatch(/El paquete pasó a otro repartidor.*de Eva Tum a Luis Batz · asignado por Ana Pérez/s)
    expect(after).not.toContain('Espera el traspaso')
    expect((await visit(page)).texto).toContain('Lleva 1 paquete. Uno espera el traspaso a otro repartidor.')
    expect((await visit(`/central/reparto/${luis.repartidor}`)).texto).toContain('Lleva 1 paquete.')
  })

  it('does not wait for a hand-over that is planned for another day', async () => {
    const [eva, luis] = [await createCourier('Eva Tum'), await createCourier('Luis Batz')]
    const [guia] = (await carriedBy(eva, 1)) as [string]
    const fecha = new Date(environment.clock().getTime() + 2 * 86_400_000).toISOString().slice(0, 10)
    await environment.asOperador('POST', '/asignaciones', { guias: [guia], repartidor: luis.repartidor, fecha })
    const { texto: text } = await createScriptlessBrowser(environment, ana.cookie).visit(`/central/guias/${guia}`)
    expect(text).toContain('Asignada a')
    expect(text).not.toContain('Espera el traspaso')
  })

  it('is assigned on the page of one guide, which says what is missing', async () => {
    const [eva, luis] = [await createCourier('Eva Tum'), await createCourier('Luis Batz')]
    const [guia] = (await carriedBy(eva, 1)) as [string]
    const path = `/central/guias/${guia}`
    const { respuesta: refused } = await perform(ana, path, { accion: 'asignar', repartidor: '', fecha: '' })
    expect([refused.status, refused.texto]).toEqual([422, expect.stringContaining('id="error-asignar-repartidor"')])
    const { respuesta } = await perform(ana, path, { accion: 'asignar', repartidor: luis.repartidor, fecha: '' })
    expect([respuesta.status, respuesta.destino]).toEqual([303, expect.stringContaining('hecho=asignar')])
    expect(await readGuia(guia)).toMatchObject({ asignada_a: { nombre: 'Luis Batz', autor: { autor: ana.persona } } })
  })

  it('that ended meanwhile is refused by itself, and the page says why', async () => {
    const [eva, luis] = [await createCourier('Eva Tum'), await createCourier('Luis Batz')]
    const [guia, ended] = (await carriedBy(eva, 2)) as [string, string]
    for (const estado of ['en_devolucion', 'devuelto'])
      await environment.asOperador('POST', `/guias/${ended}/eventos`, { estado })
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const { texto: text } = await visit('/central/varias', [
      ['accion', 'asignar'],
      ['idempotencia', 'dos'],
      ['volver', ''],
      ['guia', guia],
      ['guia', ended],
      ['repartidor', luis.repartidor],
      ['fecha', ''],
    ])
    expect(text).toContain('Se hizo en 1 guía, y en 1 no se pudo.')
    expect(text).toMatch(new RegExp(`id="negadas".*guias/${ended}".*ya no se asigna`, 's'))
  })

  it.skipIf(!hasBrowser)('is chosen on a phone with the actions in view', async () => {
    const eva = await createCourier('Eva Tum')
    await carriedBy(eva, 12)
    const [name = '', value = ''] = ana.cookie.split('=')
    const context = await openContext({ viewport: { width: 360, height: 800 } })
    await context.addCookies([{ name, value, url: environment.url }])
    const page = await context.newPage()
    await page.goto(`${environment.url}/central/reparto/${eva.repartidor}`)
    const bottom = () => evaluateIn<number>(page, `document.querySelector('.barra').getBoundingClientRect().bottom`)
    expect(await bottom()).toBeGreaterThan(800)
    await page.locator('[name=guia]').first().check()
    expect(await bottom()).toBeLessThanOrEqual(800)
    await captureScreen(page, 'central-chosen-on-a-phone')
    expect(await page.getByRole('columnheader', { name: 'Lo lleva' }).count()).toBe(0)
    await context.close()
  })

  it.skipIf(!hasBrowser)('is passed on with the keyboard alone, and the result is told', async () => {
    const [eva, luis] = [await createCourier('Eva Tum'), await createCourier('Luis Batz')]
    const guias = await carriedBy(eva, 12)
    const [name = '', value = ''] = ana.cookie.split('=')
    const context = await openContext({ viewport: { width: 1280, height: 900 } })
    await context.addCookies([{ name, value, url: environment.url }])
    const page = await context.newPage()
    const tabTo = async (name: string) => {
      const focused = page.locator(':focus')
      const wanted = page.getByText(name, { exact: true }).or(page.getByLabel(name, { exact: true }))
      for (let i = 0; i < 60; i++) {
        if ((await wanted.and(focused).count()) + (await wanted.locator(':focus').count()) > 0) return
        await page.keyboard.press('Tab')
      }
      throw new Error(`no Tab reached «${name}»`)
    }
    await page.goto(`${environment.url}/central/reparto/${eva.repartidor}`)
    await tabTo('Todas las de aquí (12)')
    await page.keyboard.press('Space')
    await tabTo('Asignar a un repartidor')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/central/varias**')
    await tabTo('A quién')
    await page.keyboard.type('Luis Batz')
    await tabTo('Asignar 12 guías')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Listo. Se hizo en 12.').waitFor()
    expect(await evaluateIn(page, 'document.activeElement.id')).toBe('avance-titulo')
    for (const guia of guias) expect((await readGuia(guia)).asignada_a.nombre).toBe('Luis Batz')
    expect((await luis.request('GET', '/guias')).body.asignadas.length).toBe(12)
    await context.close()
  })
})
