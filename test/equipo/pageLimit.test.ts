import { expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createComercioPersona, createCorreoAddress, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

// Nothing comes back while the limits' clock stands. The pages and the operations share one limit.
let ahora = 0
const entorno = useEnvironment({ limitsClock: () => ahora })
const POR_MINUTO = 30
const codigoDe = async (correo: string) => (await findPendingCorreo(entorno, 'codigo', correo)).codigo as string

/** Repeats an attempt until the network has to wait, and returns how many were admitted. */
async function agotar(intentar: () => Promise<{ status: number; cabeceras: Headers }>) {
  for (let admitidos = 0; admitidos <= 2 * POR_MINUTO; admitidos++) {
    const { status, cabeceras } = await intentar()
    if (status !== 429) continue
    expect(Number(cabeceras.get('retry-after'))).toBeGreaterThan(0)
    return admitidos
  }
  throw new Error('no attempt was refused')
}

it('a success on the pages costs no attempt, and each mail with a code costs one', async () => {
  const [tienda, empresa, nadie] = [
    await createComercioPersona(entorno),
    await createTestPersona(entorno),
    createCorreoAddress(),
  ]
  const { cuerpo: invitada } = await entorno.operar('POST', '/invitaciones', {
    correo: nadie,
    nombre: 'Ana',
    alcances: ['ver'],
  })
  const invitacion = new URL((await findPendingCorreo(entorno, 'invitacion', nadie)).enlace).pathname
  ahora += HOUR_MS
  for (const { correo, app } of [tienda, empresa]) {
    const { visit: ir } = createScriptlessBrowser(entorno)
    await ir('/entrar', { correo })
    const entrada = await ir('/entrar/codigo', { codigo: await codigoDe(correo) })
    if (app) expect(await ir('/entrar/segundo-factor', { codigo: app.codigo() })).toMatchObject({ a: '/cuenta' })
    else expect(entrada).toMatchObject({ status: 303, a: '/cuenta' })
  }
  const { visit: ir } = createScriptlessBrowser(entorno)
  expect(await ir(invitacion, { codigo: invitada.codigo })).toMatchObject({ status: 303, a: '/cuenta' })
  expect(await agotar(() => createScriptlessBrowser(entorno).visit('/entrar/codigo', { codigo: 'x' }))).toBe(
    POR_MINUTO - 2,
  )
})

it('codes of the page of presence are mails, too', async () => {
  ahora += HOUR_MS
  const { cookie } = await createComercioPersona(entorno)
  entorno.advance(5 * MINUTE_MS + 1)
  const { visit: ir } = createScriptlessBrowser(entorno, cookie)
  expect(await agotar(() => ir('/cuenta/presencia', { volver: '/cuenta' }))).toBe(POR_MINUTO)
})
