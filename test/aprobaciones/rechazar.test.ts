import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, requestInvitacionAprobacion } from '../equipo/persona.ts'

const entorno = useEnvironment()
const BASE = '/operaciones/v1/aprobaciones'

describe('to refuse an approval', () => {
  it('has a reason, and invites nobody', async () => {
    const [ana, bea] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const { correo, aprobacion } = await requestInvitacionAprobacion(ana)
    const ruta = `${BASE}/${aprobacion}/rechazar`
    for (const mal of [{}, { razon: ' ' }, { razon: 'x'.repeat(301) }]) {
      const { status, cuerpo } = await bea.request('POST', ruta, mal)
      expect([status, cuerpo.errores[0].campo]).toEqual([422, '/razon'])
    }
    const { status, cuerpo } = await bea.request('POST', ruta, { razon: 'No la conozco' })
    expect([status, cuerpo]).toMatchObject([200, { estado: 'rechazada', razon: 'No la conozco', contenido: null }])
    expect(await findPendingCorreo(entorno, 'decision', ana.correo)).toMatchObject({
      quien: 'Ana Pérez',
      que: expect.stringContaining(correo),
      razon: 'No la conozco',
    })
    const tarde = await bea.request('POST', `${BASE}/${aprobacion}/aprobar`)
    expect([tarde.status, tarde.cuerpo.mensaje]).toEqual([
      409,
      expect.stringContaining('ya se decidió: está rechazada'),
    ])
    expect(await findPendingCorreo(entorno, 'invitacion', correo)).toBeUndefined()
  })
})
