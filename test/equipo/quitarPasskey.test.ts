import { expect, it } from 'vitest'
import {
  addPasskey,
  PASSKEYS_PATH,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
} from './authenticator.ts'
import { createTestPersona } from './persona.ts'

const { environment: entorno } = usePasskeys()

it('a person removes no passkey of another', async () => {
  const [ana, otra] = [await createTestPersona(entorno), await createTestPersona(entorno)]
  const { autenticador, passkey } = await addPasskey(entorno, ana)
  expect(toStatusAndCode(await otra.request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual([
    404,
    'passkey_desconocida',
  ])
  expect((await signInWithPasskey(entorno, await signChallenge(entorno, autenticador))).status).toBe(201)
})
