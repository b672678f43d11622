import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, requestInvitacionAprobacion } from '../equipo/persona.ts'

const environment = useEnvironment()

describe('approvals', () => {
  it('are withdrawn by the person who asked, once, and by nobody else', async () => {
    const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { aprobacion } = await requestInvitacionAprobacion(ana)
    const path = `/operaciones/v1/aprobaciones/${aprobacion}`
    const foreign = await bea.request('DELETE', path)
    expect([foreign.status, foreign.body.codigo]).toEqual([404, 'aprobacion_desconocida'])
    expect((await ana.request('DELETE', path)).status).toBe(204)
    expect((await bea.request('GET', path)).body).toMatchObject({ estado: 'retirada', contenido: null, decide: null })
    expect(await findPendingCorreo(environment, 'decision', ana.correo)).toBeUndefined()
    const repetition = await ana.request('DELETE', path)
    expect([repetition.status, repetition.body.codigo]).toEqual([409, 'aprobacion_cerrada'])
    const late = await bea.request('POST', `${path}/aprobar`)
    expect([late.status, late.body.mensaje]).toEqual([409, expect.stringContaining('la retiró')])
  })
})
