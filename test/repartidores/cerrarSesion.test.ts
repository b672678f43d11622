import { beforeAll, describe, expect, it } from 'vitest'
import { hasta } from '../fabricas.ts'
import { nuevoMovil } from './movil.ts'
import { conocida, usarSesiones } from './sesiones.ts'

const { entorno } = usarSesiones()

describe('a session', () => {
  beforeAll(() => entorno.reiniciar())

  it('ends where the courier says so, on that phone alone', async () => {
    const movil = await nuevoMovil(entorno)
    const otro = await nuevoMovil(entorno, movil)
    const { status, cuerpo, cabeceras } = await movil.pedir('DELETE', '/sesion')
    expect([status, cuerpo]).toEqual([204, undefined])
    expect(cabeceras.getSetCookie()).toEqual([
      'guias_repartidor=; Max-Age=0; Path=/repartidor; HttpOnly; SameSite=Strict',
    ])
    await hasta(async () => (await conocida(movil)).cuerpo.codigo === 'sesion_invalida')
    expect((await conocida(otro)).status).toBe(200)
  })
})
