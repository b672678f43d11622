import { describe, expect, it } from 'vitest'
import { MINUTO } from '../duraciones.ts'
import { hasta } from '../fabricas.ts'
import { agregarPasskey, dicho, prepararRegistro, RUTA, usarPasskeys } from './autenticador.ts'
import { agregarApp, correoPendiente, galletas, nuevaPersona, porPagina, SESION, usarInvitaciones } from './persona.ts'
import { nuevaApp, PASO } from './totp.ts'

const { agregar, entorno } = usarPasskeys()
const { aceptar, invitar, tokenDe } = usarInvitaciones(entorno)
const MAL = [401, 'segundo_factor_incorrecto']
const FALTA = [403, 'segundo_factor_requerido']
const confirmar = (cookie: string, codigo: unknown) =>
  porPagina(entorno, cookie, ['POST', `${SESION}/totp`, { codigo }])
const registrar = (cookie: string) => porPagina(entorno, cookie, ['POST', `${SESION}/totp/registro`])

describe('adding an app', () => {
  it('gives the session another token and all rights, and is told by mail', async () => {
    const ana = await nuevaPersona(entorno, { conApp: false })
    expect(dicho(await ana.pedir('GET', '/operaciones/v1/personas'))).toEqual(FALTA)
    expect((await ana.pedir('GET', SESION)).cuerpo.falta_segundo_factor).toBe(true)
    const { app, agregada, cookie } = await agregarApp(entorno, ana.cookie)
    expect(app.secreto).toMatch(/^[A-Z2-7]{32}$/)
    expect(agregada.cuerpo).toMatchObject({ obligatorio: true, totp: { usado_en: null }, codigos_de_recuperacion: 0 })
    expect((await porPagina(entorno, cookie, ['GET', '/operaciones/v1/personas'])).status).toBe(200)
    await hasta(async () => (await ana.pedir('GET', SESION)).status === 401)
    expect(await correoPendiente(entorno, 'segundo_factor', ana.correo)).toMatchObject({ que: 'agregado' })
  })

  it('takes a code of its own secret, within ten minutes, and none before a secret was asked for', async () => {
    const [ana, eva] = [await nuevaPersona(entorno, { conApp: false }), await nuevaPersona(entorno, { conApp: false })]
    expect(dicho(await confirmar(ana.cookie, '000000'))).toEqual(MAL)
    const deEva = nuevaApp(entorno, (await registrar(eva.cookie)).cuerpo.secreto)
    const vieja = nuevaApp(entorno, (await registrar(ana.cookie)).cuerpo.secreto)
    const { secreto, uri } = (await registrar(ana.cookie)).cuerpo
    expect(new URL(uri).searchParams.get('secret')).toBe(secreto)
    const nueva = nuevaApp(entorno, secreto)
    for (const codigo of [deEva.de(0), vieja.de(0), nueva.de(3), 'x'])
      expect(dicho(await confirmar(ana.cookie, codigo))).toEqual(MAL)
    expect((await confirmar(ana.cookie, nueva.de(0))).status).toBe(201)
    // Within the time in which the person is present, so that the secret alone is too old.
    entorno.adelantar(4 * MINUTO)
    await entorno.db.pool.query(
      `update segundo_factor set nuevo_vence_en = nuevo_vence_en - interval '6 minutes' where nuevo is not null`,
    )
    expect(dicho(await confirmar(eva.cookie, deEva.de(0)))).toEqual(MAL)
  })

  it('replaces an app only when the new one is confirmed', async () => {
    const ana = await nuevaPersona(entorno)
    const nueva = nuevaApp(entorno, (await registrar(ana.cookie)).cuerpo.secreto)
    const probar = (codigo: string) => ana.pedir('POST', `${SESION}/presencia`, { codigo })
    expect((await probar(ana.app!.codigo())).status).toBe(200)
    expect((await confirmar(ana.cookie, nueva.codigo())).status).toBe(201)
    entorno.adelantar(2 * PASO)
    expect((await probar(ana.app!.codigo())).status).toBe(401)
    expect((await probar(nueva.codigo())).status).toBe(200)
  })

  it('needs a session with a second factor once the person has one, also after an invitation', async () => {
    const ana = await nuevaPersona(entorno)
    const { comercio } = await entorno.nuevoComercio()
    await invitar({ correo: ana.correo, comercio, alcances: ['despacho'] })
    const abierta = await aceptar(await tokenDe(ana.correo))
    expect([abierta.status, abierta.cuerpo.falta_segundo_factor]).toEqual([201, true])
    const cookie = galletas(abierta.cabeceras)
    const ladrona = {
      ...ana,
      cookie,
      pedir: (m: string, r: string, c?: unknown) => porPagina(entorno, cookie, [m, r, c]),
    }
    expect(dicho(await registrar(cookie))).toEqual(FALTA)
    expect(dicho(await confirmar(cookie, '000000'))).toEqual(FALTA)
    const { cookie: conReto, cuerpo } = await prepararRegistro(entorno, ladrona)
    expect(dicho(await agregar(conReto, cuerpo))).toEqual(FALTA)
    // The second factor makes the session whole.
    expect((await ladrona.pedir('POST', `${SESION}/presencia`, { codigo: ana.app!.codigo() })).status).toBe(200)
    await hasta(async () => !(await ladrona.pedir('GET', SESION)).cuerpo.falta_segundo_factor)
  })

  it('has one winner if a person without a second factor adds its first one in two browsers at once', async () => {
    const ana = await nuevaPersona(entorno, { conApp: false })
    await invitar({ correo: ana.correo, comercio: (await entorno.nuevoComercio()).comercio, alcances: ['despacho'] })
    const otra = galletas((await aceptar(await tokenDe(ana.correo))).cabeceras)
    const una = await prepararRegistro(entorno, ana)
    const dos = await prepararRegistro(entorno, {
      ...ana,
      cookie: otra,
      pedir: (m: string, r: string, c?: unknown) => porPagina(entorno, otra, [m, r, c]),
    })
    const vistas = await Promise.all([agregar(una.cookie, una.cuerpo), agregar(dos.cookie, dos.cuerpo)])
    expect(vistas.map(({ status }) => status).sort()).toEqual([201, 403])
  })

  it('needs a proof of presence, and so does a passkey', async () => {
    const ana = await nuevaPersona(entorno)
    const { passkey, pedir } = await agregarPasskey(entorno, ana)
    entorno.adelantar(5 * MINUTO + 1)
    await hasta(async () => (await registrar(ana.cookie)).status === 403)
    const tarde = [403, 'presencia_requerida']
    expect(dicho(await registrar(ana.cookie))).toEqual(tarde)
    expect(dicho(await confirmar(ana.cookie, '000000'))).toEqual(tarde)
    expect(dicho(await pedir('DELETE', `${SESION}/totp`))).toEqual(tarde)
    expect(dicho(await pedir('POST', `${SESION}/codigos-de-recuperacion`))).toEqual(tarde)
    expect(dicho(await pedir('DELETE', `${RUTA}/${passkey}`))).toEqual(tarde)
  })
})
