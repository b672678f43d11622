import { describe, expect, it } from 'vitest'
import { readLlave } from '../../server/domain/identities/llave.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { administrar } from './manage.ts'

const environment = useEnvironment()
const {
  list: listar,
  crearComercio,
  crearLlave,
  crearOperador,
  crearLlaveDeOperador,
  buscar: find,
} = administrar(environment)

describe('POST /operaciones/v1/llaves/{llave}/revocar', () => {
  it('ends with its revocation, also in a server that used it a moment ago', async () => {
    const { comercio } = await crearComercio()
    const llave = await crearLlave(comercio)
    expect(await listar(llave.llave)).toBe(200)
    expect((await environment.asOperador('POST', `/llaves/${llave.id}/revocar`)).body.revocado_en).toEqual(
      expect.any(String),
    )
    await waitUntil(async () => (await listar(llave.llave)) === 401)
    const repetition = await environment.asOperador('POST', `/llaves/${llave.id}/revocar`)
    expect(repetition.status).toBe(200)
    expect((await environment.asOperador('POST', `/llaves/${llave.id}/rotar`, {})).body.codigo).toBe('llave_inactiva')
  })

  it('ends an operator’s key, but not the last that administers', async () => {
    const operador = await crearOperador()
    const llave = await crearLlaveDeOperador(operador)
    expect(await find(llave.llave)).toBe(200)
    const { status, body } = await environment.asOperador('POST', `/llaves/${llave.id}/revocar`)
    expect([status, body.operador, body.revocado_en]).toEqual([200, operador, expect.any(String)])
    await waitUntil(async () => (await find(llave.llave)) === 401)

    const last = `llave_${readLlave(environment.llaveDeOperacion)!.id}`
    // What was revoked is not another; nor is what may do all but that.
    await crearLlaveDeOperador(operador, { alcances: ['ver', 'operar', 'caja'] })
    const refusal = await environment.asOperador('POST', `/llaves/${last}/revocar`)
    expect([refusal.status, refusal.body.codigo]).toEqual([409, 'ultima_llave'])
    // Nor is one that ends, or that is good from somewhere alone; these may go.
    const vence_en = new Date(Date.now() + HOUR_MS).toISOString()
    for (const reduction of [{ vence_en }, { redes: ['127.0.0.0/8'] }]) {
      const { id } = await crearLlaveDeOperador(operador, { alcances: ['administrar'], ...reduction })
      expect((await environment.asOperador('POST', `/llaves/${last}/revocar`)).body.codigo).toBe('ultima_llave')
      expect((await environment.asOperador('POST', `/llaves/${id}/revocar`)).status).toBe(200)
    }
    const other = await crearLlaveDeOperador(operador, { alcances: ['administrar'] })
    const concurrentResults = await Promise.all(
      [last, other.id].map((id) => environment.asOperador('POST', `/llaves/${id}/revocar`)),
    )
    expect(concurrentResults.map((one) => one.status).sort()).toEqual([200, 409])
  })
})
