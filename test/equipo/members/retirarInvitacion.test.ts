import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { createCorreoAddress, useInvitaciones } from '../persona.ts'

const environment = useEnvironment()
const { aceptar, invitar, tokenOf } = useInvitaciones(environment)
const withdraw = (invitacion: string) => environment.asOperador('DELETE', `/invitaciones/${invitacion}`)

describe('an invitation that is withdrawn', () => {
  it('opens nothing any more, and is in no list', async () => {
    const correo = createCorreoAddress()
    const { invitacion } = (await invitar({ correo })).body
    const token = await tokenOf(correo)
    expect((await withdraw(invitacion)).status).toBe(204)
    expect((await aceptar(token)).status).toBeGreaterThanOrEqual(400)
    expect((await environment.asOperador('GET', '/invitaciones')).body.datos).toEqual([])
    const again = await withdraw(invitacion)
    expect([again.status, again.body.codigo]).toEqual([404, 'invitacion_desconocida'])
  })

  it('is unknown once it was accepted', async () => {
    const correo = createCorreoAddress()
    const { invitacion } = (await invitar({ correo })).body
    expect((await aceptar(await tokenOf(correo))).status).toBe(201)
    expect((await withdraw(invitacion)).status).toBe(404)
  })
})
