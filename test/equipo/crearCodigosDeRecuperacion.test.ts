import { describe, expect, it } from 'vitest'
import { toStatusAndCode, usePasskeys } from './authenticator.ts'
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
} from './persona.ts'

const { environment: entorno } = usePasskeys()
const MAL = [401, 'segundo_factor_incorrecto']

async function entrarCodigo({ correo }: Pick<TestPersona, 'correo'>, codigo: unknown) {
  const deCorreo = await requestCode(entorno, correo)
  const { cabeceras } = await signInWithCode(entorno, deCorreo.signInCookie, deCorreo.codigo)
  return endSignIn(entorno, toCookieHeader(cabeceras), codigo)
}
const quedan = async ({ request: pedir }: TestPersona) =>
  (await pedir('GET', `${SESION}/segundo-factor`)).cuerpo.codigos_de_recuperacion

describe('recovery codes', () => {
  it('are ten, stand for the second factor once each, and their use is told with how many are left', async () => {
    const ana = await createTestPersona(entorno)
    const codigos = await makeRecoveryCodes(ana)
    expect(new Set(codigos).size).toBe(10)
    for (const codigo of codigos) expect(codigo).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(await findPendingCorreo(entorno, 'segundo_factor', ana.correo)).toMatchObject({
      que: 'codigos',
      quedan: 10,
    })
    const abierta = await entrarCodigo(ana, codigos[0]!.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o'))
    expect([abierta.status, abierta.cuerpo.falta_segundo_factor]).toEqual([201, false])
    expect(await findPendingCorreo(entorno, 'segundo_factor', ana.correo)).toMatchObject({
      que: 'recuperacion',
      quedan: 9,
    })
    expect(toStatusAndCode(await entrarCodigo(ana, codigos[0]))).toEqual(MAL)
    expect(await quedan(ana)).toBe(9)
  })

  it('have one winner at once, and none for another person or without the code by mail', async () => {
    const [ana, eva] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const [codigo] = await makeRecoveryCodes(ana)
    expect(toStatusAndCode(await entrarCodigo(eva, codigo))).toEqual(MAL)
    expect(toStatusAndCode(await endSignIn(entorno, '', codigo))).toEqual(MAL)
    const vistas = await Promise.all(Array.from({ length: 4 }, () => entrarCodigo(ana, codigo)))
    expect(vistas.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401])
  })

  it('are replaced as a whole, also if they are made twice at once', async () => {
    const ana = await createTestPersona(entorno)
    const [viejo] = await makeRecoveryCodes(ana)
    await Promise.all([makeRecoveryCodes(ana), makeRecoveryCodes(ana)])
    expect(await quedan(ana)).toBe(10)
    expect(toStatusAndCode(await entrarCodigo(ana, viejo))).toEqual(MAL)
  })
})

it('neither secret nor code can be read in the database', async () => {
  const ana = await createTestPersona(entorno)
  const pendiente = (await ana.request('POST', `${SESION}/totp/registro`)).cuerpo.secreto
  const codigos = await makeRecoveryCodes(ana)
  const { rows } = await entorno.db.pool.query(
    `select (select json_agg(s) from segundo_factor s) s, (select json_agg(c) from codigo_de_recuperacion c) c,
       (select json_agg(e) from entrada_a_medias e) e, (select json_agg(m) from correo m) m,
       (select json_agg(b) from bitacora b) b`,
  )
  const todo = JSON.stringify(rows)
  for (const secreto of [ana.app!.secreto, pendiente, ...codigos.flatMap((uno) => [uno, uno.replaceAll('-', '')])]) {
    expect(todo).not.toContain(secreto)
    expect(todo).not.toContain(Buffer.from(secreto).toString('hex'))
  }
})
