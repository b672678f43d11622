import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { administrar } from '../llaves/manage.ts'

const environment = useEnvironment()
const { crearOperador, crearLlaveDeOperador, buscar: find } = administrar(environment)

describe('POST /operaciones/v1/operadores/{operador}/revocar', () => {
  it('ends all his keys, also in a server that used one a moment ago, and he gets no other', async () => {
    const operador = await crearOperador()
    const [one, other] = [await crearLlaveDeOperador(operador), await crearLlaveDeOperador(operador)]
    expect([await find(one.llave), await find(other.llave)]).toEqual([200, 200])
    for (const _round of [1, 2]) {
      const { status, body } = await environment.asOperador('POST', `/operadores/${operador}/revocar`)
      expect([status, body.operador, body.revocado_en]).toEqual([200, operador, expect.any(String)])
    }
    await waitUntil(async () => (await find(one.llave)) === 401 && (await find(other.llave)) === 401)
    const { datos } = (await environment.asOperador('GET', `/operadores/${operador}/llaves`)).body
    expect(datos.map(({ revocado_en }: { revocado_en: string }) => revocado_en)).toEqual([
      expect.any(String),
      expect.any(String),
    ])
    const refusal = await environment.asOperador('POST', `/operadores/${operador}/llaves`, {})
    expect([refusal.status, refusal.body.codigo]).toEqual([409, 'operador_revocado'])
    expect((await environment.asOperador('POST', `/llaves/${one.id}/rotar`)).body.codigo).toBe('llave_inactiva')
  })

  it('answers 404 to operators that don’t exist', async () => {
    for (const nobody of ['op_NADIE', 'op_4T8WQ2ZK7NHB', 'com_4T8WQ2ZK7NHB'])
      expect((await environment.asOperador('POST', `/operadores/${nobody}/revocar`)).body.codigo).toBe(
        'operador_desconocido',
      )
  })

  it('leaves somebody who administers, however many are revoked at once', async () => {
    const { operador: ownMobile } = (await environment.asOperador('GET', '/operadores?limite=100')).body.datos.at(-1)
    // He has a key of another scope, one that is over, and none that administers.
    const other = await crearOperador()
    await crearLlaveDeOperador(other, { alcances: ['ver', 'operar', 'caja'] })
    const single = await environment.asOperador('POST', `/operadores/${ownMobile}/revocar`)
    expect([single.status, single.body.codigo]).toEqual([409, 'ultima_llave'])
    await crearLlaveDeOperador(other, { alcances: ['administrar'], redes: ['192.0.2.1'] })
    expect((await environment.asOperador('POST', `/operadores/${ownMobile}/revocar`)).body.codigo).toBe('ultima_llave')
    await crearLlaveDeOperador(other, { alcances: ['administrar'] })
    const concurrentResults = await Promise.all(
      [ownMobile, other].map((caller) => environment.asOperador('POST', `/operadores/${caller}/revocar`)),
    )
    expect(concurrentResults.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})
