import { describe, expect, it } from 'vitest'
import { addPasskey, PASSKEYS_PATH, prepareRegistration, toStatusAndCode, usePasskeys } from '../authenticator.ts'
import { createTestPersona } from '../persona.ts'

const { agregar, environment } = usePasskeys()

describe('a person with passkeys', () => {
  it('has ten at most', async () => {
    const ana = await createTestPersona(environment)
    const pending = await prepareRegistration(environment, ana)
    for (let i = 0; i < 10; i++) await addPasskey(environment, ana)
    expect(toStatusAndCode(await ana.request('POST', `${PASSKEYS_PATH}/registro`))).toEqual([
      409,
      'passkey_no_admitida',
    ])
    expect(toStatusAndCode(await agregar(pending.cookie, pending.body))).toEqual([409, 'passkey_no_admitida'])
  })
})
