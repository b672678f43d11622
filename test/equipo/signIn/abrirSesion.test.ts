import { describe, expect, it } from 'vitest'
import { tokenHash } from '../../../server/platform/codes/token.ts'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import {
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  requestCode,
  requestFromPage,
  signInWithCode,
  toCookieHeader,
} from '../persona.ts'

const limites = { now: 0 }
const environment = useEnvironment({ limitsClock: () => limites.now })
/** The limits of networks are full again. */
const refillLimits = () => {
  limites.now += HOUR_MS
}
const RUTA = '/operaciones/v1/sesion'
const differentCodigo = (codigo: string) => String((Number(codigo) + 1) % 1_000_000).padStart(6, '0')

describe('a code by mail', () => {
  it('opens a session in the browser that asked, once', async () => {
    refillLimits()
    const { correo, persona, membresia } = await createTestPersona(environment, { withApp: false })
    const { codigo, signInCookie: input } = await requestCode(environment, ` ${correo.toUpperCase()} `.trim())
    expect(codigo).toMatch(/^\d{6}$/)
    const signedIn = await signInWithCode(environment, input, ` ${codigo!.slice(0, 3)} ${codigo!.slice(3)} `)
    expect([signedIn.status, signedIn.body]).toMatchObject([201, { persona, correo, membresia, modo: 'live' }])
    const [sesion, knownIdentity, end] = signedIn.headers.getSetCookie()
    expect(sesion).toMatch(/^guias_sesion=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(knownIdentity).toMatch(
      /^guias_conocido=[0-9a-f-]{36}\.[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect(end).toMatch(/^guias_entrada=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/)
    const other = await signInWithCode(environment, input, codigo)
    expect([other.status, other.body.codigo]).toEqual([401, 'codigo_incorrecto'])
    expect(other.headers.get('www-authenticate')).toBe('Cookie realm="personas"')
    const caller = await requestFromPage(environment, toCookieHeader(signedIn.headers), ['GET', RUTA])
    expect([caller.status, caller.body.persona]).toEqual([200, persona])
  })

  it('is of no use in another browser, however often it is right', async () => {
    refillLimits()
    const { correo } = await createTestPersona(environment, { withApp: false })
    const { codigo, signInCookie: input } = await requestCode(environment, correo)
    const { signInCookie: foreign } = await requestCode(environment, createCorreoAddress())
    for (const cookie of ['', foreign, `guias_entrada=${'A'.repeat(43)}`, `${input}; ${foreign}`]) {
      const { status, body } = await signInWithCode(environment, cookie, codigo)
      expect([cookie, status, body.codigo]).toEqual([cookie, 401, 'codigo_incorrecto'])
    }
    expect((await signInWithCode(environment, input, codigo)).status).toBe(201)
  })

  it('allows five attempts', async () => {
    refillLimits()
    const { correo } = await createTestPersona(environment, { withApp: false })
    const { codigo, signInCookie: input } = await requestCode(environment, correo)
    for (let i = 0; i < 5; i++)
      expect((await signInWithCode(environment, input, differentCodigo(codigo!))).status).toBe(401)
    expect((await signInWithCode(environment, input, codigo)).status).toBe(401)
    const other = await requestCode(environment, correo)
    for (let i = 0; i < 4; i++)
      expect((await signInWithCode(environment, other.signInCookie, differentCodigo(other.codigo!))).status).toBe(401)
    expect((await signInWithCode(environment, other.signInCookie, other.codigo)).status).toBe(201)
  })

  it('allows five attempts also at once, and one winner', async () => {
    refillLimits()
    const { correo } = await createTestPersona(environment, { withApp: false })
    const bad = await requestCode(environment, correo)
    const intentos = Array.from({ length: 12 }, () =>
      signInWithCode(environment, bad.signInCookie, differentCodigo(bad.codigo!)),
    )
    for (const { status } of await Promise.all(intentos)) expect(status).toBe(401)
    const digest = tokenHash(bad.signInCookie.split('=')[1]!)
    const { rows } = await environment.db.pool.query('select intentos from codigo_de_entrada where huella = $1', [
      digest,
    ])
    expect(rows).toEqual([{ intentos: 5 }])
    const good = await requestCode(environment, correo)
    const entradas = Array.from({ length: 10 }, () => signInWithCode(environment, good.signInCookie, good.codigo))
    expect((await Promise.all(entradas)).map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)])
  })

  it('ends after ten minutes', async () => {
    refillLimits()
    const { correo } = await createTestPersona(environment, { withApp: false })
    const { codigo, signInCookie: input } = await requestCode(environment, correo)
    environment.advance(10 * MINUTE_MS)
    expect((await signInWithCode(environment, input, codigo)).status).toBe(401)
  })

  it.each(['12345', 'abcdef', '1234567', '１２３４５６', '-00001'])('is not «%s»', async (codigo) => {
    refillLimits()
    const { correo } = await createTestPersona(environment, { withApp: false })
    const { signInCookie: input } = await requestCode(environment, correo)
    expect((await signInWithCode(environment, input, codigo)).status).toBe(401)
  })
})

describe('a sign-in', () => {
  const entrar = async (correo: string, cookie: string) => {
    refillLimits()
    const { codigo, signInCookie: input } = await requestCode(environment, correo)
    const signedIn = await signInWithCode(environment, `${cookie}; ${input}`, codigo)
    expect(signedIn.status).toBe(201)
  }

  it('ends the session that the browser had', async () => {
    const [ana, other] = [
      await createTestPersona(environment, { withApp: false }),
      await createTestPersona(environment, { withApp: false }),
    ]
    await entrar(ana.correo, other.cookie)
    await waitUntil(async () => (await other.request('GET', RUTA)).status === 401)
    expect((await ana.request('GET', RUTA)).status).toBe(200)
  })

  it('is told by mail when the person was not seen in the browser before', async () => {
    const [ana, other] = [
      await createTestPersona(environment, { withApp: false }),
      await createTestPersona(environment, { withApp: false }),
    ]
    await entrar(ana.correo, ana.known)
    expect(await findPendingCorreo(environment, 'entrada', ana.correo)).toBeUndefined()
    await entrar(ana.correo, other.known)
    const aviso = await findPendingCorreo(environment, 'entrada', ana.correo)
    expect(aviso).toMatchObject({ nombre: 'Ana Pérez', dispositivo: 'Otro navegador' })
    expect(aviso.enlace).toBe(`${environment.url.replace('127.0.0.1', 'localhost')}/cuenta`)
    await entrar(
      other.correo,
      // The first letter of the seal: of the last one, two bits do not count.
      other.known.replace(/\.(.)/, (_match, letter) => (letter === 'A' ? '.B' : '.A')),
    )
    expect(await findPendingCorreo(environment, 'entrada', other.correo)).toBeDefined()
  })
})

describe('pages of other sites', () => {
  it.each<Record<string, string>>([
    { Origin: 'https://malo.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ])('sign nobody in and out: %o', async (headers) => {
    refillLimits()
    const persona = await createTestPersona(environment, { withApp: false })
    const { codigo, signInCookie: input } = await requestCode(environment, persona.correo)
    const from = { headers: { ...('Origin' in headers ? {} : { Origin: environment.url }), ...headers } }
    const requests = [
      requestFromPage(environment, '', ['POST', `${RUTA}/codigo`, { correo: persona.correo }], from),
      signInWithCode(environment, input, codigo, from),
      requestFromPage(environment, '', ['POST', `${RUTA}/invitacion`, { token: 'A'.repeat(43) }], from),
      persona.request('DELETE', RUTA, undefined, from),
      persona.request('POST', `${RUTA}/correo`, { correo: createCorreoAddress() }, from),
      persona.request('PATCH', `${RUTA}/correo`, { codigo }, from),
      persona.request('DELETE', `/operaciones/v1/sesiones/${persona.sesion}`, undefined, from),
      persona.request('POST', '/operaciones/v1/operadores', { nombre: 'x' }, from),
    ]
    for (const { status, body } of await Promise.all(requests))
      expect([status, body.codigo]).toEqual([403, 'origen_no_permitido'])
    expect((await persona.request('GET', RUTA)).status).toBe(200)
  })
})

it('every sign-in has a session of its own, and the twenty-first ends the oldest', async () => {
  const persona = await createTestPersona(environment, { withApp: false })
  const cookies = new Set([persona.cookie])
  for (let i = 0; i < 20; i++) {
    refillLimits()
    environment.advance(2 * HOUR_MS + 24 * MINUTE_MS)
    const { codigo, signInCookie: input } = await requestCode(environment, persona.correo)
    // A cookie that another site or person put there is not kept.
    const signedIn = await signInWithCode(environment, `${input}; guias_sesion=${'A'.repeat(43)}`, codigo)
    expect(signedIn.status).toBe(201)
    cookies.add(toCookieHeader(signedIn.headers))
  }
  expect(cookies.size).toBe(21)
  const { rows } = await environment.db.pool.query(
    'select count(*)::int as n from sesion_persona s join persona p on p.id = s.persona_id where p.correo = $1',
    [persona.correo],
  )
  expect(rows[0].n).toBeLessThanOrEqual(20)
})
