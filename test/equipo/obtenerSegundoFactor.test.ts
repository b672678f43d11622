import { expect, it } from 'vitest'
import { agregarPasskey, usarPasskeys } from './autenticador.ts'
import { hacerCodigos, nuevaPersona, type PersonaDePrueba, SESION } from './persona.ts'

const { entorno } = usarPasskeys()
const ver = async ({ pedir }: Pick<PersonaDePrueba, 'pedir'>) => (await pedir('GET', `${SESION}/segundo-factor`)).cuerpo

it('tells which second factors a person has, and if it needs one', async () => {
  const { comercio } = await entorno.nuevoComercio()
  const tienda = await nuevaPersona(entorno, { comercio, alcances: ['lectura'] })
  const nada = { obligatorio: false, totp: null, passkeys: 0, codigos_de_recuperacion: 0 }
  expect(await ver(tienda)).toEqual(nada)
  const ana = await nuevaPersona(entorno, { conApp: false })
  expect(await ver(ana)).toEqual({ ...nada, obligatorio: true })
  const { pedir } = await agregarPasskey(entorno, ana)
  await hacerCodigos({ pedir })
  expect(await ver({ pedir })).toEqual({ obligatorio: true, totp: null, passkeys: 1, codigos_de_recuperacion: 10 })
})
