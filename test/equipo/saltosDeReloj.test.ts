import { afterEach, describe, expect, it } from 'vitest'
import { limpiarEntradas } from '../../server/domain/equipo/sesion.ts'
import { HORA, MINUTO } from '../duraciones.ts'
import { hasta } from '../fabricas.ts'
import { agregarPasskey, dicho, entrarConPasskey, firmar, INCORRECTA, RUTA, usarPasskeys } from './autenticador.ts'
import {
  entrarCon,
  galletas,
  nuevaDireccion,
  nuevaPersona,
  type PersonaDePrueba,
  pedirCodigo,
  personaDeComercio,
  porPagina,
  terminarCon,
  usarInvitaciones,
} from './persona.ts'

const { entorno } = usarPasskeys()
const { aceptar, invitar, tokenDe } = usarInvitaciones(entorno)
const DIA = 24 * HORA

let desfase = 0
/** Steps the service's clock; each test ends at the time at which it began. */
const saltar = (ms: number) => {
  desfase += ms
  entorno.adelantar(ms)
}
afterEach(() => saltar(-desfase))
const limpiar = () => limpiarEntradas({ db: entorno.db, reloj: entorno.reloj })
/** Asks for something that needs a proof of presence. */
const registrar = async ({ pedir }: PersonaDePrueba) => (await pedir('POST', `${RUTA}/registro`)).status
const verSesion = async ({ pedir }: PersonaDePrueba) => (await pedir('GET', '/operaciones/v1/sesion')).status

describe('a code, when the clock is stepped', () => {
  it('stays expired once it was, however far the clock goes back', async () => {
    const ana = await nuevaPersona(entorno)
    for (const atras of [HORA, DIA]) {
      const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
      saltar(10 * MINUTO + 1)
      expect(dicho(await entrarCon(entorno, entrada, codigo))).toEqual([401, 'codigo_incorrecto'])
      saltar(-atras)
      expect(dicho(await entrarCon(entorno, entrada, codigo))).toEqual([401, 'codigo_incorrecto'])
      saltar(atras + HORA)
    }
  })

  it('is valid after a step of seconds, and another one is sent after a step of hours', async () => {
    const ana = await personaDeComercio(entorno)
    const cerca = await pedirCodigo(entorno, ana.correo)
    saltar(-30_000)
    expect((await entrarCon(entorno, cerca.entrada, cerca.codigo)).status).toBe(201)
    // Five codes are the maximum of an hour. Those of a time to come count for nothing.
    for (let i = 0; i < 4; i++) await pedirCodigo(entorno, ana.correo)
    const lejos = await pedirCodigo(entorno, ana.correo)
    await entorno.db.pool.query(`delete from correo where tipo = 'codigo'`)
    saltar(-DIA)
    const otro = await pedirCodigo(entorno, ana.correo)
    expect([lejos.codigo, otro.codigo]).toEqual([expect.any(String), expect.any(String)])
    expect((await entrarCon(entorno, otro.entrada, otro.codigo)).status).toBe(201)
  })
})

describe('a proof of presence, when the clock is stepped', () => {
  it('lasts five minutes and no longer, and another one works at once', async () => {
    const ana = await personaDeComercio(entorno)
    saltar(-MINUTO)
    expect(await registrar(ana)).toBe(200)
    saltar(-HORA)
    expect(await registrar(ana)).toBe(403)
    const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
    const cookie = `${ana.cookie}; ${entrada}`
    const probada = await porPagina(entorno, cookie, ['POST', '/operaciones/v1/sesion/presencia', { codigo }])
    expect(probada.status).toBe(200)
    await hasta(async () => (await registrar(ana)) === 200)
    saltar(5 * MINUTO + 1_000)
    expect(await registrar(ana)).toBe(403)
    saltar(-HORA)
    expect(await registrar(ana)).toBe(403)
  })
})

describe('half a sign-in, when the clock is stepped', () => {
  it('stays expired once it was, and is of no use long before it began', async () => {
    const ana = await nuevaPersona(entorno)
    const { codigo, entrada } = await pedirCodigo(entorno, ana.correo)
    const aMedias = galletas((await entrarCon(entorno, entrada, codigo)).cabeceras)
    const terminar = async () => dicho(await terminarCon(entorno, aMedias, ana.app!.codigo()))
    for (const salto of [10 * MINUTO + 1, -HORA]) {
      saltar(salto)
      expect(await terminar()).toEqual([401, 'segundo_factor_incorrecto'])
      saltar(-desfase)
    }
    saltar(10 * MINUTO + 1)
    await limpiar()
    saltar(-desfase)
    expect(await terminar()).toEqual([401, 'segundo_factor_incorrecto'])
  })
})

describe('a session, when the clock is stepped', () => {
  it('stays valid when the clock goes back, and ended when it was ended or cleaned up', async () => {
    const [ana, bea] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    saltar(-DIA)
    expect(await verSesion(ana)).toBe(200)
    expect((await bea.pedir('DELETE', '/operaciones/v1/sesion')).status).toBe(204)
    await hasta(async () => (await verSesion(bea)) === 401)
    saltar(DIA + 12 * HORA + MINUTO)
    expect(await verSesion(ana)).toBe(401)
    await limpiar()
    saltar(-DIA)
    await hasta(async () => (await verSesion(ana)) === 401)
    expect(await verSesion(bea)).toBe(401)
  })
})

describe('an invitation, when the clock is stepped', () => {
  it('is accepted after the clock went back, once, and not after it expired and was cleaned up', async () => {
    const [correo, tarde] = [nuevaDireccion(), nuevaDireccion()]
    await invitar({ correo })
    saltar(-HORA)
    const token = await tokenDe(correo)
    expect((await aceptar(token)).status).toBe(201)
    saltar(2 * HORA)
    expect((await aceptar(token)).status).toBe(403)
    saltar(-HORA)
    await invitar({ correo: tarde })
    const otro = await tokenDe(tarde)
    saltar(DIA + 1)
    expect((await aceptar(otro)).status).toBe(403)
    await limpiar()
    saltar(-HORA)
    expect((await aceptar(otro)).status).toBe(403)
  })
})

describe('a challenge, when the clock is stepped', () => {
  it('that was answered late or in another time is not answered again', async () => {
    const ana = await nuevaPersona(entorno)
    const { autenticador } = await agregarPasskey(entorno, ana)
    const entrar = async (salto: number) => {
      const firmada = await firmar(entorno, autenticador)
      saltar(salto)
      const antes = dicho(await entrarConPasskey(entorno, firmada))
      saltar(-salto)
      return [antes, dicho(await entrarConPasskey(entorno, firmada))]
    }
    expect(await entrar(5 * MINUTO + 1)).toEqual([INCORRECTA, INCORRECTA])
    expect(await entrar(-HORA)).toEqual([INCORRECTA, INCORRECTA])
    expect((await entrar(-30_000))[0]![0]).toBe(201)
  })
})
