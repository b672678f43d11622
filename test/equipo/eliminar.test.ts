import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { createTestPersona, findPendingCorreo, requestCode, requestFromPage } from './persona.ts'

const entorno = useEnvironment()
const personas = async () => (await entorno.operar('GET', '/personas')).cuerpo

describe('an erased person', () => {
  it('leaves its code in the audit record and nothing personal', async () => {
    await createTestPersona(entorno)
    const ana = await createTestPersona(entorno)
    const { codigo, signInCookie: entrada } = await requestCode(entorno, ana.correo)
    await entorno.operar('POST', '/invitaciones', {
      correo: ana.correo,
      nombre: 'Ana',
      alcances: ['lectura'],
      comercio: (await entorno.nuevoComercio()).comercio,
    })
    expect((await entorno.operar('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
    const { rows } = await entorno.db.pool.query(
      `select (select json_agg(p) from persona p where persona = $1) p, (select json_agg(i) from invitacion i where correo = $2) i,
         (select json_agg(s) from sesion_persona s join persona p on p.id = s.persona_id where persona = $1) s`,
      [ana.persona, ana.correo],
    )
    expect(rows[0]).toMatchObject({ p: [{ correo: null, nombre: '' }], i: null, s: null })
    expect(await findPendingCorreo(entorno, 'codigo', ana.correo)).toBeUndefined()
    expect((await entorno.operar('GET', `/personas/${ana.persona}`)).status).toBe(404)
    expect(JSON.stringify(await personas())).not.toContain(ana.correo)
    const tarde = await requestFromPage(entorno, entrada, ['POST', '/operaciones/v1/sesion', { codigo }])
    expect([tarde.status, tarde.cuerpo.codigo]).toEqual([401, 'codigo_incorrecto'])
    await hasta(async () => (await ana.request('GET', '/operaciones/v1/sesion')).status === 401)
    // The address may be invited again, and is another person.
    const otra = await createTestPersona(entorno, { correo: ana.correo })
    expect(otra.persona).not.toBe(ana.persona)
  })
})

it('a merchant reads in its audit record that it lost a member', async () => {
  const { comercio, api } = await entorno.nuevoComercio()
  const ana = await createTestPersona(entorno, { comercio, alcances: ['despacho'] })
  expect((await entorno.operar('DELETE', `/personas/${ana.persona}`)).status).toBe(204)
  const { datos } = await api.cuenta.bitacora()
  const [linea] = datos.filter(({ accion }) => accion === 'eliminarPersona')
  expect(linea).toMatchObject({ sobre: { identificador: ana.persona }, antes: { alcances: ['despacho'] } })
})

it('an unknown person is a 404', async () => {
  const { status, cuerpo } = await entorno.operar('DELETE', '/personas/per_000000000000')
  expect([status, cuerpo.codigo]).toEqual([404, 'persona_desconocida'])
})
