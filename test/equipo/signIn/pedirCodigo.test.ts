import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo, requestFromPage } from '../persona.ts'

const limites = { now: 0 }
const environment = useEnvironment({ limitsClock: () => limites.now })
/** The limits of networks are full again. */
const refillLimits = () => {
  limites.now += HOUR_MS
}
const RUTA = '/operaciones/v1/sesion'
const pedirA = (correo: string) => requestFromPage(environment, '', ['POST', `${RUTA}/codigo`, { correo }])

describe('an address of nobody', () => {
  const forma = ({ status, body, headers }: Awaited<ReturnType<typeof pedirA>>) => ({
    status,
    miembros: Object.keys(body),
    cookie: headers.getSetCookie().map((one) => one.replace(/=[\w-]{43};/, '=…;')),
    names: [...headers.keys()].sort(),
  })

  it('gets the same answer and no mail', async () => {
    refillLimits()
    const { correo } = await createTestPersona(environment)
    const nobody = createCorreoAddress()
    expect(forma(await pedirA(nobody))).toEqual(forma(await pedirA(correo)))
    expect(await findPendingCorreo(environment, 'codigo', nobody)).toBeUndefined()
    expect(await findPendingCorreo(environment, 'codigo', correo)).toBeDefined()
  })

  it('takes the same time', async () => {
    const { correo } = await createTestPersona(environment)
    const measure = async (a: string) => {
      refillLimits()
      const start = performance.now()
      await pedirA(a)
      return performance.now() - start
    }
    const tiempos = { knownCorreo: [] as number[], nadie: [] as number[] }
    for (let i = 0; i < 40; i++) {
      tiempos.knownCorreo.push(await measure(correo))
      tiempos.nadie.push(await measure(createCorreoAddress()))
    }
    const median = (times: number[]) => times.sort((a, b) => a - b)[times.length / 2]!
    const [knownCorreo, nobody] = [median(tiempos.knownCorreo), median(tiempos.nadie)]
    expect(Math.abs(knownCorreo - nobody)).toBeLessThan(Math.max(2, 0.5 * Math.max(knownCorreo, nobody)))
  })

  it('that looks like a person’s is refused', async () => {
    refillLimits()
    const { correo } = await createTestPersona(environment)
    for (const parecida of [correo.replace('a', 'а'), correo.replace('@', '＠'), correo.replace('e', 'é')]) {
      const { status, body } = await pedirA(parecida)
      expect([status, body.errores[0].campo]).toEqual([422, '/correo'])
    }
  })
})

describe('codes for one person', () => {
  it('leave five times an hour and ten times a day, and the answer does not say so', async () => {
    const { correo } = await createTestPersona(environment)
    const countSentCorreos = async () => {
      const { rows } = await environment.db.pool.query(
        `select count(*)::int as n from correo where tipo = 'codigo' and huella = (select huella from correo
           where tipo = 'invitacion' order by creado_en desc limit 1)`,
      )
      return rows[0].n
    }
    const request = async (times: number) => {
      for (let i = 0; i < times; i++) {
        refillLimits()
        expect((await pedirA(correo)).status).toBe(202)
      }
    }
    await request(7)
    expect(await countSentCorreos()).toBe(5)
    environment.advance(HOUR_MS + 1)
    await request(7)
    expect(await countSentCorreos()).toBe(8)
    environment.advance(24 * HOUR_MS)
    await request(1)
    await waitUntil(async () => (await countSentCorreos()) === 9)
  })

  it('are asked for 30 times by one network, and then it has to wait', async () => {
    refillLimits()
    const estados: number[] = []
    for (let i = 0; i < 31; i++) estados.push((await pedirA(createCorreoAddress())).status)
    expect(estados).toEqual([...Array(30).fill(202), 429])
    const { headers } = await pedirA(createCorreoAddress())
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    refillLimits()
  })
})
