import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, requestInvitacionAprobacion } from '../equipo/persona.ts'

const entorno = useEnvironment()

describe('approvals', () => {
  it('are read by persons and keys that administer, and an unknown one is a 404', async () => {
    const [ana, bea] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const { aprobacion, cuerpo: pedida } = await requestInvitacionAprobacion(ana)
    const { codigo: _secreto, ...cuerpo } = pedida
    const ruta = `/operaciones/v1/aprobaciones/${aprobacion}`
    for (const { request: pedir } of [ana, bea]) expect((await pedir('GET', ruta)).cuerpo).toEqual(cuerpo)
    expect((await entorno.operar('GET', `/aprobaciones/${aprobacion}`)).cuerpo).toEqual(cuerpo)
    const eva = await createTestPersona(entorno, { alcances: ['ver', 'operar', 'caja'] })
    expect((await eva.request('GET', ruta)).cuerpo.codigo).toBe('alcance_insuficiente')
    for (const otra of ['apr_000000000000', 'x']) {
      const { status, cuerpo: nada } = await entorno.operar('GET', `/aprobaciones/${otra}`)
      expect([status, nada.codigo]).toEqual([404, 'aprobacion_desconocida'])
    }
  })
})
