import { describe, expect, it } from 'vitest'
import { agregarPasskey, dicho, RUTA, usarPasskeys } from './autenticador.ts'
import { correoPendiente, entrarCon, nuevaPersona, pedirCodigo, SESION } from './persona.ts'

const { entorno } = usarPasskeys()
const ULTIMO = [409, 'ultimo_segundo_factor']

describe('the last second factor', () => {
  it('of a person of the courier company stays, whichever it is', async () => {
    const ana = await nuevaPersona(entorno)
    expect(dicho(await ana.pedir('DELETE', `${SESION}/totp`))).toEqual(ULTIMO)
    const { passkey } = await agregarPasskey(entorno, ana)
    expect((await ana.pedir('DELETE', `${SESION}/totp`)).status).toBe(204)
    expect(await correoPendiente(entorno, 'segundo_factor', ana.correo)).toMatchObject({ que: 'quitado' })
    expect(dicho(await ana.pedir('DELETE', `${RUTA}/${passkey}`))).toEqual(ULTIMO)
    expect((await ana.pedir('DELETE', `${SESION}/totp`)).status).toBe(204)
    expect((await ana.pedir('GET', `${SESION}/segundo-factor`)).cuerpo).toMatchObject({ totp: null, passkeys: 1 })
  })

  it('stays also if app and passkey are removed at once', async () => {
    const ana = await nuevaPersona(entorno)
    const { passkey } = await agregarPasskey(entorno, ana)
    const quitadas = await Promise.all([
      ana.pedir('DELETE', `${SESION}/totp`),
      ana.pedir('DELETE', `${RUTA}/${passkey}`),
    ])
    expect(quitadas.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  it('of a person of a merchant may go, and the code by mail is enough again', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const ana = await nuevaPersona(entorno, { comercio, alcances: ['lectura'], conApp: true })
    expect((await ana.pedir('GET', `${SESION}/segundo-factor`)).cuerpo.obligatorio).toBe(false)
    expect((await ana.pedir('DELETE', `${SESION}/totp`)).status).toBe(204)
    const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
    expect((await entrarCon(entorno, entrada, codigo)).status).toBe(201)
  })
})
