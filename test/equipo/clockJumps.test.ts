import { afterEach, describe, expect, it } from 'vitest'
import { purgeSignIns } from '../../server/domain/equipo/sessions/sesion.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { waitUntil } from '../factories.ts'
import {
  addPasskey,
  PASSKEYS_PATH,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from './authenticator.ts'
import {
  createComercioPersona,
  createCorreoAddress,
  createTestPersona,
  endSignIn,
  requestCode,
  requestFromPage,
  requestOtherCorreo,
  signInWithCode,
  type TestPersona,
  toCookieHeader,
  useInvitaciones,
} from './persona.ts'

const { environment } = usePasskeys()
const { aceptar, invitar, tokenOf } = useInvitaciones(environment)

let clockOffset = 0
/** Steps the service's clock; each test ends at the time at which it began. */
const jumpClock = (ms: number) => {
  clockOffset += ms
  environment.advance(ms)
}
afterEach(() => jumpClock(-clockOffset))
const cleanUp = () => purgeSignIns({ db: environment.db, clock: environment.clock })
/** Asks for something that needs a proof of presence. */
const registrar = async ({ request }: TestPersona) => (await request('POST', `${PASSKEYS_PATH}/registro`)).status
const verSesion = async ({ request }: TestPersona) => (await request('GET', '/operaciones/v1/sesion')).status

describe('a code, when the clock is stepped', () => {
  it('stays expired once it was, however far the clock goes back', async () => {
    const ana = await createTestPersona(environment)
    for (const backwards of [HOUR_MS, DAY_MS]) {
      const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
      jumpClock(10 * MINUTE_MS + 1)
      expect(toStatusAndCode(await signInWithCode(environment, input, codigo))).toEqual([401, 'codigo_incorrecto'])
      jumpClock(-backwards)
      expect(toStatusAndCode(await signInWithCode(environment, input, codigo))).toEqual([401, 'codigo_incorrecto'])
      jumpClock(backwards + HOUR_MS)
    }
  })

  it('is valid after a step of seconds, and another one is sent after a step of hours', async () => {
    const ana = await createComercioPersona(environment)
    const nearby = await requestCode(environment, ana.correo)
    jumpClock(-30_000)
    expect((await signInWithCode(environment, nearby.signInCookie, nearby.codigo)).status).toBe(201)
    // Five codes are the maximum of an hour. Those of a time to come count for nothing.
    for (let i = 0; i < 4; i++) await requestCode(environment, ana.correo)
    const far = await requestCode(environment, ana.correo)
    await environment.db.pool.query(`delete from correo where tipo = 'codigo'`)
    jumpClock(-DAY_MS)
    const other = await requestCode(environment, ana.correo)
    expect([far.codigo, other.codigo]).toEqual([expect.any(String), expect.any(String)])
    expect((await signInWithCode(environment, other.signInCookie, other.codigo)).status).toBe(201)
  })
})

describe('a code for another address, when the clock is stepped', () => {
  const change = ({ request }: TestPersona, codigo: string) =>
    request('PATCH', '/operaciones/v1/sesion/correo', { codigo })

  it('stays expired once it was, and a later one is valid at once', async () => {
    const ana = await createComercioPersona(environment)
    const anterior = await requestOtherCorreo(environment, ana, createCorreoAddress())
    jumpClock(10 * MINUTE_MS + 1)
    expect(toStatusAndCode(await change(ana, anterior))).toEqual([401, 'codigo_incorrecto'])
    jumpClock(-HOUR_MS)
    expect(toStatusAndCode(await change(ana, anterior))).toEqual([401, 'codigo_incorrecto'])
    const { codigo, signInCookie } = await requestCode(environment, ana.correo)
    const present = ['POST', '/operaciones/v1/sesion/presencia', { codigo }] as [string, string, unknown]
    expect((await requestFromPage(environment, `${ana.cookie}; ${signInCookie}`, present)).status).toBe(200)
    const correo = createCorreoAddress()
    const posterior = await waitUntil(async () => requestOtherCorreo(environment, ana, correo).catch(() => undefined))
    const changed = await change(ana, posterior)
    expect([changed.status, changed.body.correo]).toEqual([200, correo])
  })
})

describe('a proof of presence, when the clock is stepped', () => {
  it('lasts five minutes and no longer, and another one works at once', async () => {
    const ana = await createComercioPersona(environment)
    jumpClock(-MINUTE_MS)
    expect(await registrar(ana)).toBe(200)
    jumpClock(-HOUR_MS)
    expect(await registrar(ana)).toBe(403)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const cookie = `${ana.cookie}; ${input}`
    const guiaWithPrueba = await requestFromPage(environment, cookie, [
      'POST',
      '/operaciones/v1/sesion/presencia',
      { codigo },
    ])
    expect(guiaWithPrueba.status).toBe(200)
    await waitUntil(async () => (await registrar(ana)) === 200)
    jumpClock(5 * MINUTE_MS + 1_000)
    expect(await registrar(ana)).toBe(403)
    jumpClock(-HOUR_MS)
    expect(await registrar(ana)).toBe(403)
  })
})

describe('half a sign-in, when the clock is stepped', () => {
  it('stays expired once it was, and is of no use long before it began', async () => {
    const ana = await createTestPersona(environment)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const partialSignIn = toCookieHeader((await signInWithCode(environment, input, codigo)).headers)
    const finish = async () => toStatusAndCode(await endSignIn(environment, partialSignIn, ana.app!.codigo()))
    for (const salto of [10 * MINUTE_MS + 1, -HOUR_MS]) {
      jumpClock(salto)
      expect(await finish()).toEqual([401, 'segundo_factor_incorrecto'])
      jumpClock(-clockOffset)
    }
    jumpClock(10 * MINUTE_MS + 1)
    await cleanUp()
    jumpClock(-clockOffset)
    expect(await finish()).toEqual([401, 'segundo_factor_incorrecto'])
  })
})

describe('a session, when the clock is stepped', () => {
  it('stays valid when the clock goes back, and ended when it was ended or cleaned up', async () => {
    const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
    jumpClock(-DAY_MS)
    expect(await verSesion(ana)).toBe(200)
    expect((await bea.request('DELETE', '/operaciones/v1/sesion')).status).toBe(204)
    await waitUntil(async () => (await verSesion(bea)) === 401)
    jumpClock(DAY_MS + 12 * HOUR_MS + MINUTE_MS)
    expect(await verSesion(ana)).toBe(401)
    await cleanUp()
    jumpClock(-DAY_MS)
    await waitUntil(async () => (await verSesion(ana)) === 401)
    expect(await verSesion(bea)).toBe(401)
  })
})

describe('an invitation, when the clock is stepped', () => {
  it('is accepted after the clock went back, once, and not after it expired and was cleaned up', async () => {
    const [correo, late] = [createCorreoAddress(), createCorreoAddress()]
    await invitar({ correo })
    jumpClock(-HOUR_MS)
    const token = await tokenOf(correo)
    expect((await aceptar(token)).status).toBe(201)
    jumpClock(2 * HOUR_MS)
    expect((await aceptar(token)).status).toBe(403)
    jumpClock(-HOUR_MS)
    await invitar({ correo: late })
    const other = await tokenOf(late)
    jumpClock(DAY_MS + 1)
    expect((await aceptar(other)).status).toBe(403)
    await cleanUp()
    jumpClock(-HOUR_MS)
    expect((await aceptar(other)).status).toBe(403)
  })
})

describe('a challenge, when the clock is stepped', () => {
  it('that was answered late or in another time is not answered again', async () => {
    const ana = await createTestPersona(environment)
    const { autenticador } = await addPasskey(environment, ana)
    const entrar = async (salto: number) => {
      const signedOne = await signChallenge(environment, autenticador)
      jumpClock(salto)
      const before = toStatusAndCode(await signInWithPasskey(environment, signedOne))
      jumpClock(-salto)
      return [before, toStatusAndCode(await signInWithPasskey(environment, signedOne))]
    }
    expect(await entrar(5 * MINUTE_MS + 1)).toEqual([WRONG_PASSKEY, WRONG_PASSKEY])
    expect(await entrar(-HOUR_MS)).toEqual([WRONG_PASSKEY, WRONG_PASSKEY])
    expect((await entrar(-30_000))[0]![0]).toBe(201)
  })
})
