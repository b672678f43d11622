import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { toStatusAndCode } from './authenticator.ts'
import {
  createTestPersona,
  endSignIn,
  requestCode,
  requestFromPage,
  SESION,
  signInWithCode,
  type TestPersona,
  toCookieHeader,
} from './persona.ts'

const environment = useEnvironment()

async function partialSignIn({ correo }: TestPersona): Promise<string> {
  const { codigo, signInCookie: input } = await requestCode(environment, correo)
  return toCookieHeader((await signInWithCode(environment, input, codigo)).headers).split('; ')[0]!
}
const fail = async (cookie: string, times: number) => {
  for (let i = 0; i < times; i++) await endSignIn(environment, cookie, '000000')
}
const linesOf = async ({ persona }: TestPersona, accion = 'fallarSegundoFactor') =>
  (
    await environment.db.pool.query(
      'select quien_tipo, quien, despues from bitacora where accion = $1 and sobre = $2 order by id',
      [accion, persona],
    )
  ).rows

describe('a second factor that is wrong', () => {
  it('leaves a line about the person, by nobody known, and a right one none', async () => {
    const ana = await createTestPersona(environment)
    const cookie = await partialSignIn(ana)
    await fail(cookie, 1)
    const line = { quien_tipo: 'desconocido', quien: null, despues: { con: 'codigo', fallas: 1 } }
    expect(await linesOf(ana)).toEqual([line])
    expect((await endSignIn(environment, cookie, ana.app!.codigo())).status).toBe(201)
    expect(await linesOf(ana)).toEqual([line])
  })

  it('leaves five lines an hour for one person, and one more when the attempts of the day end', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createTestPersona(environment)]
    await fail(await partialSignIn(ana), 5)
    await fail(await partialSignIn(ana), 5)
    await fail(await partialSignIn(eva), 1)
    const faults = (await linesOf(ana)).map(({ despues }) => despues)
    expect(faults.map((one) => one.fallas)).toEqual([1, 2, 3, 4, 5, 10])
    expect(faults.at(-1)).toEqual({ con: 'codigo', fallas: 10, bloqueada: true })
    expect(await linesOf(eva)).toHaveLength(1)
  })

  it('is counted anew after an hour, and after the clock was set back', async () => {
    const ana = await createTestPersona(environment)
    const failPresence = () => ana.request('POST', `${SESION}/presencia`, { codigo: '000000' })
    await failPresence()
    await failPresence()
    environment.advance(HOUR_MS)
    await failPresence()
    environment.advance(-30 * MINUTE_MS)
    await failPresence()
    expect((await linesOf(ana)).map(({ despues }) => despues.fallas).sort()).toEqual([1, 1, 1, 2])
    environment.advance(-30 * MINUTE_MS)
  })

  it('ends the session in which five proofs of presence failed', async () => {
    const ana = await createTestPersona(environment)
    const probar = (codigo: string) => ana.request('POST', `${SESION}/presencia`, { codigo })
    for (let i = 0; i < 4; i++) expect(toStatusAndCode(await probar('000000'))).toEqual([401, 'codigo_incorrecto'])
    expect(toStatusAndCode(await probar('000000'))).toEqual([401, 'sesion_invalida'])
    await waitUntil(async () => (await ana.request('GET', SESION)).status === 401)
    const ownLine = { quien_tipo: 'persona', quien: ana.persona }
    expect(await linesOf(ana)).toMatchObject(Array(5).fill(ownLine))
    expect(await linesOf(ana, 'cerrarPorFallas')).toMatchObject([ownLine])
  })

  it('by a passkey in a proof of presence leaves a line, too', async () => {
    const ana = await createTestPersona(environment)
    const firma = { credencial: 'x', datos_cliente: 'x', datos_autenticador: 'x', firma: 'x', usuario: 'x' }
    const requestData = ['POST', `${SESION}/passkeys/presencia`, firma] as [string, string, unknown]
    expect(toStatusAndCode(await requestFromPage(environment, ana.cookie, requestData))).toEqual([
      401,
      'passkey_incorrecta',
    ])
    expect(await linesOf(ana)).toMatchObject([{ quien: ana.persona, despues: { con: 'passkey', fallas: 1 } }])
  })
})
