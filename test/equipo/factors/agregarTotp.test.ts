import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../../server/platform/time/units.ts'
import { waitUntil } from '../../factories.ts'
import { addPasskey, PASSKEYS_PATH, prepareRegistration, toStatusAndCode, usePasskeys } from '../authenticator.ts'
import {
  addApp,
  createTestPersona,
  findPendingCorreo,
  requestFromPage,
  SESION,
  toCookieHeader,
  useInvitaciones,
} from '../persona.ts'
import { createTestApp, PASO } from '../totp.ts'

const { agregar, environment } = usePasskeys()
const { aceptar, invitar, tokenOf } = useInvitaciones(environment)
const MAL = [401, 'segundo_factor_incorrecto']
const FALTA = [403, 'segundo_factor_requerido']
const confirmar = (cookie: string, codigo: unknown) =>
  requestFromPage(environment, cookie, ['POST', `${SESION}/totp`, { codigo }])
const registrar = (cookie: string) => requestFromPage(environment, cookie, ['POST', `${SESION}/totp/registro`])

describe('adding an app', () => {
  it('gives the session another token and all rights, and is told by mail', async () => {
    const ana = await createTestPersona(environment, { withApp: false })
    expect(toStatusAndCode(await ana.request('GET', '/operaciones/v1/personas'))).toEqual(FALTA)
    expect((await ana.request('GET', SESION)).body.falta_segundo_factor).toBe(true)
    const { app, addResponse: agregada, cookie } = await addApp(environment, ana.cookie)
    expect(app.secreto).toMatch(/^[A-Z2-7]{32}$/)
    expect(agregada.body).toMatchObject({ obligatorio: true, totp: { usado_en: null }, codigos_de_recuperacion: 0 })
    expect((await requestFromPage(environment, cookie, ['GET', '/operaciones/v1/personas'])).status).toBe(200)
    await waitUntil(async () => (await ana.request('GET', SESION)).status === 401)
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({ que: 'agregado' })
  })

  it('takes a code of its own secret, within ten minutes, and none before a secret was asked for', async () => {
    const [ana, eva] = [
      await createTestPersona(environment, { withApp: false }),
      await createTestPersona(environment, { withApp: false }),
    ]
    expect(toStatusAndCode(await confirmar(ana.cookie, '000000'))).toEqual(MAL)
    const ofEva = createTestApp(environment, (await registrar(eva.cookie)).body.secreto)
    const old = createTestApp(environment, (await registrar(ana.cookie)).body.secreto)
    const { secreto, uri } = (await registrar(ana.cookie)).body
    expect(new URL(uri).searchParams.get('secret')).toBe(secreto)
    const fresh = createTestApp(environment, secreto)
    for (const codigo of [ofEva.de(0), old.de(0), fresh.de(3), 'x'])
      expect(toStatusAndCode(await confirmar(ana.cookie, codigo))).toEqual(MAL)
    expect((await confirmar(ana.cookie, fresh.de(0))).status).toBe(201)
    // Within the time in which the person is present, so that the secret alone is too old.
    environment.advance(4 * MINUTE_MS)
    await environment.db.pool.query(
      `update segundo_factor set nuevo_vence_en = nuevo_vence_en - interval '6 minutes' where nuevo is not null`,
    )
    expect(toStatusAndCode(await confirmar(eva.cookie, ofEva.de(0)))).toEqual(MAL)
  })

  it('replaces an app only when the new one is confirmed', async () => {
    const ana = await createTestPersona(environment)
    const fresh = createTestApp(environment, (await registrar(ana.cookie)).body.secreto)
    const probar = (codigo: string) => ana.request('POST', `${SESION}/presencia`, { codigo })
    expect((await probar(ana.app!.codigo())).status).toBe(200)
    expect((await confirmar(ana.cookie, fresh.codigo())).status).toBe(201)
    environment.advance(2 * PASO)
    expect((await probar(ana.app!.codigo())).status).toBe(401)
    expect((await probar(fresh.codigo())).status).toBe(200)
  })

  it('needs a session with a second factor once the person has one, also after an invitation', async () => {
    const ana = await createTestPersona(environment)
    const { comercio } = await environment.createComercio()
    await invitar({ correo: ana.correo, comercio, alcances: ['despacho'] })
    const accepted = await aceptar(await tokenOf(ana.correo))
    expect([accepted.status, accepted.body.falta_segundo_factor]).toEqual([201, true])
    const cookie = toCookieHeader(accepted.headers)
    const thief = {
      ...ana,
      cookie,
      request: (m: string, r: string, c?: unknown) => requestFromPage(environment, cookie, [m, r, c]),
    }
    expect(toStatusAndCode(await registrar(cookie))).toEqual(FALTA)
    expect(toStatusAndCode(await confirmar(cookie, '000000'))).toEqual(FALTA)
    const { cookie: challengeCookie, body } = await prepareRegistration(environment, thief)
    expect(toStatusAndCode(await agregar(challengeCookie, body))).toEqual(FALTA)
    // The second factor makes the session whole.
    expect((await thief.request('POST', `${SESION}/presencia`, { codigo: ana.app!.codigo() })).status).toBe(200)
    await waitUntil(async () => !(await thief.request('GET', SESION)).body.falta_segundo_factor)
  })

  it('has one winner if a person without a second factor adds its first one in two browsers at once', async () => {
    const ana = await createTestPersona(environment, { withApp: false })
    await invitar({
      correo: ana.correo,
      comercio: (await environment.createComercio()).comercio,
      alcances: ['despacho'],
    })
    const other = toCookieHeader((await aceptar(await tokenOf(ana.correo))).headers)
    const one = await prepareRegistration(environment, ana)
    const dos = await prepareRegistration(environment, {
      ...ana,
      cookie: other,
      request: (m: string, r: string, c?: unknown) => requestFromPage(environment, other, [m, r, c]),
    })
    const seen = await Promise.all([agregar(one.cookie, one.body), agregar(dos.cookie, dos.body)])
    expect(seen.map(({ status }) => status).sort()).toEqual([201, 403])
  })

  it('needs a proof of presence, and so does a passkey', async () => {
    const ana = await createTestPersona(environment)
    const { passkey, request } = await addPasskey(environment, ana)
    environment.advance(5 * MINUTE_MS + 1)
    await waitUntil(async () => (await registrar(ana.cookie)).status === 403)
    const late = [403, 'presencia_requerida']
    expect(toStatusAndCode(await registrar(ana.cookie))).toEqual(late)
    expect(toStatusAndCode(await confirmar(ana.cookie, '000000'))).toEqual(late)
    expect(toStatusAndCode(await request('DELETE', `${SESION}/totp`))).toEqual(late)
    expect(toStatusAndCode(await request('POST', `${SESION}/codigos-de-recuperacion`))).toEqual(late)
    expect(toStatusAndCode(await request('DELETE', `${PASSKEYS_PATH}/${passkey}`))).toEqual(late)
  })
})
