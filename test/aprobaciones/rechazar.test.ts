import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, requestInvitacionAprobacion } from '../equipo/persona.ts'

const environment = useEnvironment()
const BASE = '/operaciones/v1/aprobaciones'

describe('to refuse an approval', () => {
  it('has a reason, and invites nobody', async () => {
    const [ana, bea] = [await createTestPersona(environment), await createTestPersona(environment)]
    const { correo, aprobacion } = await requestInvitacionAprobacion(ana)
    const path = `${BASE}/${aprobacion}/rechazar`
    for (const bad of [{}, { razon: ' ' }, { razon: 'x'.repeat(301) }]) {
      const { status, body } = await bea.request('POST', path, bad)
      expect([status, body.errores[0].campo]).toEqual([422, '/razon'])
    }
    const { status, body } = await bea.request('POST', path, { razon: 'No la conozco' })
    expect([status, body]).toMatchObject([200, { estado: 'rechazada', razon: 'No la conozco', contenido: null }])
    expect(await findPendingCorreo(environment, 'decision', ana.correo)).toMatchObject({
      quien: 'Ana Pérez',
      que: expect.stringContaining(correo),
      razon: 'No la conozco',
    })
    const late = await bea.request('POST', `${BASE}/${aprobacion}/aprobar`)
    expect([late.status, late.body.mensaje]).toEqual([409, expect.stringContaining('ya se decidió: está rechazada')])
    expect(await findPendingCorreo(environment, 'invitacion', correo)).toBeUndefined()
  })
})
