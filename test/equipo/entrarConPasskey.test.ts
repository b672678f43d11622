import { describe, expect, it } from 'vitest'
import {
  Authenticator,
  addPasskey,
  type Deviations,
  originOf,
  PASSKEYS_PATH,
  prepareRegistration,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from './authenticator.ts'
import { createTestPersona, requestFromPage, toCookieHeader } from './persona.ts'

const { agregar, environment: entorno } = usePasskeys()
const otroSitio: Deviations[] = [{ origen: 'https://malo.example' }, { dominio: 'malo.example' }]

describe('signing in with a passkey', () => {
  it.each<Deviations>([
    ...otroSitio,
    { reto: 'A'.repeat(43) },
    { tipo: 'webauthn.create' },
    { isVerified: false },
    { usuario: 'AZ4ipHwefUOaMV98LR6LYA' },
    { credencial: 'AAAAAAAAAAAAAAAAAAAAAA' },
  ])('takes no signature with %o', async (mal) => {
    const { autenticador } = await addPasskey(entorno, await createTestPersona(entorno))
    expect(toStatusAndCode(await signInWithPasskey(entorno, await signChallenge(entorno, autenticador, mal)))).toEqual(
      WRONG_PASSKEY,
    )
    expect((await signInWithPasskey(entorno, await signChallenge(entorno, autenticador))).status).toBe(201)
  })

  it('takes no challenge that adds a passkey, and adds none with a challenge that signs in', async () => {
    const ana = await createTestPersona(entorno)
    const { autenticador } = await addPasskey(entorno, ana)
    const { registro, cookie } = await prepareRegistration(entorno, ana)
    const cuerpo = autenticador.answerChallenge(registro, originOf(entorno))
    expect(toStatusAndCode(await signInWithPasskey(entorno, { cookie, cuerpo }))).toEqual(WRONG_PASSKEY)
    const { cuerpo: reto, cabeceras } = await requestFromPage(entorno, '', ['POST', `${PASSKEYS_PATH}/reto`])
    const nueva = new Authenticator().create({ ...reto, usuario: autenticador.usuario }, originOf(entorno))
    expect(toStatusAndCode(await agregar(`${ana.cookie}; ${toCookieHeader(cabeceras)}`, nueva))).toEqual(WRONG_PASSKEY)
  })

  it('takes no counter that did not grow, because the passkey may have been copied', async () => {
    const { autenticador } = await addPasskey(entorno, await createTestPersona(entorno))
    const con = async (contador: number) =>
      (await signInWithPasskey(entorno, await signChallenge(entorno, autenticador, { contador }))).status
    expect([await con(0), await con(0), await con(4_294_967_295)]).toEqual([201, 201, 201])
    expect([await con(4_294_967_295), await con(7), await con(0)]).toEqual([401, 401, 401])
  })
})
