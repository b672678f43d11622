import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, requestInvitacionAprobacion } from '../equipo/persona.ts'

const environment = useEnvironment()

describe('approvals', () => {
  it('are read by persons and keys that administer, and an unknown one is a 404', async () => {
    const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { aprobacion, body: sentRequest } = await requestInvitacionAprobacion(ana)
    const { codigo: _secreto, ...body } = sentRequest
    const path = `/operaciones/v1/aprobaciones/${aprobacion}`
    for (const { request } of [ana, bea]) expect((await request('GET', path)).body).toEqual(body)
    expect((await environment.asOperador('GET', `/aprobaciones/${aprobacion}`)).body).toEqual(body)
    const eva = await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] })
    expect((await eva.request('GET', path)).body.codigo).toBe('alcance_insuficiente')
    for (const other of ['apr_000000000000', 'x']) {
      const { status, body: nothing } = await environment.asOperador('GET', `/aprobaciones/${other}`)
      expect([status, nothing.codigo]).toEqual([404, 'aprobacion_desconocida'])
    }
  })
})
