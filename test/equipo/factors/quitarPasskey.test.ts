import { expect, it } from 'vitest'
import {
  addPasskey,
  PASSKEYS_PATH,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
} from '../authenticator.ts'
import { createTestPersona } from '../persona.ts'

const { environment } = usePasskeys()

it('a person removes no passkey of another', async () => {
  const [ana, other] = [await createTestPersona(environment), await createTestPersona(environment)]
  const { autenticador, passkey } = await addPasskey(environment, ana)
  expect(toStatusAndCode(await other.request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual([
    404,
    'passkey_desconocida',
  ])
  expect((await signInWithPasskey(environment, await signChallenge(environment, autenticador))).status).toBe(201)
})
