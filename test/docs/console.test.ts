/** The console: operations are tried from a page, with a test key, on a phone and with the keyboard. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  buildPath,
  type ConsoleOperacion,
  faultOfLlave,
  headersOf,
  idsIn,
  toCurl,
} from '../../server/pages/console/browser/operation.ts'
import { ROOT } from '../../server/platform/root.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { checkLargeText, checkPage, evaluateIn } from '../pages/inspect.ts'
import { fillRelativeDays } from './days.ts'

const environment = shareEnvironment()
const operaciones = JSON.parse(
  readFileSync(new URL('server/generated/contract/documentation/operaciones.json', ROOT), 'utf8'),
) as ConsoleOperacion[]
const ofId = (target: string) => operaciones.find(({ id }) => id === target)!

describe('the console', () => {
  it.each([
    ['', undefined],
    ['guia_test_ABC', undefined],
    ['guia_live_ABC', /llave real/],
    ['guia_oper_ABC', /de quien opera/],
    ['abc', /guia_test_/],
  ])('takes the key «%s» or says why not', (llave, objection) => {
    if (objection) expect(faultOfLlave(llave)).toMatch(objection)
    else expect(faultOfLlave(llave)).toBeUndefined()
  })

  it('makes the address of the form’s values', () => {
    const values = new Map([
      ['guia', '7K3M/../..'],
      ['limite', '5'],
      ['cursor', ''],
    ])
    expect(buildPath(ofId('listarEventosDeGuia'), values)).toBe('/api/v1/guias/7K3M%2F..%2F../eventos?limite=5')
  })

  it('asks for the key of what takes one, and for no other header', () => {
    const values = new Map([['Idempotency-Key', 'una']])
    expect(headersOf(ofId('crearGuia'), values)).toEqual({ 'Idempotency-Key': 'una' })
    expect(headersOf(ofId('crearGuia'), new Map([['Idempotency-Key', '']]))).toEqual({})
    expect(headersOf(ofId('obtenerGuia'), values)).toEqual({})
    expect(ofId('obtenerGuia').parameters.map(({ en }) => en)).not.toContain('cabecera')
  })

  it('says the same to a terminal, without the key', () => {
    const headers = { 'Idempotency-Key': 'a' }
    const line = toCurl(ofId('crearGuia'), 'http://x/api/v1/guias', headers, `{"nombre":"L'Étoile"}`)
    expect(line).toContain(`-H 'Idempotency-Key: a'`)
    expect(line).toContain(`-d '{"nombre":"L'\\''Étoile"}'`)
    expect(line).toContain('$GUIAS_LLAVE')
  })

  it('finds what an answer names', () => {
    const response = { datos: [{ guia: 'A', webhook: null }, { guia: 'B' }], aviso: 'avi_1', other: 'x' }
    expect([...idsIn(response)]).toEqual([
      ['guia', 'A'],
      ['aviso', 'avi_1'],
    ])
    expect(idsIn(undefined).size).toBe(0)
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let pagina: Page
  let comercio: Comercio
  const sentRequests: { url: string; method: string; llave: string | undefined }[] = []
  const problemas: string[] = []
  beforeAll(async () => {
    comercio = await environment.createComercio()
    const context = await openContext({
      viewport: { width: 360, height: 740 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    context.on('request', (one) =>
      sentRequests.push({ url: one.url(), method: one.method(), llave: one.headers().authorization }),
    )
    context.on('weberror', (error) => problemas.push(error.error().message))
    await context.exposeFunction('violada', (kind: string) => problemas.push(kind))
    await context.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
      window.violada(e.violatedDirective + ' ' + e.blockedURI))`)
    pagina = await context.newPage()
    await pagina.goto(`${environment.url}/docs/consola#crearGuia`)
    await pagina.getByLabel('Operación').waitFor()
  })
  afterEach(() => {
    expect(problemas).toEqual([])
    expect(
      sentRequests.filter(({ url }) => !url.startsWith(`${environment.url}/`) && !url.startsWith('data:')),
    ).toEqual([])
  })
  afterAll(() => pagina?.context().close())

  const llave = () => pagina.getByLabel('Llave de prueba')
  const estado = (text: RegExp) => pagina.locator('#estado').getByText(text).waitFor()
  const header = (name: string) => pagina.locator(`#cabeceras dt:text-is("${name}") + dd`).innerText()
  const received = async () => JSON.parse((await pagina.locator('#recibido').textContent()) ?? '')
  const visit = async (id: string) => {
    await pagina.getByLabel('Operación').selectOption(id)
    await expect.poll(() => pagina.url()).toMatch(new RegExp(`#${id}$`))
  }
  const requestsToApi = () => sentRequests.filter(({ url }) => url.startsWith(`${environment.url}/api/`))

  it('begins with the operation of its address, filled with the contract’s example', async () => {
    expect(await pagina.getByLabel('Operación').inputValue()).toBe('crearGuia')
    expect(await pagina.getByLabel('Cuerpo (JSON)').inputValue()).toBe(ofId('crearGuia').examples[0]!.body)
    expect(await pagina.locator('#direccion').innerText()).toBe(`POST ${environment.url}/api/v1/guias`)
  })

  it('fills days near today into the fields and the body', async () => {
    await visit('reintentarGuia')
    const body = await pagina.getByLabel('Cuerpo (JSON)').inputValue()
    expect(body).toBe(fillRelativeDays(ofId('reintentarGuia').examples[0]!.body, environment))
    expect(JSON.parse(body).fecha > environment.clock().toISOString()).toBe(true)
    await visit('crearGuia')
  })

  it('refuses a live key, says why and sends nothing', async () => {
    await llave().fill('guia_live_ABC')
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await pagina.getByRole('alert').getByText('Esa es una llave real').waitFor()
    expect(await llave().getAttribute('aria-invalid')).toBe('true')
    expect(requestsToApi()).toEqual([])
  })

  it('shows a 401 as it comes', async () => {
    await llave().fill('guia_test_que_no_es')
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await estado(/^401 · Falta una llave válida · \d+ ms$/)
    expect((await received()).codigo).toBe('no_autenticado')
    expect(await header('WWW-Authenticate')).toMatch(/^Bearer/)
    await checkPage({
      pagina,
      nombre: 'consola-401',
      touchTargets: 'button, select, input:not([type=checkbox]), .casilla label, a',
    })
  })

  it('sends with the keyboard alone, and shows status, headers and body', async () => {
    await llave().fill(comercio.llave)
    await pagina.getByLabel('Cuerpo (JSON)').focus()
    await pagina.keyboard.press('Control+Enter')
    await estado(/^201 · Creado · \d+ ms$/)
    const { guia } = await received()
    expect(await header('Location')).toBe(`/api/v1/guias/${guia}`)
    expect(await header('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(requestsToApi().at(-1)).toEqual({
      url: `${environment.url}/api/v1/guias`,
      method: 'POST',
      llave: `Bearer ${comercio.llave}`,
    })
    await checkPage({
      pagina,
      nombre: 'consola-201',
      touchTargets: 'button, select, input:not([type=checkbox]), .casilla label, a',
    })
  })

  it('takes what was made last into the next operation', async () => {
    const { guia } = await received()
    await visit('obtenerGuia')
    expect(await pagina.locator('#parametro-guia').inputValue()).toBe(guia)
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await estado(/^200/)
    expect((await received()).guia).toBe(guia)
    expect(await header('ETag')).not.toBe('')
    await pagina.locator('#parametro-guia').fill('')
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await expect.poll(() => pagina.locator('#parametro-guia:invalid:focus').count()).toBe(1)
  })

  it('takes it into the body of an operation on many guides, too', async () => {
    const guia = await pagina.locator('#recibido').textContent()
    await visit('crearEtiquetas')
    const { guias } = JSON.parse(await pagina.getByLabel('Cuerpo (JSON)').inputValue())
    expect(guias).toHaveLength(1)
    expect(guia).toContain(guias[0])
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await estado(/^200/)
  })

  it('uses a right key that was pasted over a wrong one, at the next click', async () => {
    // In a window that holds the whole form, nothing scrolls, and what follows a fault moves when the fault goes.
    for (const size of [
      { width: 360, height: 1_600 },
      { width: 1_440, height: 1_600 },
    ]) {
      await pagina.setViewportSize(size)
      await visit('crearGuia')
      await llave().fill('guia_live_ABC')
      await pagina.getByRole('button', { name: 'Enviar' }).click()
      await pagina.getByRole('alert').getByText('Esa es una llave real').waitFor()
      await llave().fill(comercio.llave)
      const before = requestsToApi().length
      await pagina.getByRole('button', { name: 'Enviar' }).click()
      await expect.poll(() => requestsToApi().length).toBe(before + 1)
      await estado(/^20[01]/)
    }
  })

  it('shows the request and its answer side by side on a wide window', async () => {
    const height = 900
    await pagina.setViewportSize({ width: 1_440, height })
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await estado(/^20[01]/)
    for (const part of ['#cuerpo', '#estado', '#recibido']) {
      const box = (await pagina.locator(part).boundingBox())!
      expect(box.y + Math.min(box.height, 200), part).toBeLessThan(height)
      expect(box.y, part).toBeGreaterThanOrEqual(0)
    }
    await pagina.setViewportSize({ width: 360, height: 740 })
  })

  it('shows a 422 as it comes', async () => {
    await visit('crearGuia')
    await pagina.getByLabel('Cuerpo (JSON)').fill('{ "telefono": "3148" }')
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await estado(/^422 · Hay datos que corregir/)
    expect((await received()).errores.map(({ campo: field }: { campo: string }) => field)).toContain('/departamento')
    await captureScreen(pagina, 'consola-422')
    await pagina.getByLabel('Cuerpo (JSON)').fill('{')
    await pagina.getByRole('button', { name: 'Enviar' }).click()
    await estado(/^400/)
  })

  it('copies the request for a terminal', async () => {
    await visit('listarGuias')
    await pagina.getByRole('button', { name: 'Copiar como curl' }).click()
    await pagina.getByRole('status').getByText('Copiado.').waitFor()
    expect(await evaluateIn(pagina, 'navigator.clipboard.readText()')).toBe(
      `curl '${environment.url}/api/v1/guias' \\\n  -H "Authorization: Bearer $GUIAS_LLAVE"`,
    )
  })

  it('remembers the key only if it is told to, and only in this tab', async () => {
    const saved = () => evaluateIn<string>(pagina, 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
    expect(await saved()).not.toContain('guia_test')
    await pagina.reload()
    await pagina.getByLabel('Operación').waitFor()
    expect(await llave().inputValue()).toBe('')
    await pagina.getByLabel('Recordarla en esta pestaña').check()
    await llave().fill(comercio.llave)
    await pagina.reload()
    await pagina.getByLabel('Operación').waitFor()
    expect(await llave().inputValue()).toBe(comercio.llave)
    await pagina.getByLabel('Recordarla en esta pestaña').uncheck()
    expect(await saved()).toBe('[{},{}]')
  })

  it('has every operation, each with an address that leads somewhere', async () => {
    const codigos = new Set<number>()
    for (const { id, method } of operaciones.filter((one) => one.method === 'GET')) {
      await visit(id)
      await pagina.getByRole('button', { name: 'Enviar' }).click()
      await estado(/^\d/)
      codigos.add(Number((await pagina.locator('#estado').innerText()).slice(0, 3)))
      expect(method).toBe('GET')
    }
    expect([...codigos].filter((one) => ![200, 404].includes(one))).toEqual([])
  })

  it('can be read in large letters', async () => {
    await checkLargeText(pagina)
  })

  it('is reached from each operation of the documentation', async () => {
    await pagina.setViewportSize({ width: 1440, height: 900 })
    await pagina.goto(`${environment.url}/docs#/guias/crearlote`)
    await pagina.locator('[id="guias/crearlote"]').getByRole('link', { name: 'Probarla' }).click()
    await pagina.getByLabel('Operación').waitFor()
    expect(await pagina.getByLabel('Operación').inputValue()).toBe('crearLote')
    await pagina.getByRole('link', { name: 'Qué hace y qué contesta' }).click()
    await expect
      .poll(() => evaluateIn(pagina, `document.getElementById('guias/crearlote')?.getBoundingClientRect().y`))
      .toSatisfy((y: number) => y >= -50 && y < 300)
  })
})
