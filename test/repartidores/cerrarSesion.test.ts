import { beforeAll, describe, expect, it } from 'vitest'
import { hasta } from '../factories.ts'
import { createMobile } from './phone.ts'
import { fetchSesion, useSesiones } from './sessions.ts'

const { entorno } = useSesiones()

describe('a session', () => {
  beforeAll(() => entorno.reset())

  it('ends where the courier says so, on that phone alone', async () => {
    const movil = await createMobile(entorno)
    const otro = await createMobile(entorno, movil)
    const { status, cuerpo, cabeceras } = await movil.request('DELETE', '/sesion')
    expect([status, cuerpo]).toEqual([204, undefined])
    expect(cabeceras.getSetCookie()).toEqual([
      'guias_repartidor=; Max-Age=0; Path=/repartidor; HttpOnly; SameSite=Strict',
    ])
    await hasta(async () => (await fetchSesion(movil)).cuerpo.codigo === 'sesion_invalida')
    expect((await fetchSesion(otro)).status).toBe(200)
  })
})
