import { expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona } from '../persona.ts'

const environment = useEnvironment()

it('ends the session, and its cookie', async () => {
  const ana = await createTestPersona(environment)
  const { status, headers } = await ana.request('DELETE', '/operaciones/v1/sesion')
  expect([status, headers.getSetCookie()]).toEqual([204, ['guias_sesion=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax']])
  await waitUntil(async () => (await ana.request('GET', '/operaciones/v1/sesion')).status === 401)
})
