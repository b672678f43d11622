import { expect, it } from 'vitest'
import { agregarPasskey, dicho, entrarConPasskey, firmar, RUTA, usarPasskeys } from './autenticador.ts'
import { nuevaPersona } from './persona.ts'

const { entorno } = usarPasskeys()

it('a person removes no passkey of another', async () => {
  const [ana, otra] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
  const { autenticador, passkey } = await agregarPasskey(entorno, ana)
  expect(dicho(await otra.pedir('DELETE', `${RUTA}/${passkey}`))).toEqual([404, 'passkey_desconocida'])
  expect((await entrarConPasskey(entorno, await firmar(entorno, autenticador))).status).toBe(201)
})
