import { describe, expect, it } from 'vitest'
import { toStatusAndCode, usePasskeys } from '../authenticator.ts'
import {
  createTestPersona,
  endSignIn,
  findPendingCorreo,
  makeRecoveryCodes,
  requestCode,
  SESION,
  signInWithCode,
  type TestPersona,
  toCookieHeader,
} from '../persona.ts'

const { environment } = usePasskeys()
const MAL = [401, 'segundo_factor_incorrecto']

async function entrarCodigo({ correo }: Pick<TestPersona, 'correo'>, codigo: unknown) {
  const mailCode = await requestCode(environment, correo)
  const { headers } = await signInWithCode(environment, mailCode.signInCookie, mailCode.codigo)
  return endSignIn(environment, toCookieHeader(headers), codigo)
}
const remaining = async ({ request }: TestPersona) =>
  (await request('GET', `${SESION}/segundo-factor`)).body.codigos_de_recuperacion

describe('recovery codes', () => {
  it('are ten, stand for the second factor once each, and their use is told with how many are left', async () => {
    const ana = await createTestPersona(environment)
    const codigos = await makeRecoveryCodes(ana)
    expect(new Set(codigos).size).toBe(10)
    for (const codigo of codigos) expect(codigo).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({
      que: 'codigos',
      quedan: 10,
    })
    const signedIn = await entrarCodigo(ana, codigos[0]!.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o'))
    expect([signedIn.status, signedIn.body.falta_segundo_factor]).toEqual([201, false])
    expect(await findPendingCorreo(environment, 'segundo_factor', ana.correo)).toMatchObject({
      que: 'recuperacion',
      quedan: 9,
    })
    expect(toStatusAndCode(await entrarCodigo(ana, codigos[0]))).toEqual(MAL)
    expect(await remaining(ana)).toBe(9)
  })

  it('have one winner at once, and none for another person or without the code by mail', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createTestPersona(environment)]
    const [codigo] = await makeRecoveryCodes(ana)
    expect(toStatusAndCode(await entrarCodigo(eva, codigo))).toEqual(MAL)
    expect(toStatusAndCode(await endSignIn(environment, '', codigo))).toEqual(MAL)
    const seen = await Promise.all(Array.from({ length: 4 }, () => entrarCodigo(ana, codigo)))
    expect(seen.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401])
  })

  it('are replaced as a whole, also if they are made twice at once', async () => {
    const ana = await createTestPersona(environment)
    const [old] = await makeRecoveryCodes(ana)
    await Promise.all([makeRecoveryCodes(ana), makeRecoveryCodes(ana)])
    expect(await remaining(ana)).toBe(10)
    expect(toStatusAndCode(await entrarCodigo(ana, old))).toEqual(MAL)
  })
})

it('neither secret nor code can be read in the database', async () => {
  const ana = await createTestPersona(environment)
  const pending = (await ana.request('POST', `${SESION}/totp/registro`)).body.secreto
  const codigos = await makeRecoveryCodes(ana)
  const { rows } = await environment.db.pool.query(
    `select (select json_agg(s) from segundo_factor s) s, (select json_agg(c) from codigo_de_recuperacion c) c,
       (select json_agg(e) from entrada_a_medias e) e, (select json_agg(m) from correo m) m,
       (select json_agg(b) from bitacora b) b`,
  )
  const all = JSON.stringify(rows)
  for (const secret of [ana.app!.secreto, pending, ...codigos.flatMap((one) => [one, one.replaceAll('-', '')])]) {
    expect(all).not.toContain(secret)
    expect(all).not.toContain(Buffer.from(secret).toString('hex'))
  }
})
