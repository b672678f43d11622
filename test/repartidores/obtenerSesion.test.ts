import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia } from '../factories.ts'
import { createMobile } from './phone.ts'
import { useSesiones } from './sessions.ts'

const { environment } = useSesiones()

describe('a session', () => {
  beforeAll(() => environment.reset())

  it('is the only thing that counts here, and counts nowhere else', async () => {
    const phone = await createMobile(environment)
    const comercio = await environment.createComercio()
    const { guia } = await comercio.api.guias.crear(buildGuia())
    for (const llave of [comercio.llave, environment.llaveDeOperacion]) {
      const withLlave = await environment.request('GET', `/repartidor/v1/guias/${guia}`, { llave })
      expect([withLlave.status, withLlave.body.codigo]).toEqual([401, 'sesion_invalida'])
      expect(withLlave.headers.get('www-authenticate')).toBe('Cookie realm="repartidor"')
    }
    const [, token = ''] = phone.cookie.split('=')
    for (const path of [`/api/v1/guias/${guia}`, `/operaciones/v1/guias/${guia}`, '/operaciones/v1/repartidores']) {
      const requestWithCookie = await environment.request('GET', path, { headers: { Cookie: phone.cookie } })
      expect([path, requestWithCookie.body.codigo]).toEqual([path, 'no_autenticado'])
      expect((await environment.request('GET', path, { llave: token })).body.codigo).toBe('no_autenticado')
      expect((await environment.request('GET', path, { llave: phone.codigo })).body.codigo).toBe('no_autenticado')
    }
  })

  it('is none when the cookie is odd', async () => {
    const phone = await createMobile(environment)
    const name = 'guias_repartidor'
    for (const Cookie of [
      '',
      name,
      `${name}=`,
      `${name}=${'A'.repeat(43)}`,
      `${name}=${'A'.repeat(10_000)}`,
      `${phone.cookie}x`,
      `x${phone.cookie}`,
      `${name}="${phone.cookie.split('=')[1]}"`,
      // Two of the same name: one of them may be what a sibling domain put there.
      `${phone.cookie}; ${phone.cookie}`,
      `${name}=${'A'.repeat(43)}; ${phone.cookie}`,
    ]) {
      const { status, body } = await environment.request('GET', '/repartidor/v1/sesion', { headers: { Cookie } })
      expect([Cookie.slice(0, 40), status, body.codigo]).toEqual([Cookie.slice(0, 40), 401, 'sesion_invalida'])
    }
    const amongOtherCookies = { Cookie: `a=1; ${phone.cookie};b=2` }
    expect((await environment.request('GET', '/repartidor/v1/sesion', { headers: amongOtherCookies })).status).toBe(200)
  })
})
