import { describe, expect, it } from 'vitest'
import {
  type Deviations,
  OF_OTHER_SITE,
  PASSKEYS_PATH,
  prepareRegistration,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from '../authenticator.ts'
import { createTestPersona } from '../persona.ts'

const { agregar, environment } = usePasskeys()

describe('adding a passkey', () => {
  it.each<Deviations>([
    ...OF_OTHER_SITE,
    { reto: 'A'.repeat(43) },
    { tipo: 'webauthn.get' },
    { isVerified: false },
    { fmt: 'android-safetynet' },
  ])('takes no answer with %o', async (bad) => {
    const { cookie, body } = await prepareRegistration(environment, await createTestPersona(environment), bad)
    expect(toStatusAndCode(await agregar(cookie, body))).toEqual(WRONG_PASSKEY)
  })

  it('takes a challenge once, of the same person, and no credential that a person has', async () => {
    const [ana, other] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { autenticador, cookie, body } = await prepareRegistration(environment, ana)
    const reto = cookie.split('; ').at(-1)
    expect(toStatusAndCode(await agregar(`${other.cookie}; ${reto}`, body))).toEqual(WRONG_PASSKEY)
    expect((await agregar(cookie, body)).status).toBe(201)
    expect(toStatusAndCode(await agregar(cookie, body))).toEqual(WRONG_PASSKEY)
    const secondRegistration = await prepareRegistration(environment, other, {}, autenticador)
    expect(toStatusAndCode(await agregar(secondRegistration.cookie, secondRegistration.body))).toEqual(WRONG_PASSKEY)
  })

  it('stops at ten passkeys, also if ten arrive at once', async () => {
    const ana = await createTestPersona(environment)
    const startedRegistrations: Awaited<ReturnType<typeof prepareRegistration>>[] = []
    for (let i = 0; i < 14; i++) startedRegistrations.push(await prepareRegistration(environment, ana))
    for (const { cookie, body } of startedRegistrations.slice(0, 4))
      expect((await agregar(cookie, body)).status).toBe(201)
    const hechas = await Promise.all(startedRegistrations.slice(4).map(({ cookie, body }) => agregar(cookie, body)))
    const codigos = hechas.map(({ status, body }) => (status === 201 ? 201 : `${status} ${body.codigo}`)).sort()
    expect(codigos).toEqual([
      ...Array.from({ length: 6 }, () => 201),
      ...Array.from({ length: 4 }, () => '409 passkey_no_admitida'),
    ])
    expect((await ana.request('GET', PASSKEYS_PATH)).body.datos).toHaveLength(10)
    expect(toStatusAndCode(await ana.request('POST', `${PASSKEYS_PATH}/registro`))).toEqual([
      409,
      'passkey_no_admitida',
    ])
  })
})
