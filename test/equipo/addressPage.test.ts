import { expect, it } from 'vitest'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { createComercioPersona, createCorreoAddress, createTestPersona, findPendingCorreo } from './persona.ts'
import { createScriptlessBrowser } from './withoutScript.ts'

const environment = useEnvironment()
const PAGE = '/cuenta/correo'
const codeTo = async (correo: string) => (await findPendingCorreo(environment, 'correo_nuevo', correo)).codigo as string

it('a person changes its address on the page, without a program', async () => {
  const ana = await createComercioPersona(environment)
  const { visit } = createScriptlessBrowser(environment, ana.cookie)
  expect((await visit('/cuenta')).texto).toContain('cuenta/correo">Cambiar el correo</a>')
  expect((await visit(PAGE)).texto).toContain(`Ahora entra con ${ana.correo}`)
  const bad = await visit(PAGE, { correo: ana.correo })
  expect([bad.status, bad.texto]).toEqual([422, expect.stringContaining('Escriba otra dirección')])
  const fresh = createCorreoAddress()
  expect((await visit(PAGE, { correo: fresh })).a).toBe(`${PAGE}/codigo`)
  expect((await visit(`${PAGE}/codigo`)).texto).toContain('autocomplete="one-time-code"')
  const wrong = await visit(`${PAGE}/codigo`, { codigo: 'x' })
  expect([wrong.status, wrong.texto]).toEqual([401, expect.stringContaining('El código no vale')])
  expect((await visit(`${PAGE}/codigo`, { codigo: await codeTo(fresh) })).a).toBe('/cuenta')
  const { texto: text } = await visit('/cuenta')
  expect(text).toContain(fresh)
  expect(text).not.toContain(ana.correo)
})

it('the page says that another account has the address, only to who reads its mail', async () => {
  const [ana, eva] = [await createComercioPersona(environment), await createComercioPersona(environment)]
  const { visit } = createScriptlessBrowser(environment, ana.cookie)
  expect((await visit(PAGE, { correo: eva.correo })).a).toBe(`${PAGE}/codigo`)
  const taken = await visit(`${PAGE}/codigo`, { codigo: await codeTo(eva.correo) })
  expect([taken.status, taken.texto]).toEqual([409, expect.stringContaining('Esa dirección ya es de otra cuenta')])
})

it('the page asks for a proof of presence first, and for a sign-in without a session', async () => {
  const ana = await createComercioPersona(environment)
  environment.advance(5 * MINUTE_MS + 1)
  const { visit } = createScriptlessBrowser(environment, ana.cookie)
  for (const fields of [undefined, { correo: createCorreoAddress() }])
    expect((await visit(PAGE, fields)).destino).toBe(`${environment.url}/cuenta/presencia?volver=%2Fcuenta%2Fcorreo`)
  expect((await createScriptlessBrowser(environment).visit(PAGE)).a).toBe('/entrar')
  const { cookie } = await createTestPersona(environment, { withApp: false })
  expect((await createScriptlessBrowser(environment, cookie).visit(PAGE)).a).toBe('/cuenta')
})
