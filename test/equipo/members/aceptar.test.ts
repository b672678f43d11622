import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { prepareRegistration, toStatusAndCode, usePasskeys } from '../authenticator.ts'
import {
  addApp,
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  requestCode,
  requestFromPage,
  SESION,
  signInWithCode,
  toCookieHeader,
  useInvitaciones,
} from '../persona.ts'
import { createScriptlessBrowser } from '../withoutScript.ts'

const { environment } = usePasskeys()
const { aceptar, invitar, tokenOf } = useInvitaciones(environment)

describe('an invitation to the courier company', () => {
  it('needs the code that the inviter got, which the mail does not have', async () => {
    const correo = createCorreoAddress()
    const { codigo } = (await invitar({ correo })).body
    expect(codigo).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(JSON.stringify(await findPendingCorreo(environment, 'invitacion', correo))).not.toContain(codigo)
    const token = await tokenOf(correo)
    const caseWithout = await aceptar(token, { codigo: undefined })
    expect([caseWithout.status, caseWithout.body.errores[0].campo]).toEqual([422, '/codigo'])
    for (const bad of ['AAAA-AAAA', '481516', codigo.slice(0, 8)])
      expect(toStatusAndCode(await aceptar(token, { codigo: bad }))).toEqual([401, 'codigo_incorrecto'])
    expect((await aceptar(token, { codigo: ` ${codigo.replace('-', ' ').toLowerCase()}` })).status).toBe(201)
  })

  it('ends with the fifth wrong code, also at once, and each one is recorded', async () => {
    const correo = createCorreoAddress()
    const { codigo, invitacion } = (await invitar({ correo })).body
    const token = await tokenOf(correo)
    const bad = await Promise.all(Array.from({ length: 7 }, () => aceptar(token, { codigo: 'AAAA-AAAA' })))
    expect(bad.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 403, 403])
    expect(toStatusAndCode(await aceptar(token, { codigo }))).toEqual([403, 'enlace_invalido'])
    const { rows } = await environment.db.pool.query(
      `select quien_tipo from bitacora where accion = 'fallarCodigoDeInvitacion' and sobre = $1`,
      [invitacion],
    )
    expect(rows).toEqual(Array(5).fill({ quien_tipo: 'desconocido' }))
  })

  it('from a version without codes is not valid, and an invitation to a merchant needs no code', async () => {
    const correo = createCorreoAddress()
    await invitar({ correo })
    await environment.db.pool.query('update invitacion set codigo_hash = null where correo = $1', [correo])
    expect(toStatusAndCode(await aceptar(await tokenOf(correo)))).toEqual([403, 'enlace_invalido'])
    const { comercio } = await environment.createComercio()
    const shop = await invitar({ correo, comercio, alcances: ['despacho'] })
    expect(shop.body.codigo).toBeNull()
    expect((await aceptar(await tokenOf(correo), { codigo: undefined })).status).toBe(201)
  })
})

describe('a person who reads the mail of a member without a second factor', () => {
  const entrar = async (correo: string) => {
    const { codigo, signInCookie: input } = await requestCode(environment, correo)
    return toCookieHeader((await signInWithCode(environment, input, codigo)).headers).split('; ')[0]!
  }

  it('signs in and adds none, neither app nor passkey, and the page says what helps', async () => {
    const ana = await createTestPersona(environment, { withApp: false })
    const cookie = await entrar(ana.correo)
    const registro = await requestFromPage(environment, cookie, ['POST', `${SESION}/totp/registro`])
    expect([registro.status, registro.body.mensaje]).toEqual([403, expect.stringContaining('le invite otra vez')])
    const { cookie: challengeCookie, body } = await prepareRegistration(environment, {
      ...ana,
      cookie,
      request: (...requestData) =>
        requestFromPage(environment, cookie, [requestData[0], requestData[1], requestData[2]]),
    })
    expect(
      toStatusAndCode(await requestFromPage(environment, challengeCookie, ['POST', `${SESION}/passkeys`, body])),
    ).toEqual([403, 'segundo_factor_requerido'])
    const { texto: text } = await createScriptlessBrowser(environment, cookie).visit('/cuenta')
    expect(text).toContain('le invite otra vez')
    expect(text).not.toContain('Usar una app de códigos')
  })

  it('is shut out by an invitation with its code, which changes no scopes and lets the member add one', async () => {
    const ana = await createTestPersona(environment, { withApp: false, alcances: ['ver', 'operar'] })
    const other = await invitar({ correo: ana.correo, alcances: ['ver'] })
    expect([other.status, other.body.alcances]).toEqual([201, ['ver', 'operar']])
    const accepted = await aceptar(await tokenOf(ana.correo))
    expect([accepted.status, accepted.body]).toMatchObject([
      201,
      { persona: ana.persona, membresias: [{ alcances: ['ver', 'operar'] }] },
    ])
    await addApp(environment, toCookieHeader(accepted.headers).split('; ')[0]!)
    expect(toStatusAndCode(await invitar({ correo: ana.correo }))).toEqual([409, 'persona_repetida'])
  })

  it('is shut out only by an inviter who has all scopes of the member', async () => {
    const ana = await createTestPersona(environment, { withApp: false, alcances: ['ver', 'caja'] })
    const admin = await createTestPersona(environment, { alcances: ['ver', 'administrar'] })
    const body = { correo: ana.correo, nombre: 'Ana', alcances: ['ver'] }
    expect(toStatusAndCode(await admin.request('POST', '/operaciones/v1/invitaciones', body))).toEqual([
      403,
      'alcance_insuficiente',
    ])
  })
})

describe('an invitation', () => {
  it('adds a membership to the person who has the address', async () => {
    const { comercio } = await environment.createComercio()
    const { correo, persona } = await createTestPersona(environment)
    const other = await createTestPersona(environment, { correo, comercio, alcances: ['despacho'] })
    expect(other.persona).toBe(persona)
    const { body } = await environment.asOperador('GET', `/personas/${persona}`)
    expect(body.membresias).toMatchObject([{ comercio: null }, { comercio, alcances: ['despacho'] }])
  })

  it('keeps the second factor of a session in the same browser, and gives none to another', async () => {
    const { comercio } = await environment.createComercio()
    const [ana, eva] = [await createTestPersona(environment), await createTestPersona(environment)]
    for (const [cookie, missing] of [
      [ana.cookie, false],
      [eva.cookie, true],
    ] as const) {
      await invitar({
        correo: ana.correo,
        comercio: missing ? (await environment.createComercio()).comercio : comercio,
        alcances: ['despacho'],
      })
      const requestData = { token: await tokenOf(ana.correo) }
      const accepted = await requestFromPage(environment, cookie, ['POST', `${SESION}/invitacion`, requestData])
      expect([accepted.status, accepted.body.falta_segundo_factor]).toEqual([201, missing])
    }
  })

  it('tells a person who is known of a browser that is not, and a new one of nothing', async () => {
    const ana = await createTestPersona(environment)
    expect(await findPendingCorreo(environment, 'entrada', ana.correo)).toBeUndefined()
    for (const [cookie, expected] of [
      [ana.known, undefined],
      ['', { nombre: 'Ana Pérez' }],
    ] as const) {
      const { comercio } = await environment.createComercio()
      await invitar({ correo: ana.correo, comercio, alcances: ['despacho'] })
      const requestData = { token: await tokenOf(ana.correo) }
      expect((await requestFromPage(environment, cookie, ['POST', `${SESION}/invitacion`, requestData])).status).toBe(
        201,
      )
      const aviso = await findPendingCorreo(environment, 'entrada', ana.correo)
      if (expected) expect(aviso).toMatchObject(expected)
      else expect(aviso).toBeUndefined()
    }
  })

  it('proves the presence of nobody with a second factor', async () => {
    const ana = await createTestPersona(environment)
    const { comercio } = await environment.createComercio()
    await invitar({ correo: ana.correo, comercio, alcances: ['despacho'] })
    environment.advance(10 * MINUTE_MS)
    const requestData = { token: await tokenOf(ana.correo) }
    const { status, body } = await ana.request('POST', `${SESION}/invitacion`, requestData)
    expect([status, body.falta_segundo_factor]).toEqual([201, false])
    expect(Date.parse(body.creado_en) - Date.parse(body.presencia_en)).toBeGreaterThanOrEqual(9 * MINUTE_MS)
  })

  it('ends after 24 hours, and a malformed link is answered alike', async () => {
    const correo = createCorreoAddress()
    await invitar({ correo })
    const token = await tokenOf(correo)
    environment.advance(24 * HOUR_MS)
    const responses = [
      await aceptar(token),
      await aceptar('A'.repeat(43)),
      await aceptar('x'),
      await aceptar(`${token} `),
    ]
    for (const { status, body } of responses) {
      expect([status, body.codigo, body.mensaje]).toEqual([403, 'enlace_invalido', responses[0]!.body.mensaje])
    }
  })
})
