import { expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona, requestFromPage, signInFully, toCookieHeader } from '../persona.ts'

const environment = useEnvironment()
const RUTA = '/operaciones/v1/sesiones'

it('ends a session of the same person in another browser', async () => {
  const ana = await createTestPersona(environment)
  const other = await signInFully(environment, ana)
  expect((await ana.request('DELETE', `${RUTA}/${other.body.sesion}`)).status).toBe(204)
  const cookie = toCookieHeader(other.headers)
  await waitUntil(
    async () => (await requestFromPage(environment, cookie, ['GET', '/operaciones/v1/sesion'])).status === 401,
  )
  expect((await ana.request('GET', '/operaciones/v1/sesion')).status).toBe(200)
})

it('answers 404 for a session of another person', async () => {
  const [ana, other] = [await createTestPersona(environment), await createTestPersona(environment)]
  const { status, body } = await ana.request('DELETE', `${RUTA}/${other.sesion}`)
  expect([status, body.codigo]).toEqual([404, 'sesion_desconocida'])
})
