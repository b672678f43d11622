import { describe, expect, it } from 'vitest'
import { MINUTO } from '../duraciones.ts'
import { agregarPasskey, dicho, entrarConPasskey, firmar, INCORRECTA, RUTA, usarPasskeys } from './autenticador.ts'
import { nuevaPersona, porPagina } from './persona.ts'

const { entorno } = usarPasskeys()

describe('signing in with a passkey', () => {
  it('takes a challenge once, in its browser, for five minutes, and of ten at once one', async () => {
    const { autenticador } = await agregarPasskey(entorno, await nuevaPersona(entorno))
    const [una, otra] = [await firmar(entorno, autenticador), await firmar(entorno, autenticador)]
    for (const cookie of ['', otra.cookie, `${una.cookie}; ${una.cookie}`])
      expect(dicho(await entrarConPasskey(entorno, { cookie, cuerpo: una.cuerpo }))).toEqual(INCORRECTA)
    const todas = await Promise.all(Array.from({ length: 10 }, () => entrarConPasskey(entorno, una)))
    expect(todas.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(401)])
    const vencida = await firmar(entorno, autenticador)
    entorno.adelantar(5 * MINUTO)
    expect(dicho(await entrarConPasskey(entorno, vencida))).toEqual(INCORRECTA)
  })

  it('is for pages of the service alone', async () => {
    const { autenticador } = await agregarPasskey(entorno, await nuevaPersona(entorno))
    const { cookie, cuerpo } = await firmar(entorno, autenticador)
    const desde = { cabeceras: { Origin: 'https://malo.example' } }
    for (const pedido of [`${RUTA}/entrada`, `${RUTA}/reto`]) {
      const visto = await porPagina(entorno, cookie, ['POST', pedido, cuerpo], desde)
      expect(dicho(visto)).toEqual([403, 'origen_no_permitido'])
    }
  })
})
