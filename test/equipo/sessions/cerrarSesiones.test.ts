import { expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona, requestCode, requestFromPage, signInWithCode, toCookieHeader } from '../persona.ts'

const environment = useEnvironment()
const RUTA = '/operaciones/v1/sesion'

it('ends all sessions of a person, who may sign in again', async () => {
  const [ana, other] = [await createTestPersona(environment, { withApp: false }), await createTestPersona(environment)]
  const entrar = async () => {
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    return toCookieHeader((await signInWithCode(environment, input, codigo)).headers).split('; ')[0]!
  }
  const second = await entrar()
  expect((await other.request('DELETE', `/operaciones/v1/personas/${ana.persona}/sesiones`)).status).toBe(204)
  for (const cookie of [ana.cookie, second])
    await waitUntil(async () => (await requestFromPage(environment, cookie, ['GET', RUTA])).status === 401)
  expect((await other.request('GET', RUTA)).status).toBe(200)
  expect((await requestFromPage(environment, await entrar(), ['GET', RUTA])).status).toBe(200)
})

it('answers 404 for an unknown person', async () => {
  const { status, body } = await environment.asOperador('DELETE', '/personas/per_000000000000/sesiones')
  expect([status, body.codigo]).toEqual([404, 'persona_desconocida'])
})
