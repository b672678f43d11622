import { afterEach, describe, expect, it } from 'vitest'
import { purgeSignIns } from '../../server/domain/equipo/sesion.ts'
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
const { aceptar, invitar, tokenDe } = useInvitaciones(environment)

let desfase = 0
/** Steps the service's clock; each test ends at the time at which it began. */
const saltar = (ms: number) => {
  desfase += ms
  environment.advance(ms)
}
afterEach(() => saltar(-desfase))
const limpiar = () => purgeSignIns({ db: environment.db, clock: environment.clock })
/** Asks for something that needs a proof of presence. */
const registrar = async ({ request }: TestPersona) => (await request('POST', `${PASSKEYS_PATH}/registro`)).status
const verSesion = async ({ request }: TestPersona) => (await request('GET', '/operaciones/v1/sesion')).status

describe('a code, when the clock is stepped', () => {
  it('stays expired once it was, however far the clock goes back', async () => {
    const ana = await createTestPersona(environment)
    for (const atras of [HOUR_MS, DAY_MS]) {
      const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
      saltar(10 * MINUTE_MS + 1)
      expect(toStatusAndCode(await signInWithCode(environment, input, codigo))).toEqual([401, 'codigo_incorrecto'])
      saltar(-atras)
      expect(toStatusAndCode(await signInWithCode(environment, input, codigo))).toEqual([401, 'codigo_incorrecto'])
      saltar(atras + HOUR_MS)
    }
  })

  it('is valid after a step of seconds, and another one is sent after a step of hours', async () => {
    const ana = await createComercioPersona(environment)
    const cerca = await requestCode(environment, ana.correo)
    saltar(-30_000)
    expect((await signInWithCode(environment, cerca.signInCookie, cerca.codigo)).status).toBe(201)
    // Five codes are the maximum of an hour. Those of a time to come count for nothing.
    for (let i = 0; i < 4; i++) await requestCode(environment, ana.correo)
    const far = await requestCode(environment, ana.correo)
    await environment.db.pool.query(`delete from correo where tipo = 'codigo'`)
    saltar(-DAY_MS)
    const other = await requestCode(environment, ana.correo)
    expect([far.codigo, other.codigo]).toEqual([expect.any(String), expect.any(String)])
    expect((await signInWithCode(environment, other.signInCookie, other.codigo)).status).toBe(201)
  })
})

describe('a code for another address, when the clock is stepped', () => {
  const cambiar = ({ request }: TestPersona, codigo: string) =>
    request('PATCH', '/operaciones/v1/sesion/correo', { codigo })

  it('stays expired once it was, and a later one is valid at once', async () => {
    const ana = await createComercioPersona(environment)
    const anterior = await requestOtherCorreo(environment, ana, createCorreoAddress())
    saltar(10 * MINUTE_MS + 1)
    expect(toStatusAndCode(await cambiar(ana, anterior))).toEqual([401, 'codigo_incorrecto'])
    saltar(-HOUR_MS)
    expect(toStatusAndCode(await cambiar(ana, anterior))).toEqual([401, 'codigo_incorrecto'])
    const { codigo, signInCookie } = await requestCode(environment, ana.correo)
    const present = ['POST', '/operaciones/v1/sesion/presencia', { codigo }] as [string, string, unknown]
    expect((await requestFromPage(environment, `${ana.cookie}; ${signInCookie}`, present)).status).toBe(200)
    const correo = createCorreoAddress()
    const posterior = await waitUntil(async () => requestOtherCorreo(environment, ana, correo).catch(() => undefined))
    const changed = await cambiar(ana, posterior)
    expect([changed.status, changed.cuerpo.correo]).toEqual([200, correo])
  })
})

describe('a proof of presence, when the clock is stepped', () => {
  it('lasts five minutes and no longer, and another one works at once', async () => {
    const ana = await createComercioPersona(environment)
    saltar(-MINUTE_MS)
    expect(await registrar(ana)).toBe(200)
    saltar(-HOUR_MS)
    expect(await registrar(ana)).toBe(403)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const cookie = `${ana.cookie}; ${input}`
    const probada = await requestFromPage(environment, cookie, ['POST', '/operaciones/v1/sesion/presencia', { codigo }])
    expect(probada.status).toBe(200)
    await waitUntil(async () => (await registrar(ana)) === 200)
    saltar(5 * MINUTE_MS + 1_000)
    expect(await registrar(ana)).toBe(403)
    saltar(-HOUR_MS)
    expect(await registrar(ana)).toBe(403)
  })
})

describe('half a sign-in, when the clock is stepped', () => {
  it('stays expired once it was, and is of no use long before it began', async () => {
    const ana = await createTestPersona(environment)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const aMedias = toCookieHeader((await signInWithCode(environment, input, codigo)).cabeceras)
    const terminar = async () => toStatusAndCode(await endSignIn(environment, aMedias, ana.app!.codigo()))
    for (const salto of [10 * MINUTE_MS + 1, -HOUR_MS]) {
      saltar(salto)
      expect(await terminar()).toEqual([401, 'segundo_factor_incorrecto'])
      saltar(-desfase)
    }
    saltar(10 * MINUTE_MS + 1)
    await limpiar()
    saltar(-desfase)
    expect(await terminar()).toEqual([401, 'segundo_factor_incorrecto'])
  })
})

describe('a session, when the clock is stepped', () => {
  it('stays valid when the clock goes back, and ended when it was ended or cleaned up', async () => {
    const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
    saltar(-DAY_MS)
    expect(await verSesion(ana)).toBe(200)
    expect((await bea.request('DELETE', '/operaciones/v1/sesion')).status).toBe(204)
    await waitUntil(async () => (await verSesion(bea)) === 401)
    saltar(DAY_MS + 12 * HOUR_MS + MINUTE_MS)
    expect(await verSesion(ana)).toBe(401)
    await limpiar()
    saltar(-DAY_MS)
    await waitUntil(async () => (await verSesion(ana)) === 401)
    expect(await verSesion(bea)).toBe(401)
  })
})

describe('an invitation, when the clock is stepped', () => {
  it('is accepted after the clock went back, once, and not after it expired and was cleaned up', async () => {
    const [correo, late] = [createCorreoAddress(), createCorreoAddress()]
    await invitar({ correo })
    saltar(-HOUR_MS)
    const token = await tokenDe(correo)
    expect((await aceptar(token)).status).toBe(201)
    saltar(2 * HOUR_MS)
    expect((await aceptar(token)).status).toBe(403)
    saltar(-HOUR_MS)
    await invitar({ correo: late })
    const other = await tokenDe(late)
    saltar(DAY_MS + 1)
    expect((await aceptar(other)).status).toBe(403)
    await limpiar()
    saltar(-HOUR_MS)
    expect((await aceptar(other)).status).toBe(403)
  })
})

describe('a challenge, when the clock is stepped', () => {
  it('that was answered late or in another time is not answered again', async () => {
    const ana = await createTestPersona(environment)
    const { autenticador } = await addPasskey(environment, ana)
    const entrar = async (salto: number) => {
      const firmada = await signChallenge(environment, autenticador)
      saltar(salto)
      const before = toStatusAndCode(await signInWithPasskey(environment, firmada))
      saltar(-salto)
      return [before, toStatusAndCode(await signInWithPasskey(environment, firmada))]
    }
    expect(await entrar(5 * MINUTE_MS + 1)).toEqual([WRONG_PASSKEY, WRONG_PASSKEY])
    expect(await entrar(-HOUR_MS)).toEqual([WRONG_PASSKEY, WRONG_PASSKEY])
    expect((await entrar(-30_000))[0]![0]).toBe(201)
  })
})
