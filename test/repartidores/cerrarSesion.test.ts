import { beforeAll, describe, expect, it } from 'vitest'
import { hasta } from '../factories.ts'
import { createMobile } from './phone.ts'
import { fetchSesion, useSesiones } from './sessions.ts'

const { environment } = useSesiones()

describe('a session', () => {
  beforeAll(() => environment.reset())

  it('ends where the courier says so, on that phone alone', async () => {
    const movil = await createMobile(environment)
    const otro = await createMobile(environment, movil)
    const { status, cuerpo, cabeceras } = await movil.request('DELETE', '/sesion')
    expect([status, cuerpo]).toEqual([204, undefined])
    expect(cabeceras.getSetCookie()).toEqual([
      'guias_repartidor=; Max-Age=0; Path=/repartidor; HttpOnly; SameSite=Strict',
    ])
    await hasta(async () => (await fetchSesion(movil)).cuerpo.codigo === 'sesion_invalida')
    expect((await fetchSesion(otro)).status).toBe(200)
  })
})
