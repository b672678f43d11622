import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, findPendingCorreo, requestInvitacionAprobacion } from '../equipo/persona.ts'

const entorno = useEnvironment()

describe('approvals', () => {
  it('are withdrawn by the person who asked, once, and by nobody else', async () => {
    const [ana, bea] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const { aprobacion } = await requestInvitacionAprobacion(ana)
    const ruta = `/operaciones/v1/aprobaciones/${aprobacion}`
    const ajena = await bea.request('DELETE', ruta)
    expect([ajena.status, ajena.cuerpo.codigo]).toEqual([404, 'aprobacion_desconocida'])
    expect((await ana.request('DELETE', ruta)).status).toBe(204)
    expect((await bea.request('GET', ruta)).cuerpo).toMatchObject({ estado: 'retirada', contenido: null, decide: null })
    expect(await findPendingCorreo(entorno, 'decision', ana.correo)).toBeUndefined()
    const otraVez = await ana.request('DELETE', ruta)
    expect([otraVez.status, otraVez.cuerpo.codigo]).toEqual([409, 'aprobacion_cerrada'])
    const tarde = await bea.request('POST', `${ruta}/aprobar`)
    expect([tarde.status, tarde.cuerpo.mensaje]).toEqual([409, expect.stringContaining('la retiró')])
  })
})
