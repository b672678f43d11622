import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { createCorreoAddress, createTestPersona, findPendingCorreo, requestFromPage } from './persona.ts'

const limites = { ahora: 0 }
const environment = useEnvironment({ limitsClock: () => limites.ahora })
/** The limits of networks are full again. */
const descansar = () => {
  limites.ahora += HOUR_MS
}
const RUTA = '/operaciones/v1/sesion'
const pedirA = (correo: string) => requestFromPage(environment, '', ['POST', `${RUTA}/codigo`, { correo }])

describe('an address of nobody', () => {
  const forma = ({ status, cuerpo, cabeceras }: Awaited<ReturnType<typeof pedirA>>) => ({
    status,
    miembros: Object.keys(cuerpo),
    cookie: cabeceras.getSetCookie().map((one) => one.replace(/=[\w-]{43};/, '=…;')),
    names: [...cabeceras.keys()].sort(),
  })

  it('gets the same answer and no mail', async () => {
    descansar()
    const { correo } = await createTestPersona(environment)
    const nobody = createCorreoAddress()
    expect(forma(await pedirA(nobody))).toEqual(forma(await pedirA(correo)))
    expect(await findPendingCorreo(environment, 'codigo', nobody)).toBeUndefined()
    expect(await findPendingCorreo(environment, 'codigo', correo)).toBeDefined()
  })

  it('takes the same time', async () => {
    const { correo } = await createTestPersona(environment)
    const medir = async (a: string) => {
      descansar()
      const start = performance.now()
      await pedirA(a)
      return performance.now() - start
    }
    const tiempos = { alguien: [] as number[], nadie: [] as number[] }
    for (let i = 0; i < 40; i++) {
      tiempos.alguien.push(await medir(correo))
      tiempos.nadie.push(await medir(createCorreoAddress()))
    }
    const mediana = (de: number[]) => de.sort((a, b) => a - b)[de.length / 2]!
    const [alguien, nobody] = [mediana(tiempos.alguien), mediana(tiempos.nadie)]
    expect(Math.abs(alguien - nobody)).toBeLessThan(Math.max(2, 0.5 * Math.max(alguien, nobody)))
  })

  it('that looks like a person’s is refused', async () => {
    descansar()
    const { correo } = await createTestPersona(environment)
    for (const parecida of [correo.replace('a', 'а'), correo.replace('@', '＠'), correo.replace('e', 'é')]) {
      const { status, cuerpo } = await pedirA(parecida)
      expect([status, cuerpo.errores[0].campo]).toEqual([422, '/correo'])
    }
  })
})

describe('codes for one person', () => {
  it('leave five times an hour and ten times a day, and the answer does not say so', async () => {
    const { correo } = await createTestPersona(environment)
    const mandados = async () => {
      const { rows } = await environment.db.pool.query(
        `select count(*)::int as n from correo where tipo = 'codigo' and huella = (select huella from correo
           where tipo = 'invitacion' order by creado_en desc limit 1)`,
      )
      return rows[0].n
    }
    const request = async (times: number) => {
      for (let i = 0; i < times; i++) {
        descansar()
        expect((await pedirA(correo)).status).toBe(202)
      }
    }
    await request(7)
    expect(await mandados()).toBe(5)
    environment.advance(HOUR_MS + 1)
    await request(7)
    expect(await mandados()).toBe(8)
    environment.advance(24 * HOUR_MS)
    await request(1)
    await waitUntil(async () => (await mandados()) === 9)
  })

  it('are asked for 30 times by one network, and then it has to wait', async () => {
    descansar()
    const estados: number[] = []
    for (let i = 0; i < 31; i++) estados.push((await pedirA(createCorreoAddress())).status)
    expect(estados).toEqual([...Array(30).fill(202), 429])
    const { cabeceras } = await pedirA(createCorreoAddress())
    expect(Number(cabeceras.get('retry-after'))).toBeGreaterThan(0)
    descansar()
  })
})
