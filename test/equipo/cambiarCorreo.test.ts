import { beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { toStatusAndCode } from './authenticator.ts'
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
} from './persona.ts'

const limits = { now: 0 }
const entorno = useEnvironment({ limitsClock: () => limits.now })
/** The limits of networks are full again before each test. */
beforeEach(() => {
  limits.now += HOUR_MS
})
const { invitar, tokenDe, aceptar } = useInvitaciones(entorno)
const INCORRECTO = [401, 'codigo_incorrecto']
const cambiar = ({ request: pedir }: Pick<TestPersona, 'request'>, codigo: unknown) =>
  pedir('PATCH', `${SESION}/correo`, { codigo })
/** Changes the address of a person, and returns the new one. */
async function cambiada(ana: TestPersona) {
  const nueva = createCorreoAddress()
  const changed = await cambiar(ana, await requestOtherCorreo(entorno, ana, nueva))
  expect([changed.status, changed.cuerpo.correo]).toEqual([200, nueva])
  return nueva
}

describe('the code that the new address got', () => {
  it('changes the address, tells the former one, and leaves a line without either in the audit record', async () => {
    const ana = await createTestPersona(entorno)
    const nueva = await cambiada(ana)
    expect((await entorno.operar('GET', `/personas/${ana.persona}`)).cuerpo.correo).toBe(nueva)
    const notice = await findPendingCorreo(entorno, 'cambio_de_correo', ana.correo)
    expect(notice.nombre).toBe('Ana Pérez')
    expect(JSON.stringify(notice)).not.toContain(nueva)
    const { rows } = await entorno.db.pool.query(
      `select quien, campos, antes, despues from bitacora where accion = 'cambiarCorreo' and sobre = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([{ quien: ana.persona, campos: ['correo'], antes: null, despues: null }])
  })

  it('lets the person in with the new address, and no longer with the former', async () => {
    const ana = await createTestPersona(entorno)
    const nueva = await cambiada(ana)
    expect((await signInFully(entorno, { ...ana, correo: nueva })).status).toBe(201)
    expect((await requestCode(entorno, ana.correo)).codigo).toBeUndefined()
  })

  it('is valid once, for ten minutes, with five attempts', async () => {
    const [ana, eva, luz] = [
      await createTestPersona(entorno),
      await createTestPersona(entorno),
      await createTestPersona(entorno),
    ]
    const usado = await requestOtherCorreo(entorno, ana, createCorreoAddress())
    expect((await cambiar(ana, ` ${usado.slice(0, 3)} ${usado.slice(3)}`)).status).toBe(200)
    expect(toStatusAndCode(await cambiar(ana, usado))).toEqual(INCORRECTO)
    const gastado = await requestOtherCorreo(entorno, eva, createCorreoAddress())
    for (let i = 0; i < 5; i++) expect(toStatusAndCode(await cambiar(eva, 'x'))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await cambiar(eva, gastado))).toEqual(INCORRECTO)
    const tarde = await requestOtherCorreo(entorno, luz, createCorreoAddress())
    entorno.advance(10 * MINUTE_MS + 1)
    expect(toStatusAndCode(await cambiar(luz, tarde))).toEqual(INCORRECTO)
  })

  it('is not valid in another session, of another person, or after another request', async () => {
    const [ana, eva] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const first = await requestOtherCorreo(entorno, ana, createCorreoAddress())
    const second = await requestOtherCorreo(entorno, ana, createCorreoAddress())
    const other = toCookieHeader((await signInFully(entorno, ana)).cabeceras)
    expect(toStatusAndCode(await cambiar(ana, first))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await cambiar(eva, second))).toEqual(INCORRECTO)
    const elsewhere = await requestFromPage(entorno, other, ['PATCH', `${SESION}/correo`, { codigo: second }])
    expect(toStatusAndCode(elsewhere)).toEqual(INCORRECTO)
    expect((await cambiar(ana, second)).status).toBe(200)
  })

  it('wins once if two sessions of a person change the address at once', async () => {
    const ana = await createTestPersona(entorno)
    const other = toCookieHeader((await signInFully(entorno, ana)).cabeceras)
    const otherSession: Pick<TestPersona, 'request'> = {
      request: (metodo, ruta, cuerpo) => requestFromPage(entorno, other, [metodo, ruta, cuerpo]),
    }
    const codes = [
      await requestOtherCorreo(entorno, ana, createCorreoAddress()),
      await requestOtherCorreo(entorno, otherSession, createCorreoAddress()),
    ]
    const both = await Promise.all([cambiar(ana, codes[0]), cambiar(otherSession, codes[1])])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('does not open a session, and a sign-in code does not change the address', async () => {
    const ana = await createComercioPersona(entorno)
    const { codigo, signInCookie } = await requestCode(entorno, ana.correo)
    const deCambio = await requestOtherCorreo(entorno, ana, createCorreoAddress())
    expect(toStatusAndCode(await cambiar(ana, codigo))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await signInWithCode(entorno, signInCookie, deCambio))).toEqual(INCORRECTO)
  })

  it('is refused with a 409 if another person has the address, and one of two wins at once', async () => {
    const [ana, eva, luz] = [
      await createComercioPersona(entorno),
      await createComercioPersona(entorno),
      await createComercioPersona(entorno),
    ]
    const taken = await cambiar(ana, await requestOtherCorreo(entorno, ana, luz.correo))
    expect(toStatusAndCode(taken)).toEqual([409, 'correo_ocupado'])
    const wanted = createCorreoAddress()
    const codes = [await requestOtherCorreo(entorno, ana, wanted), await requestOtherCorreo(entorno, eva, wanted)]
    const both = await Promise.all([cambiar(ana, codes[0]), cambiar(eva, codes[1])])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('after the change, a reader of the former address', () => {
  it('gains nothing from codes, half sign-ins and invitations that it got before', async () => {
    const [ana, eva] = [await createTestPersona(entorno), await createComercioPersona(entorno)]
    const { comercio } = await entorno.nuevoComercio()
    const anas = await requestCode(entorno, ana.correo)
    const half = toCookieHeader((await signInWithCode(entorno, anas.signInCookie, anas.codigo)).cabeceras)
    const evas = await requestCode(entorno, eva.correo)
    await invitar({ correo: eva.correo, comercio, alcances: ['propietario'] })
    const token = await tokenDe(eva.correo)
    await cambiada(ana)
    await cambiada(eva)
    const ended = await requestFromPage(entorno, half, [
      'POST',
      `${SESION}/segundo-factor`,
      { codigo: ana.app!.codigo() },
    ])
    expect(ended.status).toBe(401)
    expect(toStatusAndCode(await signInWithCode(entorno, evas.signInCookie, evas.codigo))).toEqual(INCORRECTO)
    expect(toStatusAndCode(await aceptar(token))).toEqual([403, 'enlace_invalido'])
  })

  it('has no session any more, and the one that changed the address goes on', async () => {
    const ana = await createTestPersona(entorno)
    const other = toCookieHeader((await signInFully(entorno, ana)).cabeceras)
    await cambiada(ana)
    await hasta(async () => (await requestFromPage(entorno, other, ['GET', SESION])).status === 401)
    expect((await ana.request('GET', SESION)).status).toBe(200)
  })
})

it('erasing a person also erases the mails to former addresses and to those that it never confirmed', async () => {
  const ana = await createComercioPersona(entorno)
  const mistyped = createCorreoAddress()
  await requestOtherCorreo(entorno, ana, mistyped)
  const nueva = await cambiada(ana)
  expect((await entorno.operar('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
  for (const [tipo, correo] of [
    ['cambio_de_correo', ana.correo],
    ['invitacion', ana.correo],
    ['correo_nuevo', mistyped],
    ['correo_nuevo', nueva],
  ] as const)
    expect([tipo, await findPendingCorreo(entorno, tipo, correo)]).toEqual([tipo, undefined])
  const { rows } = await entorno.db.pool.query('select from cambio_de_correo where $1 in (correo, anterior)', [
    ana.correo,
  ])
  expect(rows).toEqual([])
})

it('the addresses of a change are forgotten a month later', async () => {
  await cambiada(await createComercioPersona(entorno))
  const count = async () => (await entorno.db.pool.query('select from cambio_de_correo')).rowCount
  entorno.advance(30 * DAY_MS)
  await entorno.reset()
  expect(await count()).toBeGreaterThan(0)
  entorno.advance(2 * DAY_MS)
  await entorno.reset()
  await hasta(async () => (await count()) === 0)
})
