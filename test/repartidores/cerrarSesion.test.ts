import { beforeAll, describe, expect, it } from 'vitest'
import { waitUntil } from '../factories.ts'
import { createMobile } from './phone.ts'
import { fetchSesion, useSesiones } from './sessions.ts'

const { environment } = useSesiones()

describe('a session', () => {
  beforeAll(() => environment.reset())

  it('ends where the courier says so, on that phone alone', async () => {
    const phone = await createMobile(environment)
    const other = await createMobile(environment, phone)
    const { status, body, headers } = await phone.request('DELETE', '/sesion')
    expect([status, body]).toEqual([204, undefined])
    expect(headers.getSetCookie()).toEqual([
      'guias_repartidor=; Max-Age=0; Path=/repartidor; HttpOnly; SameSite=Strict',
    ])
    await waitUntil(async () => (await fetchSesion(phone)).body.codigo === 'sesion_invalida')
    expect((await fetchSesion(other)).status).toBe(200)
  })
})
