import { expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { hasta } from '../fabricas.ts'
import { nuevaPersona } from './persona.ts'

const entorno = usarEntorno()

it('ends the session, and its cookie', async () => {
  const ana = await nuevaPersona(entorno)
  const { status, cabeceras } = await ana.pedir('DELETE', '/operaciones/v1/sesion')
  expect([status, cabeceras.getSetCookie()]).toEqual([
    204,
    ['guias_sesion=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'],
  ])
  await hasta(async () => (await ana.pedir('GET', '/operaciones/v1/sesion')).status === 401)
})
