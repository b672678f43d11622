import { describe, expect, it } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { toStatusAndCode } from '../authenticator.ts'
import {
  createComercioPersona,
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  SESION,
  type TestPersona,
} from '../persona.ts'

const environment = useEnvironment()
const request = (persona: TestPersona, correo: string) => persona.request('POST', `${SESION}/correo`, { correo })

describe('asking for another address', () => {
  it('mails a code to that address, and changes nothing', async () => {
    const ana = await createTestPersona(environment)
    const fresh = createCorreoAddress()
    expect((await request(ana, fresh.toUpperCase())).status).toBe(202)
    expect(await findPendingCorreo(environment, 'correo_nuevo', fresh)).toMatchObject({
      codigo: expect.stringMatching(/^\d{6}$/),
    })
    expect(await findPendingCorreo(environment, 'correo_nuevo', ana.correo)).toBeUndefined()
    expect((await ana.request('GET', SESION)).body.correo).toBe(ana.correo)
  })

  it('gets the same answer if another person has the address', async () => {
    const [ana, eva] = [await createTestPersona(environment), await createTestPersona(environment)]
    const [taken, free] = [await request(ana, eva.correo), await request(ana, createCorreoAddress())]
    expect([taken.status, Object.keys(taken.body)]).toEqual([free.status, Object.keys(free.body)])
    expect(await findPendingCorreo(environment, 'correo_nuevo', eva.correo)).toBeDefined()
  })

  it('is refused for the present address, and for one that looks like another', async () => {
    const ana = await createTestPersona(environment)
    for (const correo of [ana.correo, ` ${ana.correo.toUpperCase()}`, 'аna@ejemplo.com', 'a@b.com\nBcc: c@d.com']) {
      const { status, body } = await request(ana, correo)
      expect([status, body.errores[0].campo]).toEqual([422, '/correo'])
    }
  })

  it('needs a proof of presence of the last five minutes', async () => {
    const ana = await createTestPersona(environment)
    environment.advance(5 * MINUTE_MS + 1)
    await waitUntil(async () => (await request(ana, createCorreoAddress())).status === 403)
    expect(toStatusAndCode(await request(ana, createCorreoAddress()))).toEqual([403, 'presencia_requerida'])
  })

  it('sends five codes a day, also if asked for at once, and then says when to ask again', async () => {
    const ana = await createComercioPersona(environment)
    const answers = await Promise.all(Array.from({ length: 8 }, () => request(ana, createCorreoAddress())))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(202), ...Array(3).fill(429)])
    const refused = await request(ana, createCorreoAddress())
    expect(refused.body.codigo).toBe('demasiadas_solicitudes')
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(DAY_MS / 1_000 - 60)
    expect(seconds).toBeLessThanOrEqual(DAY_MS / 1_000)
  })
})
