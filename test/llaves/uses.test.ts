import { describe, expect, it } from 'vitest'
import { findLlave, readLlave } from '../../server/domain/identities/llave.ts'
import { createAuthenticators } from '../../server/domain/llaves/authenticators.ts'
import { LlaveUses } from '../../server/domain/llaves/uses.ts'
import { createLog } from '../../server/platform/log.ts'
import { DAY_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { administrar } from './manage.ts'

const entorno = useEnvironment()
const { list: listar } = administrar(entorno)

const log = createLog('silent')
const filaDe = async (llave: string) => (await findLlave(entorno.db, readLlave(llave)!.id))!

/** The entorno's database, and which statements it was asked. */
function contando() {
  const hechas: (string | undefined)[] = []
  const consultar: typeof entorno.db.query = (sentencia, ...valores) => {
    hechas.push(sentencia.name)
    return entorno.db.query(sentencia, ...valores)
  }
  return { doneCount: hechas, db: { ...entorno.db, query: consultar } }
}

describe('when a key was last used', () => {
  it('is shown with it', async () => {
    const comercio = await entorno.nuevoComercio()
    const mirar = async () => (await entorno.operar('GET', `/comercios/${comercio.comercio}/llaves`)).cuerpo.datos[0]
    expect((await mirar()).usado_en).toBeNull()
    await listar(comercio.llave)
    const primero = await hasta(async () => (await mirar()).usado_en as string)
    expect(Date.parse(primero)).toBeLessThanOrEqual(entorno.clock().getTime())
    entorno.advance(2 * MINUTE_MS)
    // It is noted when the key is looked up again.
    await hasta(async () => (await listar(comercio.llave)) === 200 && (await mirar()).usado_en !== primero)
    expect(Date.parse((await mirar()).usado_en) - Date.parse(primero)).toBeGreaterThanOrEqual(MINUTE_MS)
  })

  it('costs requests no statement: of a hundred one looks the key up, and one is written later', async () => {
    const { doneCount: hechas, db } = contando()
    const usos = new LlaveUses(db, log)
    const { llaveDeComercio } = createAuthenticators({ db, clock: entorno.clock, usages: usos }, () => 0)
    const { llave } = await entorno.nuevoComercio()
    for (let i = 0; i < 100; i++) expect(await llaveDeComercio(llave)).toBeDefined()
    expect(hechas).toEqual(['llaves.buscar'])
    await usos.write()
    await usos.write()
    expect(hechas).toEqual(['llaves.buscar', 'llaves.anotarUsos'])
  })

  it('is written once a minute at most, however many processes write it', async () => {
    const { llave } = await entorno.nuevoComercio()
    const vieja = await filaDe(llave)
    const [uno, otro] = [new LlaveUses(entorno.db, log), new LlaveUses(entorno.db, log)]
    const inicio = entorno.clock()
    const tras = (ms: number) => new Date(inicio.getTime() + ms)
    uno.record(vieja, inicio)
    otro.record(vieja, tras(MINUTE_MS - 1))
    await uno.write()
    await otro.write()
    expect((await filaDe(llave)).usado_en).toEqual(inicio)
    const { doneCount: hechas, db } = contando()
    const tercero = new LlaveUses(db, log)
    tercero.record(await filaDe(llave), tras(MINUTE_MS - 1))
    await tercero.write()
    expect(hechas).toEqual([])
    tercero.record(await filaDe(llave), tras(MINUTE_MS))
    await tercero.write()
    expect((await filaDe(llave)).usado_en).toEqual(tras(MINUTE_MS))
  })

  it('is not of a key that works no more', async () => {
    const comercio = await entorno.nuevoComercio()
    const llave = await entorno.createLlave(comercio, { vence_en: new Date(entorno.clock().getTime() - 1) })
    const { doneCount: hechas, db } = contando()
    const usos = new LlaveUses(db, log)
    await createAuthenticators({ db, clock: entorno.clock, usages: usos }).llaveDeComercio(llave)
    await usos.write()
    expect(hechas).toEqual(['llaves.buscar'])
  })
})

describe('a key that ends within a week', () => {
  it('is told to its merchant, and once to the log, when it is used', async () => {
    const comercio = await entorno.nuevoComercio()
    const cuenta = async (dias: number) => {
      const vence_en = new Date(entorno.clock().getTime() + dias * DAY_MS)
      const llave = await entorno.createLlave(comercio, { vence_en })
      const { cuerpo } = await entorno.request('GET', '/api/v1/cuenta', { llave })
      const lineas = entorno.log.filter((l) => l.includes('key ends soon') && l.includes(readLlave(llave)!.id))
      expect(cuerpo.vence_en).toBe(vence_en.toISOString())
      return [cuerpo.advertencias.map((a: { codigo: string }) => a.codigo), lineas.length]
    }
    expect(await cuenta(8)).toEqual([[], 0])
    expect(await cuenta(6)).toEqual([['llave_por_vencer'], 1])
    const metricas = createMetrics()
    metricas.observe(entorno)
    await hasta(async () => /^guias_llaves_por_vencer 1$/m.test(await metricas.expose()))
    expect(entorno.log.join()).not.toContain(comercio.llave.slice(22, 40))
  })
})
