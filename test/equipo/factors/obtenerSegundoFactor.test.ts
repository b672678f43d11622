import { expect, it } from 'vitest'
import { addPasskey, usePasskeys } from '../authenticator.ts'
import { createTestPersona, makeRecoveryCodes, SESION, type TestPersona } from '../persona.ts'

const { environment } = usePasskeys()
const ver = async ({ request }: Pick<TestPersona, 'request'>) => (await request('GET', `${SESION}/segundo-factor`)).body

it('tells which second factors a person has, and if it needs one', async () => {
  const { comercio } = await environment.createComercio()
  const shop = await createTestPersona(environment, { comercio, alcances: ['lectura'] })
  const nothing = { obligatorio: false, totp: null, passkeys: 0, codigos_de_recuperacion: 0 }
  expect(await ver(shop)).toEqual(nothing)
  const ana = await createTestPersona(environment, { withApp: false })
  expect(await ver(ana)).toEqual({ ...nothing, obligatorio: true })
  const { request } = await addPasskey(environment, ana)
  await makeRecoveryCodes({ request })
  expect(await ver({ request })).toEqual({
    obligatorio: true,
    totp: null,
    passkeys: 1,
    codigos_de_recuperacion: 10,
  })
})
