import { describe, expect, it } from 'vitest'
import {
  agregarPasskey,
  dicho,
  entrarConPasskey,
  firmar,
  INCORRECTA,
  prepararRegistro,
  RUTA,
  usarPasskeys,
} from './autenticador.ts'
import { correoPendiente, galletas, nuevaPersona, porPagina } from './persona.ts'

const { entorno } = usarPasskeys()

describe('a person with a passkey', () => {
  it('adds it, signs in with it, lists it and removes it', async () => {
    const ana = await nuevaPersona(entorno)
    const { autenticador, passkey, agregada } = await agregarPasskey(entorno, ana)
    expect(agregada.cuerpo).toMatchObject({ dispositivo: 'Otro navegador', sincronizada: false, usado_en: null })
    expect(await correoPendiente(entorno, 'passkey', ana.correo)).toMatchObject({ agregada: true })
    const abierta = await entrarConPasskey(entorno, await firmar(entorno, autenticador))
    expect([abierta.status, abierta.cuerpo.persona]).toEqual([201, ana.persona])
    expect(galletas(abierta.cabeceras)).toMatch(/^guias_sesion=[\w-]{43}; guias_conocido=[^;]+; guias_reto=$/)
    const cookie = galletas(abierta.cabeceras)
    expect((await porPagina(entorno, cookie, ['GET', '/operaciones/v1/sesion'])).status).toBe(200)
    const { datos } = (await ana.pedir('GET', RUTA)).cuerpo
    expect(datos).toEqual([{ ...agregada.cuerpo, usado_en: expect.any(String) }])
    const { registro } = await prepararRegistro(entorno, ana)
    expect(registro.existentes).toEqual([autenticador.credencial])
    expect((await ana.pedir('DELETE', `${RUTA}/${passkey}`)).status).toBe(204)
    expect(await correoPendiente(entorno, 'passkey', ana.correo)).toMatchObject({ agregada: false })
    expect((await ana.pedir('GET', RUTA)).cuerpo).toEqual({ datos: [] })
    expect(dicho(await entrarConPasskey(entorno, await firmar(entorno, autenticador)))).toEqual(INCORRECTA)
    expect(dicho(await ana.pedir('DELETE', `${RUTA}/${passkey}`))).toEqual([404, 'passkey_desconocida'])
  })

  it('is told by mail of a sign-in in a browser in which it was not seen', async () => {
    const ana = await nuevaPersona(entorno)
    const { autenticador } = await agregarPasskey(entorno, ana)
    const { cookie, cuerpo } = await firmar(entorno, autenticador)
    await entrarConPasskey(entorno, { cookie: `${cookie}; ${ana.conocido}`, cuerpo })
    expect(await correoPendiente(entorno, 'entrada', ana.correo)).toBeUndefined()
    await entrarConPasskey(entorno, await firmar(entorno, autenticador))
    expect(await correoPendiente(entorno, 'entrada', ana.correo)).toMatchObject({ nombre: 'Ana Pérez' })
  })

  it('loses it when it is erased', async () => {
    await nuevaPersona(entorno)
    const ana = await nuevaPersona(entorno)
    const { autenticador } = await agregarPasskey(entorno, ana)
    await prepararRegistro(entorno, ana)
    expect((await entorno.operar('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
    const { rows } = await entorno.db.pool.query(
      `select (select count(*) from passkey k where k.persona_id = p.id)::int passkeys,
         (select count(*) from reto_de_passkey r where r.persona_id = p.id)::int retos from persona p where persona = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ passkeys: 0, retos: 0 }])
    expect(dicho(await entrarConPasskey(entorno, await firmar(entorno, autenticador)))).toEqual(INCORRECTA)
  })
})
