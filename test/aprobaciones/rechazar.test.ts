import { describe, expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { correoPendiente, nuevaPersona, pedirAprobacion } from '../equipo/persona.ts'

const entorno = usarEntorno()
const BASE = '/operaciones/v1/aprobaciones'

describe('to refuse an approval', () => {
  it('has a reason, and invites nobody', async () => {
    const [ana, bea] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    const { correo, aprobacion } = await pedirAprobacion(ana)
    const ruta = `${BASE}/${aprobacion}/rechazar`
    for (const mal of [{}, { razon: ' ' }, { razon: 'x'.repeat(301) }]) {
      const { status, cuerpo } = await bea.pedir('POST', ruta, mal)
      expect([status, cuerpo.errores[0].campo]).toEqual([422, '/razon'])
    }
    const { status, cuerpo } = await bea.pedir('POST', ruta, { razon: 'No la conozco' })
    expect([status, cuerpo]).toMatchObject([200, { estado: 'rechazada', razon: 'No la conozco', contenido: null }])
    expect(await correoPendiente(entorno, 'decision', ana.correo)).toMatchObject({
      quien: 'Ana Pérez',
      que: expect.stringContaining(correo),
      razon: 'No la conozco',
    })
    const tarde = await bea.pedir('POST', `${BASE}/${aprobacion}/aprobar`)
    expect([tarde.status, tarde.cuerpo.mensaje]).toEqual([
      409,
      expect.stringContaining('ya se decidió: está rechazada'),
    ])
    expect(await correoPendiente(entorno, 'invitacion', correo)).toBeUndefined()
  })
})
