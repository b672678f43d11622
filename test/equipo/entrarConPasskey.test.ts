import { describe, expect, it } from 'vitest'
import {
  Autenticador,
  agregarPasskey,
  type Desvios,
  dicho,
  entrarConPasskey,
  firmar,
  INCORRECTA,
  origenDe,
  prepararRegistro,
  RUTA,
  usarPasskeys,
} from './autenticador.ts'
import { galletas, nuevaPersona, porPagina } from './persona.ts'

const { agregar, entorno } = usarPasskeys()
const otroSitio: Desvios[] = [{ origen: 'https://malo.example' }, { dominio: 'malo.example' }]

describe('signing in with a passkey', () => {
  it.each<Desvios>([
    ...otroSitio,
    { reto: 'A'.repeat(43) },
    { tipo: 'webauthn.create' },
    { verificada: false },
    { usuario: 'AZ4ipHwefUOaMV98LR6LYA' },
    { credencial: 'AAAAAAAAAAAAAAAAAAAAAA' },
  ])('takes no signature with %o', async (mal) => {
    const { autenticador } = await agregarPasskey(entorno, await nuevaPersona(entorno))
    expect(dicho(await entrarConPasskey(entorno, await firmar(entorno, autenticador, mal)))).toEqual(INCORRECTA)
    expect((await entrarConPasskey(entorno, await firmar(entorno, autenticador))).status).toBe(201)
  })

  it('takes no challenge that adds a passkey, and adds none with a challenge that signs in', async () => {
    const ana = await nuevaPersona(entorno)
    const { autenticador } = await agregarPasskey(entorno, ana)
    const { registro, cookie } = await prepararRegistro(entorno, ana)
    const cuerpo = autenticador.firmar(registro, origenDe(entorno))
    expect(dicho(await entrarConPasskey(entorno, { cookie, cuerpo }))).toEqual(INCORRECTA)
    const { cuerpo: reto, cabeceras } = await porPagina(entorno, '', ['POST', `${RUTA}/reto`])
    const nueva = new Autenticador().crear({ ...reto, usuario: autenticador.usuario }, origenDe(entorno))
    expect(dicho(await agregar(`${ana.cookie}; ${galletas(cabeceras)}`, nueva))).toEqual(INCORRECTA)
  })

  it('takes no counter that did not grow, because the passkey may have been copied', async () => {
    const { autenticador } = await agregarPasskey(entorno, await nuevaPersona(entorno))
    const con = async (contador: number) =>
      (await entrarConPasskey(entorno, await firmar(entorno, autenticador, { contador }))).status
    expect([await con(0), await con(0), await con(4_294_967_295)]).toEqual([201, 201, 201])
    expect([await con(4_294_967_295), await con(7), await con(0)]).toEqual([401, 401, 401])
  })
})
