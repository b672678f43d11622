import { describe, expect, it } from 'vitest'
import { newLlave, readLlave } from '../../server/domain/identities/llave.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { administrar } from './manage.ts'

const environment = useEnvironment()
const { list: listar } = administrar(environment)

describe('the format of a key', () => {
  it('carries kind, id, 256-bit secret and a checksum that finds any wrong character', () => {
    const { llave, id } = newLlave('live')
    expect(llave).toMatch(/^guia_live_[0-9A-Z]{70}$/)
    expect(readLlave(llave)).toMatchObject({ tipo: 'live', id })
    for (let i = 0; i < llave.length; i++) {
      const alteredText = llave.slice(0, i) + (llave[i] === '0' ? '1' : '0') + llave.slice(i + 1)
      expect(readLlave(alteredText)).toBeUndefined()
    }
  })
})

describe('merchants and keys', () => {
  it('answers 404 to merchants and keys that don’t exist', async () => {
    expect((await environment.asOperador('GET', '/comercios/com_NADIE/llaves')).body.codigo).toBe(
      'comercio_desconocido',
    )
    expect((await environment.asOperador('POST', '/comercios/com_NADIE/llaves', { modo: 'test' })).body.codigo).toBe(
      'comercio_desconocido',
    )
    expect((await environment.asOperador('POST', '/llaves/llave_NADIE/rotar', {})).body.codigo).toBe(
      'llave_desconocida',
    )
    expect((await environment.asOperador('POST', '/llaves/llave_NADIE/revocar')).body.codigo).toBe('llave_desconocida')
    for (const oddValue of ['%00', '%F0%9F%92%A9', 'com_%00', 'llave_%00', 'x'.repeat(300), "'--"]) {
      expect([oddValue, (await environment.asOperador('GET', `/comercios/${oddValue}/llaves`)).status]).toEqual([
        oddValue,
        expect.toSatisfy((s) => s === 404 || s === 400),
      ])
      expect([oddValue, (await environment.asOperador('POST', `/llaves/${oddValue}/revocar`)).status]).toEqual([
        oddValue,
        expect.toSatisfy((s) => s === 404 || s === 400),
      ])
      expect([oddValue, (await environment.asOperador('GET', `/guias?comercio=${oddValue}`)).status]).toEqual([
        oddValue,
        expect.toSatisfy((s) => s === 200 || s === 400),
      ])
      expect([oddValue, (await environment.asOperador('GET', `/mensajes?guia=${oddValue}`)).status]).toEqual([
        oddValue,
        expect.toSatisfy((s) => s === 404 || s === 400),
      ])
    }
  })
})

describe('the life of a key', () => {
  it('ends at its expiry', async () => {
    const comercio = await environment.createComercio()
    const llave = await environment.createLlave(comercio, { vence_en: new Date(Date.now() + HOUR_MS) })
    expect(await listar(llave)).toBe(200)
    environment.advance(HOUR_MS + 1_000)
    try {
      expect(await listar(llave)).toBe(401)
    } finally {
      environment.advance(-HOUR_MS - 1_000)
    }
  })

  it('never sees the other mode', async () => {
    const comercio = await environment.createComercio('test')
    const liveOne = await environment.createLlave(comercio, { modo: 'live' })
    const { guia } = await comercio.api.guias.crear(buildGuia())
    expect((await environment.request('GET', `/api/v1/guias/${guia}`, { llave: liveOne })).status).toBe(404)
    expect((await environment.request('GET', '/api/v1/guias', { llave: liveOne })).body.datos).toEqual([])
  })
})
