import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createTestPersona, requestCode, requestFromPage, signInWithCode, toCookieHeader } from './persona.ts'

const entorno = useEnvironment()
const RUTA = '/operaciones/v1/sesion'

it('ends all sessions of a person, who may sign in again', async () => {
  const [ana, otra] = [await createTestPersona(entorno, { conApp: false }), await createTestPersona(entorno)]
  const entrar = async () => {
    const { codigo, signInCookie: entrada } = await requestCode(entorno, ana.correo)
    return toCookieHeader((await signInWithCode(entorno, entrada, codigo)).cabeceras).split('; ')[0]!
  }
  const segunda = await entrar()
  expect((await otra.request('DELETE', `/operaciones/v1/personas/${ana.persona}/sesiones`)).status).toBe(204)
  for (const cookie of [ana.cookie, segunda])
    await hasta(async () => (await requestFromPage(entorno, cookie, ['GET', RUTA])).status === 401)
  expect((await otra.request('GET', RUTA)).status).toBe(200)
  expect((await requestFromPage(entorno, await entrar(), ['GET', RUTA])).status).toBe(200)
})

it('answers 404 for an unknown person', async () => {
  const { status, cuerpo } = await entorno.operar('DELETE', '/personas/per_000000000000/sesiones')
  expect([status, cuerpo.codigo]).toEqual([404, 'persona_desconocida'])
})
