import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createTestPersona } from './persona.ts'

const entorno = useEnvironment()

it('ends the session, and its cookie', async () => {
  const ana = await createTestPersona(entorno)
  const { status, cabeceras } = await ana.request('DELETE', '/operaciones/v1/sesion')
  expect([status, cabeceras.getSetCookie()]).toEqual([
    204,
    ['guias_sesion=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'],
  ])
  await hasta(async () => (await ana.request('GET', '/operaciones/v1/sesion')).status === 401)
})
