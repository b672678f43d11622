import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import {
  createTestPersona,
  findPendingCorreo,
  SESION,
  signInFully,
  type TestPersona,
  toCookieHeader,
} from '../persona.ts'
import { createScriptlessBrowser } from '../withoutScript.ts'

/** The defaults of the manual. */
const environment = useEnvironment(undefined, () => ({
  OFFICE_IDLE_MINUTES: '30',
  CASHIER_IDLE_MINUTES: '15',
  SHOP_IDLE_HOURS: '168',
}))
const createOfficePersona = () => createTestPersona(environment, { alcances: ['ver', 'operar'] })
const estado = async ({ request }: TestPersona) => (await request('GET', SESION)).status
const end = async ({ sesion }: TestPersona): Promise<Date> =>
  (await environment.db.pool.query('select inactiva_en from sesion_persona where sesion = $1', [sesion])).rows[0]
    .inactiva_en
/** Uses a session, and waits until its use is stored. */
async function exercise(persona: TestPersona) {
  const before = await end(persona)
  await waitUntil(async () => (await estado(persona)) === 200 && (await end(persona)) > before)
}

describe('a session that nobody uses', () => {
  it.each([
    ['of the office', 30 * MINUTE_MS, () => createOfficePersona()],
    ['of a cashier', 15 * MINUTE_MS, () => createTestPersona(environment, { alcances: ['ver', 'caja'] })],
    [
      'of a shop',
      7 * 24 * HOUR_MS,
      async () =>
        createTestPersona(environment, {
          comercio: (await environment.createComercio()).comercio,
          alcances: ['despacho'],
        }),
    ],
  ] as const)('%s ends in time, and does not come back', async (_de, deadline, fresh) => {
    const ana = await fresh()
    const { inactiva_en, creado_en: createdAt } = (await ana.request('GET', SESION)).body
    expect(Date.parse(inactiva_en) - Date.parse(createdAt)).toBeLessThanOrEqual(deadline + MINUTE_MS)
    environment.advance(deadline - MINUTE_MS)
    await exercise(ana)
    environment.advance(deadline - MINUTE_MS)
    await exercise(ana)
    environment.advance(deadline + 1)
    await expect.poll(() => estado(ana)).toBe(401)
    const other = await signInFully(environment, ana)
    expect(other.status).toBe(201)
    const visit = await createScriptlessBrowser(environment, toCookieHeader(other.headers).split('; ')[0]!).visit(
      '/operaciones/v1/sesiones',
    )
    expect(JSON.parse(visit.texto).datos).toHaveLength(1)
  })

  it('ends at its fixed end, however often it is used', async () => {
    const ana = await createOfficePersona()
    await environment.db.pool.query(
      `update sesion_persona set inactiva_en = vence_en + interval '1 day' where sesion = $1`,
      [ana.sesion],
    )
    environment.advance(12 * HOUR_MS)
    await expect.poll(() => estado(ana)).toBe(401)
  })

  it('ends although its page refreshes itself, and not if the person uses it', async () => {
    const ana = await createOfficePersona()
    const refresh = () => ana.request('GET', SESION, undefined, { headers: { 'X-Refresco': '1' } })
    environment.advance(20 * MINUTE_MS)
    expect((await refresh()).status).toBe(200)
    environment.advance(10 * MINUTE_MS)
    await expect.poll(async () => (await refresh()).status).toBe(401)
  })
})

it('the use of a session is written once in two minutes, not with each request', async () => {
  const ana = await createOfficePersona()
  environment.advance(3 * MINUTE_MS)
  await exercise(ana)
  const storedEnd = await end(ana)
  environment.advance(MINUTE_MS)
  for (let i = 0; i < 5; i++) expect(await estado(ana)).toBe(200)
  await environment.waitForQuiet()
  expect(await end(ana)).toEqual(storedEnd)
})

describe('the pages after a session ended unused', () => {
  /** A browser whose session has just ended because nobody used it. */
  async function sola() {
    const ana = await createOfficePersona()
    const browser = createScriptlessBrowser(environment, ana.cookie)
    expect((await browser.visit('/central/guias?estado=en_ruta&limite=25')).status).toBe(200)
    environment.advance(31 * MINUTE_MS)
    return { ana, ...browser }
  }

  it('say why, and lead back to the same page after the code and the second factor', async () => {
    const { ana, visit } = await sola()
    const page = '/central/guias?estado=en_ruta&limite=25'
    await waitUntil(async () => (await visit(page)).status === 303)
    const expelledVisit = await visit(page)
    expect(expelledVisit.a).toBe('/entrar')
    const input = await visit(expelledVisit.destino!)
    expect(input.texto).toContain('pasó un rato sin que nadie la usara')
    const returnPath = /name="volver" value="([^"]+)"/.exec(input.texto)![1]!.replaceAll('&amp;', '&')
    expect(returnPath).toBe(page)
    const redirect = await visit('/entrar', { correo: ana.correo, volver: returnPath })
    expect((await visit(redirect.destino!)).texto).toContain('name="volver"')
    const { codigo } = await findPendingCorreo(environment, 'codigo', ana.correo)
    const partialSignIn = await visit('/entrar/codigo', { codigo, volver: returnPath })
    expect((await visit(partialSignIn.destino!)).texto).toContain('name="volver"')
    const inside = await visit('/entrar/segundo-factor', { codigo: ana.app!.codigo(), volver: returnPath })
    expect(inside.destino).toBe(`${environment.url}${page}`)
    expect((await visit(inside.destino!)).status).toBe(200)
  })

  it('lead back from a form to the page that had it, and to no other site', async () => {
    const { visit } = await sola()
    const from = (Referer: string) => visit('/cuenta', { accion: 'elegir', cual: 'x' }, { Referer })
    expect((await from(`${environment.url}/cuenta/presencia?volver=x`)).destino).toContain(
      'volver=%2Fcuenta%2Fpresencia%3Fvolver%3Dx',
    )
    for (const foreign of ['https://malo.example//malo.example', 'x', ''])
      expect((await from(foreign)).destino).toBe(`${environment.url}/entrar?por=inactividad`)
  })

  it('say nothing of it without a session', async () => {
    const { destino } = await createScriptlessBrowser(environment).visit('/central')
    expect(destino).toBe(`${environment.url}/entrar?volver=%2Fcentral`)
    expect((await createScriptlessBrowser(environment).visit(destino!)).texto).not.toContain('pasó un rato')
  })
})
