import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { addPasskey, signChallenge, signInWithPasskey, toStatusAndCode, usePasskeys } from '../authenticator.ts'
import {
  createTestPersona,
  endSignIn,
  findPendingCorreo,
  makeRecoveryCodes,
  requestCode,
  requestFromPage,
  SESION,
  signInWithCode,
  type TestPersona,
  toCookieHeader,
} from '../persona.ts'
import { PASO } from '../totp.ts'

const { environment } = usePasskeys()
const MAL = [401, 'segundo_factor_incorrecto']

/** Signs in with the code by mail, and returns the cookie of the browser that waits for the second factor. */
async function partialSignIn({ correo }: Pick<TestPersona, 'correo'>) {
  const { codigo, signInCookie: input } = await requestCode(environment, correo)
  const seen = await signInWithCode(environment, input, codigo)
  if (seen.status !== 202) throw new Error(`the code by mail was answered ${seen.status}`)
  return { cookie: toCookieHeader(seen.headers).split('; ')[0]!, formas: seen.body.formas, seen }
}

describe('a person with an app, after the code by mail', () => {
  it('has no session until the code of the app is right, which opens one with all rights', async () => {
    const ana = await createTestPersona(environment)
    const { cookie, formas, seen } = await partialSignIn(ana)
    expect(formas).toEqual(['totp'])
    expect(seen.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^guias_a_medias=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^guias_entrada=; Max-Age=0;/),
    ])
    expect((await requestFromPage(environment, cookie, ['GET', SESION])).status).toBe(401)
    const { rows } = await environment.db.pool.query(
      `select campos from bitacora where accion = 'abrirSesionDePersona' and quien = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ campos: ['entrada_a_medias'] }])
    expect(toStatusAndCode(await endSignIn(environment, cookie, '000000'))).toEqual(MAL)
    const codigo = ana.app!.codigo()
    const signedIn = await endSignIn(environment, cookie, ` ${codigo.slice(0, 3)} ${codigo.slice(3)} `)
    expect([signedIn.status, signedIn.body]).toMatchObject([
      201,
      { persona: ana.persona, falta_segundo_factor: false, modo: 'live' },
    ])
    expect(toCookieHeader(signedIn.headers)).toMatch(/^guias_sesion=[\w-]{43}; guias_conocido=[^;]+; guias_a_medias=$/)
    const fresh = toCookieHeader(signedIn.headers)
    expect((await requestFromPage(environment, fresh, ['POST', `${SESION}/passkeys/registro`])).status).toBe(200)
    expect(await findPendingCorreo(environment, 'entrada', ana.correo)).toMatchObject({ nombre: 'Ana Pérez' })
    expect((await ana.request('GET', `${SESION}/segundo-factor`)).body).toMatchObject({
      obligatorio: true,
      totp: { usado_en: expect.any(String) },
      passkeys: 0,
      codigos_de_recuperacion: 0,
    })
  })

  it('has five attempts in each sign-in, also at once, and one winner', async () => {
    const ana = await createTestPersona(environment)
    const { cookie } = await partialSignIn(ana)
    const bad = await Promise.all(Array.from({ length: 5 }, () => endSignIn(environment, cookie, '000000')))
    for (const badCodigo of bad) expect(toStatusAndCode(badCodigo)).toEqual(MAL)
    expect(toStatusAndCode(await endSignIn(environment, cookie, ana.app!.de(1)))).toEqual(MAL)
    const other = await partialSignIn(ana)
    const codigo = ana.app!.codigo()
    const all = await Promise.all(Array.from({ length: 5 }, () => endSignIn(environment, other.cookie, codigo)))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
  })

  it('has ten failed attempts a day in all its sign-ins and proofs, is told, and may use its passkey', async () => {
    const ana = await createTestPersona(environment)
    const { autenticador } = await addPasskey(environment, ana)
    const halfSignIns = [await partialSignIn(ana), await partialSignIn(ana), await partialSignIn(ana)]
    const bad = halfSignIns.flatMap(({ cookie }) =>
      Array.from({ length: 4 }, () => endSignIn(environment, cookie, '000000')),
    )
    const estados = (await Promise.all(bad)).map(({ status }) => status).sort()
    expect(estados).toEqual([...Array(10).fill(401), 429, 429])
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({ que: 'bloqueado' })
    const good = await endSignIn(environment, halfSignIns[0]!.cookie, ana.app!.codigo())
    expect([good.status, good.body.mensaje]).toEqual([429, expect.stringContaining('Entre con una passkey')])
    expect(Number(good.headers.get('retry-after'))).toBeGreaterThan(86_000)
    const prueba = await ana.request('POST', `${SESION}/presencia`, { codigo: ana.app!.codigo() })
    expect(prueba.status).toBe(429)
    expect((await signInWithPasskey(environment, await signChallenge(environment, autenticador))).status).toBe(201)
    environment.advance(24 * HOUR_MS)
    expect((await endSignIn(environment, (await partialSignIn(ana)).cookie, ana.app!.codigo())).status).toBe(201)
  })

  it('uses a code once, in any browser, and no older one afterwards, also if the clock steps back', async () => {
    const ana = await createTestPersona(environment)
    environment.advance(2 * PASO)
    const [one, other, third] = [await partialSignIn(ana), await partialSignIn(ana), await partialSignIn(ana)]
    const [before, now] = [ana.app!.de(0), ana.app!.de(1)]
    expect((await endSignIn(environment, one.cookie, now)).status).toBe(201)
    for (const codigo of [now, before])
      expect(toStatusAndCode(await endSignIn(environment, other.cookie, codigo))).toEqual(MAL)
    environment.advance(-PASO)
    for (const codigo of [now, before])
      expect(toStatusAndCode(await endSignIn(environment, other.cookie, codigo))).toEqual(MAL)
    environment.advance(3 * PASO)
    expect((await endSignIn(environment, third.cookie, ana.app!.de(0))).status).toBe(201)
  })

  it('may be one step early or late, and no more', async () => {
    const ana = await createTestPersona(environment)
    environment.advance(10 * PASO)
    const { cookie } = await partialSignIn(ana)
    for (const steps of [-3, -2, 2, 3]) {
      const codigo = ana.app!.de(steps)
      expect([steps, ...toStatusAndCode(await endSignIn(environment, cookie, codigo))]).toEqual([steps, ...MAL])
    }
    expect((await endSignIn(environment, cookie, ana.app!.de(-1))).status).toBe(201)
    expect((await endSignIn(environment, (await partialSignIn(ana)).cookie, ana.app!.de(1))).status).toBe(201)
  })

  it('goes on in its own browser alone, for ten minutes, with its own code', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createTestPersona(environment)]
    const [ownSignIn, foreign] = [await partialSignIn(ana), await partialSignIn(eva)]
    const good = ana.app!.codigo()
    for (const cookie of [
      '',
      foreign.cookie,
      `guias_a_medias=${'A'.repeat(43)}`,
      `${ownSignIn.cookie}; ${foreign.cookie}`,
    ])
      expect([cookie, ...toStatusAndCode(await endSignIn(environment, cookie, good))]).toEqual([cookie, ...MAL])
    for (const codigo of ['12345', 'abcdef', '１２３４５６', '-00001', eva.app!.codigo()])
      expect([codigo, ...toStatusAndCode(await endSignIn(environment, ownSignIn.cookie, codigo))]).toEqual([
        codigo,
        ...MAL,
      ])
    environment.advance(10 * MINUTE_MS)
    const late = await partialSignIn(ana)
    expect(toStatusAndCode(await endSignIn(environment, (await partialSignIn(eva)).cookie, ana.app!.codigo()))).toEqual(
      MAL,
    )
    environment.advance(10 * MINUTE_MS)
    expect(toStatusAndCode(await endSignIn(environment, late.cookie, ana.app!.codigo()))).toEqual(MAL)
  })

  it('takes no request of another site', async () => {
    const ana = await createTestPersona(environment)
    const { cookie } = await partialSignIn(ana)
    const from = { headers: { Origin: 'https://malo.example' } }
    const requestData = ['POST', `${SESION}/segundo-factor`, { codigo: ana.app!.codigo() }] as [string, string, unknown]
    expect(toStatusAndCode(await requestFromPage(environment, cookie, requestData, from))).toEqual([
      403,
      'origen_no_permitido',
    ])
  })
})

describe('a person of the courier company with a passkey alone', () => {
  it('gets no session for the code by mail, but for a recovery code after it', async () => {
    const ana = await createTestPersona(environment, { withApp: false })
    const { request } = await addPasskey(environment, ana)
    const codigos = await makeRecoveryCodes({ request })
    const { cookie, formas } = await partialSignIn(ana)
    expect(formas).toEqual(['recuperacion', 'passkey'])
    expect((await endSignIn(environment, cookie, codigos[0])).status).toBe(201)
  })
})

describe('a person of a merchant', () => {
  it('needs no second factor with a passkey, and the app once it has one', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['despacho'] })
    await addPasskey(environment, ana)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const signedIn = await signInWithCode(environment, input, codigo)
    expect([signedIn.status, signedIn.body.falta_segundo_factor]).toEqual([201, false])
    const withApp = await createTestPersona(environment, { comercio, alcances: ['despacho'], withApp: true })
    const { cookie } = await partialSignIn(withApp)
    expect((await endSignIn(environment, cookie, withApp.app!.codigo())).status).toBe(201)
  })
})
