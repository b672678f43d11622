import { describe, expect, it } from 'vitest'
import { agregarPasskey, dicho, prepararRegistro, RUTA, usarPasskeys } from './autenticador.ts'
import { nuevaPersona } from './persona.ts'

const { agregar, entorno } = usarPasskeys()

describe('a person with passkeys', () => {
  it('has ten at most', async () => {
    const ana = await nuevaPersona(entorno)
    const pendiente = await prepararRegistro(entorno, ana)
    for (let i = 0; i < 10; i++) await agregarPasskey(entorno, ana)
    expect(dicho(await ana.pedir('POST', `${RUTA}/registro`))).toEqual([409, 'passkey_no_admitida'])
    expect(dicho(await agregar(pendiente.cookie, pendiente.cuerpo))).toEqual([409, 'passkey_no_admitida'])
  })
})
