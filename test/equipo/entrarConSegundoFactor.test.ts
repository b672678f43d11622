import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { addPasskey, signChallenge, signInWithPasskey, toStatusAndCode, usePasskeys } from './authenticator.ts'
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
} from './persona.ts'
import { PASO } from './totp.ts'

const { environment: entorno } = usePasskeys()
const MAL = [401, 'segundo_factor_incorrecto']

/** Signs in with the code by mail, and returns the cookie of the browser that waits for the second factor. */
async function aMedias({ correo }: Pick<TestPersona, 'correo'>) {
  const { codigo, signInCookie: entrada } = await requestCode(entorno, correo)
  const visto = await signInWithCode(entorno, entrada, codigo)
  if (visto.status !== 202) throw new Error(`the code by mail was answered ${visto.status}`)
  return { cookie: toCookieHeader(visto.cabeceras).split('; ')[0]!, formas: visto.cuerpo.formas, seen: visto }
}

describe('a person with an app, after the code by mail', () => {
  it('has no session until the code of the app is right, which opens one with all rights', async () => {
    const ana = await createTestPersona(entorno)
    const { cookie, formas, seen: visto } = await aMedias(ana)
    expect(formas).toEqual(['totp'])
    expect(visto.cabeceras.getSetCookie()).toEqual([
      expect.stringMatching(/^guias_a_medias=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^guias_entrada=; Max-Age=0;/),
    ])
    expect((await requestFromPage(entorno, cookie, ['GET', SESION])).status).toBe(401)
    const { rows } = await entorno.db.pool.query(
      `select campos from bitacora where accion = 'abrirSesionDePersona' and quien = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ campos: ['entrada_a_medias'] }])
    expect(toStatusAndCode(await endSignIn(entorno, cookie, '000000'))).toEqual(MAL)
    const codigo = ana.app!.codigo()
    const abierta = await endSignIn(entorno, cookie, ` ${codigo.slice(0, 3)} ${codigo.slice(3)} `)
    expect([abierta.status, abierta.cuerpo]).toMatchObject([
      201,
      { persona: ana.persona, falta_segundo_factor: false, modo: 'live' },
    ])
    expect(toCookieHeader(abierta.cabeceras)).toMatch(/^guias_sesion=[\w-]{43}; guias_conocido=[^;]+; guias_a_medias=$/)
    const nueva = toCookieHeader(abierta.cabeceras)
    expect((await requestFromPage(entorno, nueva, ['POST', `${SESION}/passkeys/registro`])).status).toBe(200)
    expect(await findPendingCorreo(entorno, 'entrada', ana.correo)).toMatchObject({ nombre: 'Ana Pérez' })
    expect((await ana.request('GET', `${SESION}/segundo-factor`)).cuerpo).toMatchObject({
      obligatorio: true,
      totp: { usado_en: expect.any(String) },
      passkeys: 0,
      codigos_de_recuperacion: 0,
    })
  })

  it('has five attempts in each sign-in, also at once, and one winner', async () => {
    const ana = await createTestPersona(entorno)
    const { cookie } = await aMedias(ana)
    const malos = await Promise.all(Array.from({ length: 5 }, () => endSignIn(entorno, cookie, '000000')))
    for (const malo of malos) expect(toStatusAndCode(malo)).toEqual(MAL)
    expect(toStatusAndCode(await endSignIn(entorno, cookie, ana.app!.de(1)))).toEqual(MAL)
    const otra = await aMedias(ana)
    const codigo = ana.app!.codigo()
    const todas = await Promise.all(Array.from({ length: 5 }, () => endSignIn(entorno, otra.cookie, codigo)))
    expect(todas.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
  })

  it('has ten failed attempts a day in all its sign-ins and proofs, is told, and may use its passkey', async () => {
    const ana = await createTestPersona(entorno)
    const { autenticador } = await addPasskey(entorno, ana)
    const sitios = [await aMedias(ana), await aMedias(ana), await aMedias(ana)]
    const malos = sitios.flatMap(({ cookie }) => Array.from({ length: 4 }, () => endSignIn(entorno, cookie, '000000')))
    const estados = (await Promise.all(malos)).map(({ status }) => status).sort()
    expect(estados).toEqual([...Array(10).fill(401), 429, 429])
    expect(await findPendingCorreo(entorno, 'segundo_factor', ana.correo)).toMatchObject({ que: 'bloqueado' })
    const bueno = await endSignIn(entorno, sitios[0]!.cookie, ana.app!.codigo())
    expect([bueno.status, bueno.cuerpo.mensaje]).toEqual([429, expect.stringContaining('Entre con una passkey')])
    expect(Number(bueno.cabeceras.get('retry-after'))).toBeGreaterThan(86_000)
    const prueba = await ana.request('POST', `${SESION}/presencia`, { codigo: ana.app!.codigo() })
    expect(prueba.status).toBe(429)
    expect((await signInWithPasskey(entorno, await signChallenge(entorno, autenticador))).status).toBe(201)
    entorno.advance(24 * HOUR_MS)
    expect((await endSignIn(entorno, (await aMedias(ana)).cookie, ana.app!.codigo())).status).toBe(201)
  })

  it('uses a code once, in any browser, and no older one afterwards, also if the clock steps back', async () => {
    const ana = await createTestPersona(entorno)
    entorno.advance(2 * PASO)
    const [una, otra, tercera] = [await aMedias(ana), await aMedias(ana), await aMedias(ana)]
    const [antes, ahora] = [ana.app!.de(0), ana.app!.de(1)]
    expect((await endSignIn(entorno, una.cookie, ahora)).status).toBe(201)
    for (const codigo of [ahora, antes])
      expect(toStatusAndCode(await endSignIn(entorno, otra.cookie, codigo))).toEqual(MAL)
    entorno.advance(-PASO)
    for (const codigo of [ahora, antes])
      expect(toStatusAndCode(await endSignIn(entorno, otra.cookie, codigo))).toEqual(MAL)
    entorno.advance(3 * PASO)
    expect((await endSignIn(entorno, tercera.cookie, ana.app!.de(0))).status).toBe(201)
  })

  it('may be one step early or late, and no more', async () => {
    const ana = await createTestPersona(entorno)
    entorno.advance(10 * PASO)
    const { cookie } = await aMedias(ana)
    for (const pasos of [-3, -2, 2, 3]) {
      const codigo = ana.app!.de(pasos)
      expect([pasos, ...toStatusAndCode(await endSignIn(entorno, cookie, codigo))]).toEqual([pasos, ...MAL])
    }
    expect((await endSignIn(entorno, cookie, ana.app!.de(-1))).status).toBe(201)
    expect((await endSignIn(entorno, (await aMedias(ana)).cookie, ana.app!.de(1))).status).toBe(201)
  })

  it('goes on in its own browser alone, for ten minutes, with its own code', async () => {
    const [ana, eva] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const [suya, ajena] = [await aMedias(ana), await aMedias(eva)]
    const bueno = ana.app!.codigo()
    for (const cookie of ['', ajena.cookie, `guias_a_medias=${'A'.repeat(43)}`, `${suya.cookie}; ${ajena.cookie}`])
      expect([cookie, ...toStatusAndCode(await endSignIn(entorno, cookie, bueno))]).toEqual([cookie, ...MAL])
    for (const codigo of ['12345', 'abcdef', '１２３４５６', '-00001', eva.app!.codigo()])
      expect([codigo, ...toStatusAndCode(await endSignIn(entorno, suya.cookie, codigo))]).toEqual([codigo, ...MAL])
    entorno.advance(10 * MINUTE_MS)
    const tarde = await aMedias(ana)
    expect(toStatusAndCode(await endSignIn(entorno, (await aMedias(eva)).cookie, ana.app!.codigo()))).toEqual(MAL)
    entorno.advance(10 * MINUTE_MS)
    expect(toStatusAndCode(await endSignIn(entorno, tarde.cookie, ana.app!.codigo()))).toEqual(MAL)
  })

  it('takes no request of another site', async () => {
    const ana = await createTestPersona(entorno)
    const { cookie } = await aMedias(ana)
    const desde = { cabeceras: { Origin: 'https://malo.example' } }
    const pedido = ['POST', `${SESION}/segundo-factor`, { codigo: ana.app!.codigo() }] as [string, string, unknown]
    expect(toStatusAndCode(await requestFromPage(entorno, cookie, pedido, desde))).toEqual([403, 'origen_no_permitido'])
  })
})

describe('a person of the courier company with a passkey alone', () => {
  it('gets no session for the code by mail, but for a recovery code after it', async () => {
    const ana = await createTestPersona(entorno, { conApp: false })
    const { request: pedir } = await addPasskey(entorno, ana)
    const codigos = await makeRecoveryCodes({ request: pedir })
    const { cookie, formas } = await aMedias(ana)
    expect(formas).toEqual(['recuperacion', 'passkey'])
    expect((await endSignIn(entorno, cookie, codigos[0])).status).toBe(201)
  })
})

describe('a person of a merchant', () => {
  it('needs no second factor with a passkey, and the app once it has one', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const ana = await createTestPersona(entorno, { comercio, alcances: ['despacho'] })
    await addPasskey(entorno, ana)
    const { codigo, signInCookie: entrada } = await requestCode(entorno, ana.correo)
    const abierta = await signInWithCode(entorno, entrada, codigo)
    expect([abierta.status, abierta.cuerpo.falta_segundo_factor]).toEqual([201, false])
    const conApp = await createTestPersona(entorno, { comercio, alcances: ['despacho'], conApp: true })
    const { cookie } = await aMedias(conApp)
    expect((await endSignIn(entorno, cookie, conApp.app!.codigo())).status).toBe(201)
  })
})
