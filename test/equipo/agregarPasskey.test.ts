import { describe, expect, it } from 'vitest'
import {
  type Deviations,
  PASSKEYS_PATH,
  prepareRegistration,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from './authenticator.ts'
import { createTestPersona } from './persona.ts'

const { agregar, environment } = usePasskeys()
const otroSitio: Deviations[] = [{ origen: 'https://malo.example' }, { dominio: 'malo.example' }]

describe('adding a passkey', () => {
  it.each<Deviations>([
    ...otroSitio,
    { reto: 'A'.repeat(43) },
    { tipo: 'webauthn.get' },
    { isVerified: false },
    { fmt: 'android-safetynet' },
  ])('takes no answer with %o', async (bad) => {
    const { cookie, cuerpo } = await prepareRegistration(environment, await createTestPersona(environment), bad)
    expect(toStatusAndCode(await agregar(cookie, cuerpo))).toEqual(WRONG_PASSKEY)
  })

  it('takes a challenge once, of the same person, and no credential that a person has', async () => {
    const [ana, other] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { autenticador, cookie, cuerpo } = await prepareRegistration(environment, ana)
    const reto = cookie.split('; ').at(-1)
    expect(toStatusAndCode(await agregar(`${other.cookie}; ${reto}`, cuerpo))).toEqual(WRONG_PASSKEY)
    expect((await agregar(cookie, cuerpo)).status).toBe(201)
    expect(toStatusAndCode(await agregar(cookie, cuerpo))).toEqual(WRONG_PASSKEY)
    const copia = await prepareRegistration(environment, other, {}, autenticador)
    expect(toStatusAndCode(await agregar(copia.cookie, copia.cuerpo))).toEqual(WRONG_PASSKEY)
  })

  it('stops at ten passkeys, also if ten arrive at once', async () => {
    const ana = await createTestPersona(environment)
    const empezadas: Awaited<ReturnType<typeof prepareRegistration>>[] = []
    for (let i = 0; i < 14; i++) empezadas.push(await prepareRegistration(environment, ana))
    for (const { cookie, cuerpo } of empezadas.slice(0, 4)) expect((await agregar(cookie, cuerpo)).status).toBe(201)
    const hechas = await Promise.all(empezadas.slice(4).map(({ cookie, cuerpo }) => agregar(cookie, cuerpo)))
    const codigos = hechas.map(({ status, cuerpo }) => (status === 201 ? 201 : `${status} ${cuerpo.codigo}`)).sort()
    expect(codigos).toEqual([
      ...Array.from({ length: 6 }, () => 201),
      ...Array.from({ length: 4 }, () => '409 passkey_no_admitida'),
    ])
    expect((await ana.request('GET', PASSKEYS_PATH)).cuerpo.datos).toHaveLength(10)
    expect(toStatusAndCode(await ana.request('POST', `${PASSKEYS_PATH}/registro`))).toEqual([
      409,
      'passkey_no_admitida',
    ])
  })
})
