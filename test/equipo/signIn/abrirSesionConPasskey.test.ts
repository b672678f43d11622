import { describe, expect, it } from 'vitest'
import {
  Authenticator,
  addPasskey,
  type Deviations,
  OF_OTHER_SITE,
  originOf,
  PASSKEYS_PATH,
  prepareRegistration,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from '../authenticator.ts'
import { createTestPersona, requestFromPage, toCookieHeader } from '../persona.ts'

const { agregar, environment } = usePasskeys()

describe('signing in with a passkey', () => {
  it.each<Deviations>([
    ...OF_OTHER_SITE,
    { reto: 'A'.repeat(43) },
    { tipo: 'webauthn.create' },
    { isVerified: false },
    { usuario: 'AZ4ipHwefUOaMV98LR6LYA' },
    { credencial: 'AAAAAAAAAAAAAAAAAAAAAA' },
  ])('takes no signature with %o', async (bad) => {
    const { autenticador } = await addPasskey(environment, await createTestPersona(environment))
    expect(
      toStatusAndCode(await signInWithPasskey(environment, await signChallenge(environment, autenticador, bad))),
    ).toEqual(WRONG_PASSKEY)
    expect((await signInWithPasskey(environment, await signChallenge(environment, autenticador))).status).toBe(201)
  })

  it('takes no challenge that adds a passkey, and adds none with a challenge that signs in', async () => {
    const ana = await createTestPersona(environment)
    const { autenticador } = await addPasskey(environment, ana)
    const { registro, cookie } = await prepareRegistration(environment, ana)
    const body = autenticador.answerChallenge(registro, originOf(environment))
    expect(toStatusAndCode(await signInWithPasskey(environment, { cookie, body }))).toEqual(WRONG_PASSKEY)
    const { body: reto, headers } = await requestFromPage(environment, '', ['POST', `${PASSKEYS_PATH}/reto`])
    const fresh = new Authenticator().create({ ...reto, usuario: autenticador.usuario }, originOf(environment))
    expect(toStatusAndCode(await agregar(`${ana.cookie}; ${toCookieHeader(headers)}`, fresh))).toEqual(WRONG_PASSKEY)
  })

  it('takes no counter that did not grow, because the passkey may have been copied', async () => {
    const { autenticador } = await addPasskey(environment, await createTestPersona(environment))
    const signInAt = async (contador: number) =>
      (await signInWithPasskey(environment, await signChallenge(environment, autenticador, { contador }))).status
    expect([await signInAt(0), await signInAt(0), await signInAt(4_294_967_295)]).toEqual([201, 201, 201])
    expect([await signInAt(4_294_967_295), await signInAt(7), await signInAt(0)]).toEqual([401, 401, 401])
  })
})
