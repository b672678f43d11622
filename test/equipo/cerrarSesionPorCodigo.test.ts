import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createTestPersona, requestFromPage, signInFully, toCookieHeader } from './persona.ts'

const entorno = useEnvironment()
const RUTA = '/operaciones/v1/sesiones'

it('ends a session of the same person in another browser', async () => {
  const ana = await createTestPersona(entorno)
  const otra = await signInFully(entorno, ana)
  expect((await ana.request('DELETE', `${RUTA}/${otra.cuerpo.sesion}`)).status).toBe(204)
  const cookie = toCookieHeader(otra.cabeceras)
  await hasta(async () => (await requestFromPage(entorno, cookie, ['GET', '/operaciones/v1/sesion'])).status === 401)
  expect((await ana.request('GET', '/operaciones/v1/sesion')).status).toBe(200)
})

it('answers 404 for a session of another person', async () => {
  const [ana, otra] = [await createTestPersona(entorno), await createTestPersona(entorno)]
  const { status, cuerpo } = await ana.request('DELETE', `${RUTA}/${otra.sesion}`)
  expect([status, cuerpo.codigo]).toEqual([404, 'sesion_desconocida'])
})
