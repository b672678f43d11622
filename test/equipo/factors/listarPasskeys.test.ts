import { describe, expect, it } from 'vitest'
import {
  addPasskey,
  PASSKEYS_PATH,
  prepareRegistration,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from '../authenticator.ts'
import { createTestPersona, findPendingCorreo, requestFromPage, toCookieHeader } from '../persona.ts'

const { environment } = usePasskeys()

describe('a person with a passkey', () => {
  it('adds it, signs in with it, lists it and removes it', async () => {
    const ana = await createTestPersona(environment)
    const { autenticador, passkey, addResponse: agregada } = await addPasskey(environment, ana)
    expect(agregada.body).toMatchObject({ dispositivo: 'Otro navegador', sincronizada: false, usado_en: null })
    expect(await findPendingCorreo(environment, 'passkey', ana.correo)).toMatchObject({ agregada: true })
    const signedIn = await signInWithPasskey(environment, await signChallenge(environment, autenticador))
    expect([signedIn.status, signedIn.body.persona]).toEqual([201, ana.persona])
    expect(toCookieHeader(signedIn.headers)).toMatch(/^guias_sesion=[\w-]{43}; guias_conocido=[^;]+; guias_reto=$/)
    const cookie = toCookieHeader(signedIn.headers)
    expect((await requestFromPage(environment, cookie, ['GET', '/operaciones/v1/sesion'])).status).toBe(200)
    const { datos } = (await ana.request('GET', PASSKEYS_PATH)).body
    expect(datos).toEqual([{ ...agregada.body, usado_en: expect.any(String) }])
    const { registro } = await prepareRegistration(environment, ana)
    expect(registro.existentes).toEqual([autenticador.credencial])
    expect((await ana.request('DELETE', `${PASSKEYS_PATH}/${passkey}`)).status).toBe(204)
    expect(await findPendingCorreo(environment, 'passkey', ana.correo)).toMatchObject({ agregada: false })
    expect((await ana.request('GET', PASSKEYS_PATH)).body).toEqual({ datos: [] })
    expect(
      toStatusAndCode(await signInWithPasskey(environment, await signChallenge(environment, autenticador))),
    ).toEqual(WRONG_PASSKEY)
    expect(toStatusAndCode(await ana.request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual([
      404,
      'passkey_desconocida',
    ])
  })

  it('is told by mail of a sign-in in a browser in which it was not seen', async () => {
    const ana = await createTestPersona(environment)
    const { autenticador } = await addPasskey(environment, ana)
    const { cookie, body } = await signChallenge(environment, autenticador)
    await signInWithPasskey(environment, { cookie: `${cookie}; ${ana.known}`, body })
    expect(await findPendingCorreo(environment, 'entrada', ana.correo)).toBeUndefined()
    await signInWithPasskey(environment, await signChallenge(environment, autenticador))
    expect(await findPendingCorreo(environment, 'entrada', ana.correo)).toMatchObject({ nombre: 'Ana Pérez' })
  })

  it('loses it when it is erased', async () => {
    await createTestPersona(environment)
    const ana = await createTestPersona(environment)
    const { autenticador } = await addPasskey(environment, ana)
    await prepareRegistration(environment, ana)
    expect((await environment.asOperador('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
    const { rows } = await environment.db.pool.query(
      `select (select count(*) from passkey k where k.persona_id = p.id)::int passkeys,
         (select count(*) from reto_de_passkey r where r.persona_id = p.id)::int retos from persona p where persona = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ passkeys: 0, retos: 0 }])
    expect(
      toStatusAndCode(await signInWithPasskey(environment, await signChallenge(environment, autenticador))),
    ).toEqual(WRONG_PASSKEY)
  })
})
