import { describe, expect, it } from 'vitest'
import { addPasskey, PASSKEYS_PATH, toStatusAndCode, usePasskeys } from '../authenticator.ts'
import { createTestPersona, findPendingCorreo, requestCode, SESION, signInWithCode } from '../persona.ts'

const { environment } = usePasskeys()
const ULTIMO = [409, 'ultimo_segundo_factor']

describe('the last second factor', () => {
  it('cannot be removed by a person of the courier company, neither app nor passkey', async () => {
    const ana = await createTestPersona(environment)
    expect(toStatusAndCode(await ana.request('DELETE', `${SESION}/totp`))).toEqual(ULTIMO)
    const { passkey } = await addPasskey(environment, ana)
    expect((await ana.request('DELETE', `${SESION}/totp`)).status).toBe(204)
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({ que: 'quitado' })
    expect(toStatusAndCode(await ana.request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual(ULTIMO)
    expect((await ana.request('DELETE', `${SESION}/totp`)).status).toBe(204)
    expect((await ana.request('GET', `${SESION}/segundo-factor`)).body).toMatchObject({ totp: null, passkeys: 1 })
  })

  it('stays also if app and passkey are removed at once', async () => {
    const ana = await createTestPersona(environment)
    const { passkey } = await addPasskey(environment, ana)
    const removals = await Promise.all([
      ana.request('DELETE', `${SESION}/totp`),
      ana.request('DELETE', `${PASSKEYS_PATH}/${passkey}`),
    ])
    expect(removals.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  it('can be removed by a person of a merchant, and the code by mail is enough again', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['lectura'], withApp: true })
    expect((await ana.request('GET', `${SESION}/segundo-factor`)).body.obligatorio).toBe(false)
    expect((await ana.request('DELETE', `${SESION}/totp`)).status).toBe(204)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    expect((await signInWithCode(environment, input, codigo)).status).toBe(201)
  })
})
