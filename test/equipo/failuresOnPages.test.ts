import { expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, requestCode, signInWithCode, toCookieHeader } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()

it('the sign-in says after the fifth failure that it is over, and leads to another one', async () => {
  const ana = await createTestPersona(environment)
  const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
  const partialSignIn = toCookieHeader((await signInWithCode(environment, input, codigo)).headers).split('; ')[0]!
  const { visit, cookies: savedCookies } = createScriptlessBrowser(environment, partialSignIn)
  for (let i = 0; i < 4; i++)
    expect((await visit('/entrar/segundo-factor', { codigo: '000000' })).texto).toContain('El código no vale')
  const last = await visit('/entrar/segundo-factor', { codigo: '000000' })
  expect([last.status, last.texto]).toEqual([401, expect.stringContaining('Demasiados intentos')])
  expect(last.texto).toContain('href="../entrar"')
  expect(savedCookies.has('guias_a_medias')).toBe(false)
})

it('the proof of presence says after the fifth failure that the session was closed', async () => {
  const ana = await createTestPersona(environment)
  environment.advance(6 * MINUTE_MS)
  const { visit, cookies: savedCookies } = createScriptlessBrowser(environment, ana.cookie)
  for (let i = 0; i < 4; i++) expect((await visit('/cuenta/presencia/codigo', { codigo: '000000' })).status).toBe(401)
  const last = await visit('/cuenta/presencia/codigo', { codigo: '000000' })
  expect([last.status, last.texto]).toEqual([401, expect.stringContaining('La sesión se cerró')])
  expect(savedCookies.has('guias_sesion')).toBe(false)
})
