import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona, findPendingCorreo, requestCode, requestFromPage } from '../persona.ts'

const environment = useEnvironment()
const personas = async () => (await environment.asOperador('GET', '/personas')).body

describe('an erased person', () => {
  it('leaves its code in the audit record and nothing personal', async () => {
    await createTestPersona(environment)
    const ana = await createTestPersona(environment)
    const { codigo, signInCookie: input } = await requestCode(environment, ana.correo)
    await environment.asOperador('POST', '/invitaciones', {
      correo: ana.correo,
      nombre: 'Ana',
      alcances: ['lectura'],
      comercio: (await environment.createComercio()).comercio,
    })
    expect((await environment.asOperador('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
    const { rows } = await environment.db.pool.query(
      `select (select json_agg(p) from persona p where persona = $1) p, (select json_agg(i) from invitacion i where correo = $2) i,
         (select json_agg(s) from sesion_persona s join persona p on p.id = s.persona_id where persona = $1) s`,
      [ana.persona, ana.correo],
    )
    expect(rows[0]).toMatchObject({ p: [{ correo: null, nombre: '' }], i: null, s: null })
    expect(await findPendingCorreo(environment, 'codigo', ana.correo)).toBeUndefined()
    expect((await environment.asOperador('GET', `/personas/${ana.persona}`)).status).toBe(404)
    expect(JSON.stringify(await personas())).not.toContain(ana.correo)
    const late = await requestFromPage(environment, input, ['POST', '/operaciones/v1/sesion', { codigo }])
    expect([late.status, late.body.codigo]).toEqual([401, 'codigo_incorrecto'])
    await waitUntil(async () => (await ana.request('GET', '/operaciones/v1/sesion')).status === 401)
    // The address may be invited again, and is another person.
    const other = await createTestPersona(environment, { correo: ana.correo })
    expect(other.persona).not.toBe(ana.persona)
  })
})

it('a merchant reads in its audit record that it lost a member', async () => {
  const { comercio, api } = await environment.createComercio()
  const ana = await createTestPersona(environment, { comercio, alcances: ['despacho'] })
  expect((await environment.asOperador('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
  const { datos } = await api.cuenta.bitacora()
  const [line] = datos.filter(({ accion }) => accion === 'eliminarPersona')
  expect(line).toMatchObject({ sobre: { identificador: ana.persona }, antes: { alcances: ['despacho'] } })
})

it('an unknown person is a 404', async () => {
  const { status, body } = await environment.asOperador('DELETE', '/personas/per_000000000000')
  expect([status, body.codigo]).toEqual([404, 'persona_desconocida'])
})
