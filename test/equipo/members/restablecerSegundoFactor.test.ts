import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../../server/platform/time/units.ts'
import { waitUntil } from '../../factories.ts'
import {
  addPasskey,
  signChallenge,
  signInWithPasskey,
  toStatusAndCode,
  usePasskeys,
  WRONG_PASSKEY,
} from '../authenticator.ts'
import {
  createTestPersona,
  endSignIn,
  findPendingCorreo,
  makeRecoveryCodes,
  requestCode,
  SESION,
  signInFully,
  signInWithCode,
  type TestPersona,
  toCookieHeader,
} from '../persona.ts'

const { environment } = usePasskeys()
const pathOf = (persona: string) => `/operaciones/v1/personas/${persona}/segundo-factor`

const aprobar = ({ request }: TestPersona, aprobacion: string) =>
  request('POST', `/operaciones/v1/aprobaciones/${aprobacion}/aprobar`)

/** Persons of the company, who alone have the scope `administrar`. */
async function createAdmins<N extends 1 | 2 | 3>(count: N) {
  await environment.db.pool.query(`update membresia set alcances = '{ver}' where ambito = 'empresa'`)
  const personas: TestPersona[] = []
  while (personas.length < count) personas.push(await createTestPersona(environment))
  return personas as N extends 1 ? [TestPersona] : [TestPersona, TestPersona, TestPersona]
}

describe('an administrator', () => {
  it('takes all factors and sessions of a person who lost them once another one approves', async () => {
    const [admin, otherAdmin] = await createAdmins(2)
    const ana = await createTestPersona(environment, { alcances: ['ver', 'operar'] })
    const { autenticador } = await addPasskey(environment, ana)
    const [recuperacion] = await makeRecoveryCodes(ana)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    const partialSignIn = toCookieHeader((await signInWithCode(environment, input, codigo)).headers)
    const sentRequest = await admin.request('DELETE', pathOf(ana.persona))
    expect([sentRequest.status, sentRequest.body]).toMatchObject([
      202,
      { tipo: 'restablecer_segundo_factor', contenido: { persona: ana.persona, alcances: ['ver', 'operar'] } },
    ])
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({ que: 'por_restablecer' })
    expect((await ana.request('GET', SESION)).status).toBe(200)
    const { aprobacion } = sentRequest.body
    expect(toStatusAndCode(await aprobar(admin, aprobacion))).toEqual([409, 'aprobacion_propia'])
    expect((await aprobar(otherAdmin, aprobacion)).status).toBe(200)
    await waitUntil(async () => (await ana.request('GET', SESION)).status === 401)
    expect(
      toStatusAndCode(await signInWithPasskey(environment, await signChallenge(environment, autenticador))),
    ).toEqual(WRONG_PASSKEY)
    for (const old of [ana.app!.codigo(), recuperacion])
      expect((await endSignIn(environment, partialSignIn, old)).status).toBe(401)
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({ que: 'restablecido' })
    const { rows } = await environment.db.pool.query(
      `select accion, quien, sobre, campos, despues ->> 'pide' as pide from bitacora where despues ->> 'aprobacion' = $1`,
      [aprobacion],
    )
    const fields = ['totp', 'passkeys', 'codigos', 'sesion']
    const line = { accion: 'darAprobacion', quien: otherAdmin.persona, sobre: ana.persona, pide: admin.persona }
    expect(rows).toEqual([{ ...line, campos: fields }])
    const other = await signInFully(environment, ana)
    expect([other.status, other.body.falta_segundo_factor]).toEqual([201, true])
  })

  it('has proved to be there, and names a person', async () => {
    const admin = await createTestPersona(environment)
    expect(toStatusAndCode(await admin.request('DELETE', pathOf('per_000000000000')))).toEqual([
      404,
      'persona_desconocida',
    ])
    environment.advance(5 * MINUTE_MS + 1)
    await waitUntil(async () => (await admin.request('DELETE', pathOf(admin.persona))).status === 403)
    expect(toStatusAndCode(await admin.request('DELETE', pathOf(admin.persona)))).toEqual([403, 'presencia_requerida'])
  })
})

describe('the reset of a second factor', () => {
  it('is never decided by the person concerned, and needs a third one who administers', async () => {
    const [ana, bea, cata] = await createAdmins(3)
    const { aprobacion } = (await ana.request('DELETE', pathOf(bea.persona))).body
    expect(toStatusAndCode(await aprobar(bea, aprobacion))).toEqual([409, 'aprobacion_propia'])
    expect((await environment.asOperador('DELETE', `/membresias/${cata.membresia}`)).status).toBe(204)
    expect(toStatusAndCode(await aprobar(bea, aprobacion))).toEqual([409, 'aprobacion_propia'])
    expect(toStatusAndCode(await ana.request('DELETE', pathOf(bea.persona)))).toEqual([409, 'sin_quien_apruebe'])
    expect((await bea.request('GET', SESION)).status).toBe(200)
  })

  it('is not made by the only person who administers, about itself or a person of a merchant', async () => {
    const [ana] = await createAdmins(1)
    const { comercio } = await environment.createComercio()
    const eva = await createTestPersona(environment, { comercio, alcances: ['lectura'], withApp: true })
    for (const { persona } of [ana, eva])
      expect(toStatusAndCode(await ana.request('DELETE', pathOf(persona)))).toEqual([409, 'sin_quien_apruebe'])
    expect((await eva.request('GET', SESION)).status).toBe(200)
  })

  it('waits for another person if somebody asks about itself', async () => {
    const [ana, bea] = await createAdmins(2)
    const { status, body } = await ana.request('DELETE', pathOf(ana.persona))
    expect(status).toBe(202)
    expect((await aprobar(bea, body.aprobacion)).status).toBe(200)
    await waitUntil(async () => (await ana.request('GET', SESION)).status === 401)
  })

  it('is made at once by an operator key, and for a person who works nowhere any more', async () => {
    const [admin, ana, bea] = await createAdmins(3)
    expect((await environment.asOperador('DELETE', pathOf(ana.persona).replace('/operaciones/v1', ''))).status).toBe(
      204,
    )
    expect((await environment.asOperador('DELETE', `/membresias/${bea.membresia}`)).status).toBe(204)
    expect((await admin.request('DELETE', pathOf(bea.persona))).status).toBe(204)
  })
})

it('the erasure of a person takes its second factor', async () => {
  await createTestPersona(environment)
  const ana = await createTestPersona(environment)
  await makeRecoveryCodes(ana)
  const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
  await signInWithCode(environment, input, codigo)
  expect((await environment.asOperador('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
  const { rows } = await environment.db.pool.query(
    `select (select count(*) from segundo_factor f where f.persona_id = p.id)::int factors,
       (select count(*) from codigo_de_recuperacion c where c.persona_id = p.id)::int codigos,
       (select count(*) from entrada_a_medias e where e.persona_id = p.id)::int entradas
     from persona p where persona = $1`,
    [ana.persona],
  )
  expect(rows).toEqual([{ factors: 0, codigos: 0, entradas: 0 }])
})
