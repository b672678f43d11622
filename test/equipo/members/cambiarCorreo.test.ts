import { beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { toStatusAndCode } from '../authenticator.ts'
import {
  createComercioPersona,
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  requestCode,
  requestFromPage,
  requestOtherCorreo,
  SESION,
  signInFully,
  signInWithCode,
  type TestPersona,
  toCookieHeader,
  useInvitaciones,
} from '../persona.ts'

const limits = { now: 0 }
const environment = useEnvironment({ limitsClock: () => limits.now })
/** The limits of networks are full again before each test. */
beforeEach(() => {
  limits.now += HOUR_MS
})
const { invitar, tokenOf, aceptar } = useInvitaciones(environment)
const INCORRECTO = [401, 'codigo_incorrecto']
const change = ({ request }: Pick<TestPersona, 'request'>, codigo: unknown) =>
  request('PATCH', `${SESION}/correo`, { codigo })
/** Changes the address of a person, and returns the new one. */
async function afterChange(ana: TestPersona) {
  const fresh = createCorreoAddress()
  const changed = await change(ana, await requestOtherCorreo(environment, ana, fresh))
  expect([changed.status, changed.body.correo]).toEqual([200, fresh])
  return fresh
}

describe('the code that the new address got', () => {
  it('changes the address, tells the former one, and leaves a line without either in the audit record', async () => {
    const ana = await createTestPersona(environment)
    const fresh = await afterChange(ana)
    expect((await environment.asOperador('GET', `/personas/${ana.persona}`)).body.correo).toBe(fresh)
    const notice = await findPendingCorreo(environment, 'cambio_de_correo', ana.correo)
    expect(notice.nombre).toBe('Ana Pérez')
    expect(JSON.stringify(notice)).not.toContain(fresh)
    const { rows } = await environment.db.pool.query(
      `select quien, campos, antes, despues from bitacora where accion = 'cambiarCorreo' and sobre = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ quien: ana.persona, campos: ['correo'], antes: null, despues: null }])
  })

  it('lets the person in with the new address, and no longer with the former', async () => {
    const ana = await createTestPersona(environment)
    const fresh = await afterChange(ana)
    expect((await signInFully(environment, { ...ana, correo: fresh })).status).toBe(201)
    expect((await requestCode(environment, ana.correo)).codigo).toBeUndefined()
  })

  it('is valid once, for ten minutes, with five attempts', async () => {
    const [ana, eva, luz] = [
      await createTestPersona(environment),
      await createTestPersona(environment),
      await createTestPersona(environment),
    ]
    const usado = await requestOtherCorreo(environment, ana, createCorreoAddress())
    expect((await change(ana, ` ${usado.slice(0, 3)} ${usado.slice(3)}`)).status).toBe(200)
    expect(toStatusAndCode(await change(ana, usado))).toEqual(INCORRECTO)
    const spentCodigo = await requestOtherCorreo(environment, eva, createCorreoAddress())
    for (let i = 0; i < 5; i++) expect(toStatusAndCode(await change(eva, 'x'))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await change(eva, spentCodigo))).toEqual(INCORRECTO)
    const late = await requestOtherCorreo(environment, luz, createCorreoAddress())
    environment.advance(10 * MINUTE_MS + 1)
    expect(toStatusAndCode(await change(luz, late))).toEqual(INCORRECTO)
  })

  it('is not valid in another session, of another person, or after another request', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createTestPersona(environment)]
    const first = await requestOtherCorreo(environment, ana, createCorreoAddress())
    const second = await requestOtherCorreo(environment, ana, createCorreoAddress())
    const other = toCookieHeader((await signInFully(environment, ana)).headers)
    expect(toStatusAndCode(await change(ana, first))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await change(eva, second))).toEqual(INCORRECTO)
    const elsewhere = await requestFromPage(environment, other, ['PATCH', `${SESION}/correo`, { codigo: second }])
    expect(toStatusAndCode(elsewhere)).toEqual(INCORRECTO)
    expect((await change(ana, second)).status).toBe(200)
  })

  it('wins once if two sessions of a person change the address at once', async () => {
    const ana = await createTestPersona(environment)
    const other = toCookieHeader((await signInFully(environment, ana)).headers)
    const otherSession: Pick<TestPersona, 'request'> = {
      request: (method, path, body) => requestFromPage(environment, other, [method, path, body]),
    }
    const codes = [
      await requestOtherCorreo(environment, ana, createCorreoAddress()),
      await requestOtherCorreo(environment, otherSession, createCorreoAddress()),
    ]
    const both = await Promise.all([change(ana, codes[0]), change(otherSession, codes[1])])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('does not open a session, and a sign-in code does not change the address', async () => {
    const ana = await createComercioPersona(environment)
    const { codigo, signInCookie } = await requestCode(environment, ana.correo)
    const changeRequest = await requestOtherCorreo(environment, ana, createCorreoAddress())
    expect(toStatusAndCode(await change(ana, codigo))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await signInWithCode(environment, signInCookie, changeRequest))).toEqual(INCORRECTO)
  })

  it('is refused with a 409 if another person has the address, and one of two wins at once', async () => {
    const [ana, eva, luz] = [
      await createComercioPersona(environment),
      await createComercioPersona(environment),
      await createComercioPersona(environment),
    ]
    const taken = await change(ana, await requestOtherCorreo(environment, ana, luz.correo))
    expect(toStatusAndCode(taken)).toEqual([409, 'correo_ocupado'])
    const wanted = createCorreoAddress()
    const codes = [
      await requestOtherCorreo(environment, ana, wanted),
      await requestOtherCorreo(environment, eva, wanted),
    ]
    const both = await Promise.all([change(ana, codes[0]), change(eva, codes[1])])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('after the change, a reader of the former address', () => {
  it('gains nothing from codes, half sign-ins and invitations that it got before', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createComercioPersona(environment)]
    const { comercio } = await environment.createComercio()
    const anas = await requestCode(environment, ana.correo)
    const half = toCookieHeader((await signInWithCode(environment, anas.signInCookie, anas.codigo)).headers)
    const codeOfEva = await requestCode(environment, eva.correo)
    await invitar({ correo: eva.correo, comercio, alcances: ['propietario'] })
    const token = await tokenOf(eva.correo)
    await afterChange(ana)
    await afterChange(eva)
    const ended = await requestFromPage(environment, half, [
      'POST',
      `${SESION}/segundo-factor`,
      { codigo: ana.app!.codigo() },
    ])
    expect(ended.status).toBe(401)
    expect(toStatusAndCode(await signInWithCode(environment, codeOfEva.signInCookie, codeOfEva.codigo))).toEqual(
      INCORRECTO,
    )
    expect(toStatusAndCode(await aceptar(token))).toEqual([403, 'enlace_invalido'])
  })

  it('has no session any more, and the one that changed the address goes on', async () => {
    const ana = await createTestPersona(environment)
    const other = toCookieHeader((await signInFully(environment, ana)).headers)
    await afterChange(ana)
    await waitUntil(async () => (await requestFromPage(environment, other, ['GET', SESION])).status === 401)
    expect((await ana.request('GET', SESION)).status).toBe(200)
  })
})

it('erasing a person also erases the mails to former addresses and to those that it never confirmed', async () => {
  const ana = await createComercioPersona(environment)
  const mistyped = createCorreoAddress()
  await requestOtherCorreo(environment, ana, mistyped)
  const fresh = await afterChange(ana)
  expect((await environment.asOperador('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
  for (const [tipo, correo] of [
    ['cambio_de_correo', ana.correo],
    ['invitacion', ana.correo],
    ['correo_nuevo', mistyped],
    ['correo_nuevo', fresh],
  ] as const)
    expect([tipo, await findPendingCorreo(environment, tipo, correo)]).toEqual([tipo, undefined])
  const { rows } = await environment.db.pool.query('select from cambio_de_correo where $1 in (correo, anterior)', [
    ana.correo,
  ])
  expect(rows).toEqual([])
})

it('the addresses of a change are forgotten a month later', async () => {
  await afterChange(await createComercioPersona(environment))
  const count = async () => (await environment.db.pool.query('select from cambio_de_correo')).rowCount
  environment.advance(30 * DAY_MS)
  await environment.reset()
  expect(await count()).toBeGreaterThan(0)
  environment.advance(2 * DAY_MS)
  await environment.reset()
  await waitUntil(async () => (await count()) === 0)
})
