import { describe, expect, it } from 'vitest'
import { findLlave, readLlave } from '../../server/domain/identities/llave.ts'
import { createAuthenticators } from '../../server/domain/llaves/authenticators.ts'
import { LlaveUses } from '../../server/domain/llaves/uses.ts'
import { createLog } from '../../server/platform/log.ts'
import { DAY_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { administrar } from './manage.ts'

const environment = useEnvironment()
const { list: listar } = administrar(environment)

const log = createLog('silent')
const rowOf = async (llave: string) => (await findLlave(environment.db, readLlave(llave)!.id))!

/** The entorno's database, and which statements it was asked. */
function createCounter() {
  const hechas: (string | undefined)[] = []
  const query: typeof environment.db.query = (sql, ...values) => {
    hechas.push(sql.name)
    return environment.db.query(sql, ...values)
  }
  return { doneCount: hechas, db: { ...environment.db, query } }
}

describe('when a key was last used', () => {
  it('is shown with it', async () => {
    const comercio = await environment.createComercio()
    const look = async () =>
      (await environment.asOperador('GET', `/comercios/${comercio.comercio}/llaves`)).body.datos[0]
    expect((await look()).usado_en).toBeNull()
    await listar(comercio.llave)
    const first = await waitUntil(async () => (await look()).usado_en as string)
    expect(Date.parse(first)).toBeLessThanOrEqual(environment.clock().getTime())
    environment.advance(2 * MINUTE_MS)
    // It is noted when the key is looked up again.
    await waitUntil(async () => (await listar(comercio.llave)) === 200 && (await look()).usado_en !== first)
    expect(Date.parse((await look()).usado_en) - Date.parse(first)).toBeGreaterThanOrEqual(MINUTE_MS)
  })

  it('costs requests no statement: of a hundred one looks the key up, and one is written later', async () => {
    const { doneCount: hechas, db } = createCounter()
    const usages = new LlaveUses(db, log)
    const { llaveDeComercio } = createAuthenticators({ db, clock: environment.clock, usages }, () => 0)
    const { llave } = await environment.createComercio()
    for (let i = 0; i < 100; i++) expect(await llaveDeComercio(llave)).toBeDefined()
    expect(hechas).toEqual(['llaves.find'])
    await usages.write()
    await usages.write()
    expect(hechas).toEqual(['llaves.find', 'llaves.record'])
  })

  it('is written once a minute at most, however many processes write it', async () => {
    const { llave } = await environment.createComercio()
    const old = await rowOf(llave)
    const [one, other] = [new LlaveUses(environment.db, log), new LlaveUses(environment.db, log)]
    const start = environment.clock()
    const afterStep = (ms: number) => new Date(start.getTime() + ms)
    one.record(old, start)
    other.record(old, afterStep(MINUTE_MS - 1))
    await one.write()
    await other.write()
    expect((await rowOf(llave)).usado_en).toEqual(start)
    const { doneCount: hechas, db } = createCounter()
    const third = new LlaveUses(db, log)
    third.record(await rowOf(llave), afterStep(MINUTE_MS - 1))
    await third.write()
    expect(hechas).toEqual([])
    third.record(await rowOf(llave), afterStep(MINUTE_MS))
    await third.write()
    expect((await rowOf(llave)).usado_en).toEqual(afterStep(MINUTE_MS))
  })

  it('is not of a key that works no more', async () => {
    const comercio = await environment.createComercio()
    const llave = await environment.createLlave(comercio, { vence_en: new Date(environment.clock().getTime() - 1) })
    const { doneCount: hechas, db } = createCounter()
    const usages = new LlaveUses(db, log)
    await createAuthenticators({ db, clock: environment.clock, usages }).llaveDeComercio(llave)
    await usages.write()
    expect(hechas).toEqual(['llaves.find'])
  })
})

describe('a key that ends within a week', () => {
  it('is told to its merchant, and once to the log, when it is used', async () => {
    const comercio = await environment.createComercio()
    const noticeAfter = async (days: number) => {
      const vence_en = new Date(environment.clock().getTime() + days * DAY_MS)
      const llave = await environment.createLlave(comercio, { vence_en })
      const { body } = await environment.request('GET', '/api/v1/cuenta', { llave })
      const lines = environment.log.filter((l) => l.includes('key ends soon') && l.includes(readLlave(llave)!.id))
      expect(body.vence_en).toBe(vence_en.toISOString())
      return [body.advertencias.map((a: { codigo: string }) => a.codigo), lines.length]
    }
    expect(await noticeAfter(8)).toEqual([[], 0])
    expect(await noticeAfter(6)).toEqual([['llave_por_vencer'], 1])
    const metrics = createMetrics()
    metrics.observe(environment)
    await waitUntil(async () => /^guias_llaves_por_vencer 1$/m.test(await metrics.expose()))
    expect(environment.log.join()).not.toContain(comercio.llave.slice(22, 40))
  })
})
