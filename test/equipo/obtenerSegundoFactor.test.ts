import { expect, it } from 'vitest'
import { addPasskey, usePasskeys } from './authenticator.ts'
import { createTestPersona, makeRecoveryCodes, SESION, type TestPersona } from './persona.ts'

const { environment: entorno } = usePasskeys()
const ver = async ({ request: pedir }: Pick<TestPersona, 'request'>) =>
  (await pedir('GET', `${SESION}/segundo-factor`)).cuerpo

it('tells which second factors a person has, and if it needs one', async () => {
  const { comercio } = await entorno.nuevoComercio()
  const tienda = await createTestPersona(entorno, { comercio, alcances: ['lectura'] })
  const nada = { obligatorio: false, totp: null, passkeys: 0, codigos_de_recuperacion: 0 }
  expect(await ver(tienda)).toEqual(nada)
  const ana = await createTestPersona(entorno, { conApp: false })
  expect(await ver(ana)).toEqual({ ...nada, obligatorio: true })
  const { request: pedir } = await addPasskey(entorno, ana)
  await makeRecoveryCodes({ request: pedir })
  expect(await ver({ request: pedir })).toEqual({
    obligatorio: true,
    totp: null,
    passkeys: 1,
    codigos_de_recuperacion: 10,
  })
})
