import { describe, expect, it } from 'vitest'
import { checksum, newLlave } from '../../server/domain/identities/llave.ts'
import { createAuthenticators } from '../../server/domain/llaves/authenticators.ts'
import { SECOND_MS } from '../../server/platform/time/units.ts'
import { shareEnvironment } from '../environment.ts'
import { createMobile } from '../repartidores/phone.ts'
import { noUsages } from './manage.ts'

const environment = shareEnvironment()

/** The entorno's database, and how often it was asked. */
function createCounter() {
  const { db } = environment
  const counter = {
    times: 0,
    db: {
      ...db,
      get query() {
        counter.times++
        return db.query
      },
    },
  }
  return counter
}

describe('a credential that was looked up', () => {
  it('is remembered by the whole text: a second look is free, another text with the same id is another key', async () => {
    const counter = createCounter()
    const { llaveDeComercio, llaveDeOperacion } = createAuthenticators(
      { db: counter.db, clock: environment.clock, usages: noUsages },
      () => 0,
    )
    const { llave } = await environment.createComercio()
    const concurrentResults = await Promise.all([llaveDeComercio(llave), llaveDeComercio(llave)])
    expect(concurrentResults).toEqual([await llaveDeComercio(llave), expect.objectContaining({ modo: 'test' })])
    expect(await llaveDeOperacion(llave)).toBeUndefined()
    expect(counter.times).toBe(1)
    const foreign = newLlave('test').llave
    const body = `${llave.slice(0, 'guia_test_'.length + 12)}${foreign.slice('guia_test_'.length + 12, -6)}`
    expect(await llaveDeComercio(body + checksum(body))).toBeUndefined()
    expect(await llaveDeComercio(llave)).toBeDefined()
    expect(counter.times).toBe(2)
  })

  it('is read together with others at the same time: keys with one statement, sessions with another', async () => {
    const counter = createCounter()
    const { llaveDeComercio, llaveDeOperacion, sesionDeRepartidor } = createAuthenticators(
      { db: counter.db, clock: environment.clock, usages: noUsages },
      () => 0,
    )
    const comercios = await Promise.all([1, 2, 3].map(() => environment.createComercio()))
    const mobiles = await Promise.all([1, 2].map(() => createMobile(environment)))
    const [byComercio, bySesion, byOperador, byNobody] = await Promise.all([
      Promise.all(comercios.map(({ llave }) => llaveDeComercio(llave))),
      Promise.all(mobiles.map(({ cookie }) => sesionDeRepartidor(cookie.split('=')[1]!))),
      llaveDeOperacion(environment.llaveDeOperacion),
      llaveDeComercio(newLlave('test').llave),
    ])
    expect(byComercio.map((one) => one?.comercio)).toEqual(comercios.map(({ comercio }) => comercio))
    expect(bySesion.map((one) => one?.repartidor)).toEqual(mobiles.map(({ repartidor }) => repartidor))
    expect([byOperador?.operador, byNobody]).toEqual([expect.stringMatching(/^op_/), undefined])
    expect(counter.times).toBe(2)
  })

  it('is missing for a text that cannot be a credential, of any length: no statement runs', async () => {
    const counter = createCounter()
    const { llaveDeComercio, sesionDeRepartidor } = createAuthenticators(
      { db: counter.db, clock: environment.clock, usages: noUsages },
      () => 0,
    )
    for (const text of ['', 'guia_test_', `guia_test_${'A'.repeat(70)}`, 'x'.repeat(16_000)]) {
      expect(await llaveDeComercio(text)).toBeUndefined()
      expect(await sesionDeRepartidor(text)).toBeUndefined()
    }
    expect(counter.times).toBe(0)
  })

  it('is believed for less than a second: a revoked key', async () => {
    let now = 0
    const { llaveDeComercio } = createAuthenticators({ ...environment, usages: noUsages }, () => now)
    const { llave } = await environment.createComercio()
    const id = (await llaveDeComercio(llave))!.llave
    expect((await environment.asOperador('POST', `/llaves/llave_${id}/revocar`)).status).toBe(200)
    expect(await llaveDeComercio(llave)).toBeDefined()
    now += SECOND_MS - 1
    expect(await llaveDeComercio(llave)).toBeUndefined()
  })

  it('is believed for less than a second: a courier’s session', async () => {
    let now = 0
    const { sesionDeRepartidor } = createAuthenticators({ ...environment, usages: noUsages }, () => now)
    const { repartidor, cookie } = await createMobile(environment)
    const [, token = ''] = cookie.split('=')
    expect(await sesionDeRepartidor(token)).toMatchObject({ repartidor })
    expect((await environment.asOperador('POST', `/repartidores/${repartidor}/desactivar`)).status).toBe(200)
    expect(await sesionDeRepartidor(token)).toBeDefined()
    now += SECOND_MS - 1
    expect(await sesionDeRepartidor(token)).toBeUndefined()
  })
})
