import { describe, expect, it } from 'vitest'
import { addPasskey, PASSKEYS_PATH, prepareRegistration, toStatusAndCode, usePasskeys } from './authenticator.ts'
import { createTestPersona } from './persona.ts'

const { agregar, environment: entorno } = usePasskeys()

describe('a person with passkeys', () => {
  it('has ten at most', async () => {
    const ana = await createTestPersona(entorno)
    const pendiente = await prepareRegistration(entorno, ana)
    for (let i = 0; i < 10; i++) await addPasskey(entorno, ana)
    expect(toStatusAndCode(await ana.request('POST', `${PASSKEYS_PATH}/registro`))).toEqual([
      409,
      'passkey_no_admitida',
    ])
    expect(toStatusAndCode(await agregar(pendiente.cookie, pendiente.cuerpo))).toEqual([409, 'passkey_no_admitida'])
  })
})
