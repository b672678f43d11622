import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona } from '../persona.ts'

const environment = useEnvironment()
const change = (membresia: string, alcances: string[]) =>
  environment.asOperador('PATCH', `/membresias/${membresia}`, { alcances })

describe('the scopes of a membership', () => {
  it('change, and the audit record has both lists', async () => {
    await createTestPersona(environment)
    const ana = await createTestPersona(environment)
    const { status, body } = await change(ana.membresia, ['ver'])
    expect([status, body]).toMatchObject([200, { membresia: ana.membresia, comercio: null, alcances: ['ver'] }])
    const { rows } = await environment.db.pool.query(
      `select antes, despues from bitacora where accion = 'cambiarMembresia' and sobre = $1`,
      [ana.persona],
    )
    expect(rows).toEqual([
      { antes: { alcances: ['ver', 'operar', 'caja', 'administrar'] }, despues: { alcances: ['ver'] } },
    ])
  })

  it('are those of its place', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['lectura'] })
    const bad = await change(ana.membresia, ['lectura', 'ver'])
    expect([bad.status, bad.body.errores[0].campo]).toEqual([422, '/alcances/1'])
    expect((await change(ana.membresia, ['despacho', 'cobros'])).body.alcances).toEqual(['despacho', 'cobros'])
  })

  it('are given by callers who have them', async () => {
    const admin = await createTestPersona(environment, { alcances: ['administrar'] })
    const ana = await createTestPersona(environment, { alcances: ['ver'] })
    const path = `/operaciones/v1/membresias/${ana.membresia}`
    const refusal = await admin.request('PATCH', path, { alcances: ['caja'] })
    expect([refusal.status, refusal.body.codigo]).toEqual([403, 'alcance_insuficiente'])
    expect((await admin.request('PATCH', path, { alcances: ['ver'] })).status).toBe(403)
    await change(admin.membresia, ['ver', 'administrar'])
    await waitUntil(async () => (await admin.request('PATCH', path, { alcances: ['ver'] })).status === 200)
  })

  it('cannot change in an unknown membership (404)', async () => {
    const { status, body } = await change('mem_000000000000', ['ver'])
    expect([status, body.codigo]).toEqual([404, 'membresia_desconocida'])
  })
})
