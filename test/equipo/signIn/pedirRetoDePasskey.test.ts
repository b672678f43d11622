import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../../server/platform/time/units.ts'
import {
  addPasskey,
  PASSKEYS_PATH,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from '../authenticator.ts'
import { createTestPersona, requestFromPage } from '../persona.ts'

const { environment } = usePasskeys()

describe('signing in with a passkey', () => {
  it('takes a challenge once, in its browser, for five minutes, and of ten at once one', async () => {
    const { autenticador } = await addPasskey(environment, await createTestPersona(environment))
    const [one, other] = [
      await signChallenge(environment, autenticador),
      await signChallenge(environment, autenticador),
    ]
    for (const cookie of ['', other.cookie, `${one.cookie}; ${one.cookie}`])
      expect(toStatusAndCode(await signInWithPasskey(environment, { cookie, body: one.body }))).toEqual(WRONG_PASSKEY)
    const all = await Promise.all(Array.from({ length: 10 }, () => signInWithPasskey(environment, one)))
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)])
    const expired = await signChallenge(environment, autenticador)
    environment.advance(5 * MINUTE_MS)
    expect(toStatusAndCode(await signInWithPasskey(environment, expired))).toEqual(WRONG_PASSKEY)
  })

  it('is for pages of the service alone', async () => {
    const { autenticador } = await addPasskey(environment, await createTestPersona(environment))
    const { cookie, body } = await signChallenge(environment, autenticador)
    const from = { headers: { Origin: 'https://malo.example' } }
    for (const requestData of [`${PASSKEYS_PATH}/entrada`, `${PASSKEYS_PATH}/reto`]) {
      const seen = await requestFromPage(environment, cookie, ['POST', requestData, body], from)
      expect(toStatusAndCode(seen)).toEqual([403, 'origen_no_permitido'])
    }
  })
})
