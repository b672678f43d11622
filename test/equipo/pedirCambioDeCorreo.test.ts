import { describe, expect, it } from 'vitest'
import { DAY_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { toStatusAndCode } from './authenticator.ts'
import {
  createComercioPersona,
  createCorreoAddress,
  createTestPersona,
  findPendingCorreo,
  SESION,
  type TestPersona,
} from './persona.ts'

const entorno = useEnvironment()
const pedir = (de: TestPersona, correo: string) => de.request('POST', `${SESION}/correo`, { correo })

describe('asking for another address', () => {
  it('mails a code to that address, and changes nothing', async () => {
    const ana = await createTestPersona(entorno)
    const nueva = createCorreoAddress()
    expect((await pedir(ana, nueva.toUpperCase())).status).toBe(202)
    expect(await findPendingCorreo(entorno, 'correo_nuevo', nueva)).toMatchObject({
      codigo: expect.stringMatching(/^\d{6}$/),
    })
    expect(await findPendingCorreo(entorno, 'correo_nuevo', ana.correo)).toBeUndefined()
    expect((await ana.request('GET', SESION)).cuerpo.correo).toBe(ana.correo)
  })

  it('gets the same answer if another person has the address', async () => {
    const [ana, eva] = [await createTestPersona(entorno), await createTestPersona(entorno)]
    const [taken, free] = [await pedir(ana, eva.correo), await pedir(ana, createCorreoAddress())]
    expect([taken.status, Object.keys(taken.cuerpo)]).toEqual([free.status, Object.keys(free.cuerpo)])
    expect(await findPendingCorreo(entorno, 'correo_nuevo', eva.correo)).toBeDefined()
  })

  it('is refused for the present address, and for one that looks like another', async () => {
    const ana = await createTestPersona(entorno)
    for (const correo of [ana.correo, ` ${ana.correo.toUpperCase()}`, 'аna@ejemplo.com', 'a@b.com\nBcc: c@d.com']) {
      const { status, cuerpo } = await pedir(ana, correo)
      expect([status, cuerpo.errores[0].campo]).toEqual([422, '/correo'])
    }
  })

  it('needs a proof of presence of the last five minutes', async () => {
    const ana = await createTestPersona(entorno)
    entorno.advance(5 * MINUTE_MS + 1)
    await hasta(async () => (await pedir(ana, createCorreoAddress())).status === 403)
    expect(toStatusAndCode(await pedir(ana, createCorreoAddress()))).toEqual([403, 'presencia_requerida'])
  })

  it('sends five codes a day, also if asked for at once, and then says when to ask again', async () => {
    const ana = await createComercioPersona(entorno)
    const answers = await Promise.all(Array.from({ length: 8 }, () => pedir(ana, createCorreoAddress())))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(202), ...Array(3).fill(429)])
    const refused = await pedir(ana, createCorreoAddress())
    expect(refused.cuerpo.codigo).toBe('demasiadas_solicitudes')
    const seconds = Number(refused.cabeceras.get('retry-after'))
    expect(seconds).toBeGreaterThan(DAY_MS / 1_000 - 60)
    expect(seconds).toBeLessThanOrEqual(DAY_MS / 1_000)
  })
})
