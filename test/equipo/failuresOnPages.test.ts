import { expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, requestCode, signInWithCode, toCookieHeader } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()

it('the sign-in says after the fifth failure that it is over, and leads to another one', async () => {
  const ana = await createTestPersona(environment)
  const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
  const aMedias = toCookieHeader((await signInWithCode(environment, input, codigo)).cabeceras).split('; ')[0]!
  const { visit: ir, cookies: guardadas } = createScriptlessBrowser(environment, aMedias)
  for (let i = 0; i < 4; i++)
    expect((await ir('/entrar/segundo-factor', { codigo: '000000' })).texto).toContain('El código no vale')
  const last = await ir('/entrar/segundo-factor', { codigo: '000000' })
  expect([last.status, last.texto]).toEqual([401, expect.stringContaining('Demasiados intentos')])
  expect(last.texto).toContain('href="../entrar"')
  expect(guardadas.has('guias_a_medias')).toBe(false)
})

it('the proof of presence says after the fifth failure that the session was closed', async () => {
  const ana = await createTestPersona(environment)
  environment.advance(6 * MINUTE_MS)
  const { visit: ir, cookies: guardadas } = createScriptlessBrowser(environment, ana.cookie)
  for (let i = 0; i < 4; i++) expect((await ir('/cuenta/presencia/codigo', { codigo: '000000' })).status).toBe(401)
  const last = await ir('/cuenta/presencia/codigo', { codigo: '000000' })
  expect([last.status, last.texto]).toEqual([401, expect.stringContaining('La sesión se cerró')])
  expect(guardadas.has('guias_sesion')).toBe(false)
})
