import { describe, expect, it } from 'vitest'
import { checksum, newLlave } from '../../server/domain/identities/llave.ts'
import { createAuthenticators } from '../../server/domain/llaves/authenticators.ts'
import { SECOND_MS } from '../../server/platform/time/units.ts'
import { shareEnvironment } from '../environment.ts'
import { createMobile } from '../repartidores/phone.ts'
import { noUsages } from './manage.ts'

const entorno = shareEnvironment()

/** The entorno's database, and how often it was asked. */
function contando() {
  const { db } = entorno
  const cuenta = {
    times: 0,
    db: {
      ...db,
      get query() {
        cuenta.times++
        return db.query
      },
    },
  }
  return cuenta
}

describe('a credential that was looked up', () => {
  it('is remembered by the whole text: a second look is free, another text with the same id is another key', async () => {
    const cuenta = contando()
    const { llaveDeComercio, llaveDeOperacion } = createAuthenticators(
      { db: cuenta.db, clock: entorno.clock, usages: noUsages },
      () => 0,
    )
    const { llave } = await entorno.nuevoComercio()
    const juntas = await Promise.all([llaveDeComercio(llave), llaveDeComercio(llave)])
    expect(juntas).toEqual([await llaveDeComercio(llave), expect.objectContaining({ modo: 'test' })])
    expect(await llaveDeOperacion(llave)).toBeUndefined()
    expect(cuenta.times).toBe(1)
    const ajena = newLlave('test').llave
    const cuerpo = `${llave.slice(0, 'guia_test_'.length + 12)}${ajena.slice('guia_test_'.length + 12, -6)}`
    expect(await llaveDeComercio(cuerpo + checksum(cuerpo))).toBeUndefined()
    expect(await llaveDeComercio(llave)).toBeDefined()
    expect(cuenta.times).toBe(2)
  })

  it('is read together with others at the same time: keys with one statement, sessions with another', async () => {
    const cuenta = contando()
    const { llaveDeComercio, llaveDeOperacion, sesionDeRepartidor } = createAuthenticators(
      { db: cuenta.db, clock: entorno.clock, usages: noUsages },
      () => 0,
    )
    const comercios = await Promise.all([1, 2, 3].map(() => entorno.nuevoComercio()))
    const moviles = await Promise.all([1, 2].map(() => createMobile(entorno)))
    const [deComercio, deSesion, deOperacion, deNadie] = await Promise.all([
      Promise.all(comercios.map(({ llave }) => llaveDeComercio(llave))),
      Promise.all(moviles.map(({ cookie }) => sesionDeRepartidor(cookie.split('=')[1]!))),
      llaveDeOperacion(entorno.llaveDeOperacion),
      llaveDeComercio(newLlave('test').llave),
    ])
    expect(deComercio.map((una) => una?.comercio)).toEqual(comercios.map(({ comercio }) => comercio))
    expect(deSesion.map((una) => una?.repartidor)).toEqual(moviles.map(({ repartidor }) => repartidor))
    expect([deOperacion?.operador, deNadie]).toEqual([expect.stringMatching(/^op_/), undefined])
    expect(cuenta.times).toBe(2)
  })

  it('is missing for a text that cannot be a credential, of any length: no statement runs', async () => {
    const cuenta = contando()
    const { llaveDeComercio, sesionDeRepartidor } = createAuthenticators(
      { db: cuenta.db, clock: entorno.clock, usages: noUsages },
      () => 0,
    )
    for (const texto of ['', 'guia_test_', `guia_test_${'A'.repeat(70)}`, 'x'.repeat(16_000)]) {
      expect(await llaveDeComercio(texto)).toBeUndefined()
      expect(await sesionDeRepartidor(texto)).toBeUndefined()
    }
    expect(cuenta.times).toBe(0)
  })

  it('is believed for less than a second: a revoked key', async () => {
    let ahora = 0
    const { llaveDeComercio } = createAuthenticators({ ...entorno, usages: noUsages }, () => ahora)
    const { llave } = await entorno.nuevoComercio()
    const id = (await llaveDeComercio(llave))!.llave
    expect((await entorno.operar('POST', `/llaves/llave_${id}/revocar`)).status).toBe(200)
    expect(await llaveDeComercio(llave)).toBeDefined()
    ahora += SECOND_MS - 1
    expect(await llaveDeComercio(llave)).toBeUndefined()
  })

  it('is believed for less than a second: a courier’s session', async () => {
    let ahora = 0
    const { sesionDeRepartidor } = createAuthenticators({ ...entorno, usages: noUsages }, () => ahora)
    const { repartidor, cookie } = await createMobile(entorno)
    const [, token = ''] = cookie.split('=')
    expect(await sesionDeRepartidor(token)).toMatchObject({ repartidor })
    expect((await entorno.operar('POST', `/repartidores/${repartidor}/desactivar`)).status).toBe(200)
    expect(await sesionDeRepartidor(token)).toBeDefined()
    ahora += SECOND_MS - 1
    expect(await sesionDeRepartidor(token)).toBeUndefined()
  })
})
