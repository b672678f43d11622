import { describe, expect, it } from 'vitest'
import { HORA, MINUTO } from '../duraciones.ts'
import { usarEntorno } from '../entorno.ts'
import { correoPendiente, nuevaDireccion, nuevaPersona, porPagina, SESION, usarInvitaciones } from './persona.ts'

const entorno = usarEntorno()
const { aceptar, invitar, tokenDe } = usarInvitaciones(entorno)

describe('an invitation', () => {
  it('adds a membership to the person who has the address', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const { correo, persona } = await nuevaPersona(entorno)
    const otra = await nuevaPersona(entorno, { correo, comercio, alcances: ['despacho'] })
    expect(otra.persona).toBe(persona)
    const { cuerpo } = await entorno.operar('GET', `/personas/${persona}`)
    expect(cuerpo.membresias).toMatchObject([{ comercio: null }, { comercio, alcances: ['despacho'] }])
  })

  it('keeps the second factor of a session in the same browser, and gives none to another', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const [ana, eva] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    for (const [cookie, falta] of [
      [ana.cookie, false],
      [eva.cookie, true],
    ] as const) {
      await invitar({
        correo: ana.correo,
        comercio: falta ? (await entorno.nuevoComercio()).comercio : comercio,
        alcances: ['despacho'],
      })
      const pedido = { token: await tokenDe(ana.correo) }
      const abierta = await porPagina(entorno, cookie, ['POST', `${SESION}/invitacion`, pedido])
      expect([abierta.status, abierta.cuerpo.falta_segundo_factor]).toEqual([201, falta])
    }
  })

  it('tells a person who is known of a browser that is not, and a new one of nothing', async () => {
    const ana = await nuevaPersona(entorno)
    expect(await correoPendiente(entorno, 'entrada', ana.correo)).toBeUndefined()
    for (const [cookie, esperado] of [
      [ana.conocido, undefined],
      ['', { nombre: 'Ana Pérez' }],
    ] as const) {
      const { comercio } = await entorno.nuevoComercio()
      await invitar({ correo: ana.correo, comercio, alcances: ['despacho'] })
      const pedido = { token: await tokenDe(ana.correo) }
      expect((await porPagina(entorno, cookie, ['POST', `${SESION}/invitacion`, pedido])).status).toBe(201)
      const aviso = await correoPendiente(entorno, 'entrada', ana.correo)
      if (esperado) expect(aviso).toMatchObject(esperado)
      else expect(aviso).toBeUndefined()
    }
  })

  it('proves the presence of nobody with a second factor', async () => {
    const ana = await nuevaPersona(entorno)
    const { comercio } = await entorno.nuevoComercio()
    await invitar({ correo: ana.correo, comercio, alcances: ['despacho'] })
    entorno.adelantar(10 * MINUTO)
    const pedido = { token: await tokenDe(ana.correo) }
    const { status, cuerpo } = await ana.pedir('POST', `${SESION}/invitacion`, pedido)
    expect([status, cuerpo.falta_segundo_factor]).toEqual([201, false])
    expect(Date.parse(cuerpo.creado_en) - Date.parse(cuerpo.presencia_en)).toBeGreaterThanOrEqual(9 * MINUTO)
  })

  it('ends after 24 hours, and a malformed link is answered alike', async () => {
    const correo = nuevaDireccion()
    await invitar({ correo })
    const token = await tokenDe(correo)
    entorno.adelantar(24 * HORA)
    const respuestas = [
      await aceptar(token),
      await aceptar('A'.repeat(43)),
      await aceptar('x'),
      await aceptar(`${token} `),
    ]
    for (const { status, cuerpo } of respuestas) {
      expect([status, cuerpo.codigo, cuerpo.mensaje]).toEqual([403, 'enlace_invalido', respuestas[0]!.cuerpo.mensaje])
    }
  })
})
