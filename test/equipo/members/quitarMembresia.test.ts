import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { createCorreoAddress, createTestPersona, requestCode } from '../persona.ts'

const environment = useEnvironment()

describe('the last person who administers', () => {
  /** Leaves that person alone with the scope. */
  const leaveAdminOnlyTo = async (persona: string) => {
    await environment.db.pool.query(
      `update membresia set alcances = '{ver}'
       where ambito = 'empresa' and persona_id <> (select id from persona where persona = $1)`,
      [persona],
    )
  }

  it('is neither removed nor erased nor loses the scope', async () => {
    const ana = await createTestPersona(environment)
    await leaveAdminOnlyTo(ana.persona)
    const quitar = [
      await environment.asOperador('DELETE', `/membresias/${ana.membresia}`),
      await environment.asOperador('DELETE', `/personas/${ana.persona}`),
      await environment.asOperador('PATCH', `/membresias/${ana.membresia}`, { alcances: ['ver'] }),
      await ana.request('DELETE', `/operaciones/v1/membresias/${ana.membresia}`),
    ]
    for (const { status, body } of quitar) expect([status, body.codigo]).toEqual([409, 'ultima_administradora'])
    expect((await ana.request('GET', '/operaciones/v1/personas')).status).toBe(200)
    const reduction = await environment.asOperador('PATCH', `/membresias/${ana.membresia}`, {
      alcances: ['administrar'],
    })
    expect(reduction.status).toBe(200)
  })

  it('remains when keys remove the last two at once', async () => {
    for (let i = 0; i < 10; i++) {
      const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
      await environment.db.pool.query(
        `update membresia set alcances = '{ver}' where ambito = 'empresa' and membresia <> all($1)`,
        [[ana.membresia, bea.membresia]],
      )
      const hechas = await Promise.all([
        environment.asOperador('DELETE', `/membresias/${bea.membresia}`),
        environment.asOperador('DELETE', `/personas/${ana.persona}`),
      ])
      expect(hechas.map(({ status }) => status).sort()).toEqual([204, 409])
    }
  })
})

it('an address without a membership gets no code', async () => {
  const correo = createCorreoAddress()
  await createTestPersona(environment)
  const ana = await createTestPersona(environment, { correo })
  expect((await environment.asOperador('DELETE', `/membresias/${ana.membresia}`)).status).toBe(204)
  expect((await requestCode(environment, correo)).codigo).toBeUndefined()
})

it('an unknown membership is a 404', async () => {
  const { status, body } = await environment.asOperador('DELETE', '/membresias/mem_000000000000')
  expect([status, body.codigo]).toEqual([404, 'membresia_desconocida'])
})
