import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import {
  addPasskey,
  PASSKEYS_PATH,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from './authenticator.ts'
import { createTestPersona, requestFromPage } from './persona.ts'

const { environment: entorno } = usePasskeys()

describe('signing in with a passkey', () => {
  it('takes a challenge once, in its browser, for five minutes, and of ten at once one', async () => {
    const { autenticador } = await addPasskey(entorno, await createTestPersona(entorno))
    const [una, otra] = [await signChallenge(entorno, autenticador), await signChallenge(entorno, autenticador)]
    for (const cookie of ['', otra.cookie, `${una.cookie}; ${una.cookie}`])
      expect(toStatusAndCode(await signInWithPasskey(entorno, { cookie, cuerpo: una.cuerpo }))).toEqual(WRONG_PASSKEY)
    const todas = await Promise.all(Array.from({ length: 10 }, () => signInWithPasskey(entorno, una)))
    expect(todas.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)])
    const vencida = await signChallenge(entorno, autenticador)
    entorno.advance(5 * MINUTE_MS)
    expect(toStatusAndCode(await signInWithPasskey(entorno, vencida))).toEqual(WRONG_PASSKEY)
  })

  it('is for pages of the service alone', async () => {
    const { autenticador } = await addPasskey(entorno, await createTestPersona(entorno))
    const { cookie, cuerpo } = await signChallenge(entorno, autenticador)
    const desde = { cabeceras: { Origin: 'https://malo.example' } }
    for (const pedido of [`${PASSKEYS_PATH}/entrada`, `${PASSKEYS_PATH}/reto`]) {
      const visto = await requestFromPage(entorno, cookie, ['POST', pedido, cuerpo], desde)
      expect(toStatusAndCode(visto)).toEqual([403, 'origen_no_permitido'])
    }
  })
})
