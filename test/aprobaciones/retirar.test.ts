import { describe, expect, it } from 'vitest'
import { usarEntorno } from '../entorno.ts'
import { correoPendiente, nuevaPersona, pedirAprobacion } from '../equipo/persona.ts'

const entorno = usarEntorno()

describe('approvals', () => {
  it('are withdrawn by the person who asked, once, and by nobody else', async () => {
    const [ana, bea] = [await nuevaPersona(entorno), await nuevaPersona(entorno)]
    const { aprobacion } = await pedirAprobacion(ana)
    const ruta = `/operaciones/v1/aprobaciones/${aprobacion}`
    const ajena = await bea.pedir('DELETE', ruta)
    expect([ajena.status, ajena.cuerpo.codigo]).toEqual([404, 'aprobacion_desconocida'])
    expect((await ana.pedir('DELETE', ruta)).status).toBe(204)
    expect((await bea.pedir('GET', ruta)).cuerpo).toMatchObject({ estado: 'retirada', contenido: null, decide: null })
    expect(await correoPendiente(entorno, 'decision', ana.correo)).toBeUndefined()
    const otraVez = await ana.pedir('DELETE', ruta)
    expect([otraVez.status, otraVez.cuerpo.codigo]).toEqual([409, 'aprobacion_cerrada'])
    const tarde = await bea.pedir('POST', `${ruta}/aprobar`)
    expect([tarde.status, tarde.cuerpo.mensaje]).toEqual([409, expect.stringContaining('la retiró')])
  })
})
