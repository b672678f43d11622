import { describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createComercioPersona, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()

describe('two tabs of one browser', () => {
  it('sign in with the later code alone, once, and end no session of the other', async () => {
    const ana = await createComercioPersona(environment)
    const { visit, cookies: savedCookies } = createScriptlessBrowser(environment)
    const request = async () => {
      await visit('/entrar', { correo: ana.correo })
      return (await findPendingCorreo(environment, 'codigo', ana.correo)).codigo as string
    }
    const [first, second] = [await request(), await request()]
    expect((await visit('/entrar/codigo', { codigo: first })).status).toBe(first === second ? 303 : 401)
    expect(await visit('/entrar/codigo', { codigo: second })).toMatchObject({ status: 303, a: '/cuenta' })
    const sesion = savedCookies.get('guias_sesion')
    // The tab that is left behind sends its code, and then loads the account.
    expect((await visit('/entrar/codigo', { codigo: second })).status).toBe(401)
    expect([savedCookies.get('guias_sesion'), (await visit('/cuenta')).status]).toEqual([sesion, 200])
  })

  it('prove presence in one, and go on in both', async () => {
    const ana = await createComercioPersona(environment)
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    environment.advance(5 * MINUTE_MS + 1)
    await visit('/cuenta/presencia', { volver: '/cuenta' })
    await visit('/cuenta/presencia', { volver: '/cuenta' })
    const { codigo } = await findPendingCorreo(environment, 'codigo', ana.correo)
    expect((await visit('/cuenta/presencia/codigo', { codigo, volver: '/cuenta' })).status).toBe(303)
    const other = await visit('/cuenta/presencia/codigo?volver=/cuenta')
    expect([other.status, other.a]).toEqual([303, '/cuenta'])
  })

  it('that leave at once are both out', async () => {
    const ana = await createTestPersona(environment)
    const { visit } = createScriptlessBrowser(environment, ana.cookie)
    const leave = () => visit('/cuenta', { accion: 'salir', cual: '' })
    const outputs = await Promise.all([leave(), leave()])
    expect(outputs.map(({ a }) => a)).toEqual(['/entrar', '/entrar'])
    expect((await visit('/cuenta')).a).toBe('/entrar')
  })
})
