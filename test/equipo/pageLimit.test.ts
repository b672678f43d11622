import { expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createComercioPersona, createCorreoAddress, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

// Nothing comes back while the limits' clock stands. The pages and the operations share one limit.
let now = 0
const environment = useEnvironment({ limitsClock: () => now })
const PER_MINUTE = 30
const codigoOf = async (correo: string) => (await findPendingCorreo(environment, 'codigo', correo)).codigo as string

/** Repeats an attempt until the network has to wait, and returns how many were admitted. */
async function exhaust(attempt: () => Promise<{ status: number; headers: Headers }>) {
  for (let admitidos = 0; admitidos <= 2 * PER_MINUTE; admitidos++) {
    const { status, headers } = await attempt()
    if (status !== 429) continue
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    return admitidos
  }
  throw new Error('no attempt was refused')
}

it('a success on the pages costs no attempt, and each mail with a code costs one', async () => {
  const [shop, company, nobody] = [
    await createComercioPersona(environment),
    await createTestPersona(environment),
    createCorreoAddress(),
  ]
  const { body: invitationResult } = await environment.asOperador('POST', '/invitaciones', {
    correo: nobody,
    nombre: 'Ana',
    alcances: ['ver'],
  })
  const invitacion = new URL((await findPendingCorreo(environment, 'invitacion', nobody)).enlace).pathname
  now += HOUR_MS
  for (const { correo, app } of [shop, company]) {
    const { visit } = createScriptlessBrowser(environment)
    await visit('/entrar', { correo })
    const input = await visit('/entrar/codigo', { codigo: await codigoOf(correo) })
    if (app) expect(await visit('/entrar/segundo-factor', { codigo: app.codigo() })).toMatchObject({ a: '/cuenta' })
    else expect(input).toMatchObject({ status: 303, a: '/cuenta' })
  }
  const { visit } = createScriptlessBrowser(environment)
  expect(await visit(invitacion, { codigo: invitationResult.codigo })).toMatchObject({ status: 303, a: '/cuenta' })
  expect(await exhaust(() => createScriptlessBrowser(environment).visit('/entrar/codigo', { codigo: 'x' }))).toBe(
    PER_MINUTE - 2,
  )
})

it('codes of the page of presence are mails, too', async () => {
  now += HOUR_MS
  const { cookie } = await createComercioPersona(environment)
  environment.advance(5 * MINUTE_MS + 1)
  const { visit } = createScriptlessBrowser(environment, cookie)
  expect(await exhaust(() => visit('/cuenta/presencia', { volver: '/cuenta' }))).toBe(PER_MINUTE)
})
