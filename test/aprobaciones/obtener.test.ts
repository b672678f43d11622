import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, requestInvitacionAprobacion } from '../equipo/persona.ts'

const environment = useEnvironment()

describe('approvals', () => {
  it('are read by persons and keys that administer, and an unknown one is a 404', async () => {
    const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { aprobacion, cuerpo: pedida } = await requestInvitacionAprobacion(ana)
    const { codigo: _secreto, ...body } = pedida
    const path = `/operaciones/v1/aprobaciones/${aprobacion}`
    for (const { request } of [ana, bea]) expect((await request('GET', path)).cuerpo).toEqual(body)
    expect((await environment.operar('GET', `/aprobaciones/${aprobacion}`)).cuerpo).toEqual(body)
    const eva = await createTestPersona(environment, { alcances: ['ver', 'operar', 'caja'] })
    expect((await eva.request('GET', path)).cuerpo.codigo).toBe('alcance_insuficiente')
    for (const other of ['apr_000000000000', 'x']) {
      const { status, cuerpo: nothing } = await environment.operar('GET', `/aprobaciones/${other}`)
      expect([status, nothing.codigo]).toEqual([404, 'aprobacion_desconocida'])
    }
  })
})
