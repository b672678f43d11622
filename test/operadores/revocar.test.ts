import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { administrar } from '../llaves/manage.ts'

const environment = useEnvironment()
const { crearOperador, crearLlaveDeOperador, buscar } = administrar(environment)

describe('POST /operaciones/v1/operadores/{operador}/revocar', () => {
  it('ends all his keys, also in a server that used one a moment ago, and he gets no other', async () => {
    const operador = await crearOperador()
    const [one, other] = [await crearLlaveDeOperador(operador), await crearLlaveDeOperador(operador)]
    expect([await buscar(one.llave), await buscar(other.llave)]).toEqual([200, 200])
    for (const _vez of [1, 2]) {
      const { status, cuerpo } = await environment.operar('POST', `/operadores/${operador}/revocar`)
      expect([status, cuerpo.operador, cuerpo.revocado_en]).toEqual([200, operador, expect.any(String)])
    }
    await waitUntil(async () => (await buscar(one.llave)) === 401 && (await buscar(other.llave)) === 401)
    const { datos } = (await environment.operar('GET', `/operadores/${operador}/llaves`)).cuerpo
    expect(datos.map(({ revocado_en }: { revocado_en: string }) => revocado_en)).toEqual([
      expect.any(String),
      expect.any(String),
    ])
    const negada = await environment.operar('POST', `/operadores/${operador}/llaves`, {})
    expect([negada.status, negada.cuerpo.codigo]).toEqual([409, 'operador_revocado'])
    expect((await environment.operar('POST', `/llaves/${one.id}/rotar`)).cuerpo.codigo).toBe('llave_inactiva')
  })

  it('answers 404 to operators that don’t exist', async () => {
    for (const nobody of ['op_NADIE', 'op_4T8WQ2ZK7NHB', 'com_4T8WQ2ZK7NHB'])
      expect((await environment.operar('POST', `/operadores/${nobody}/revocar`)).cuerpo.codigo).toBe(
        'operador_desconocido',
      )
  })

  it('leaves somebody who administers, however many are revoked at once', async () => {
    const { operador: yo } = (await environment.operar('GET', '/operadores?limite=100')).cuerpo.datos.at(-1)
    // He has a key of another scope, one that is over, and none that administers.
    const other = await crearOperador()
    await crearLlaveDeOperador(other, { alcances: ['ver', 'operar', 'caja'] })
    const solo = await environment.operar('POST', `/operadores/${yo}/revocar`)
    expect([solo.status, solo.cuerpo.codigo]).toEqual([409, 'ultima_llave'])
    await crearLlaveDeOperador(other, { alcances: ['administrar'], redes: ['192.0.2.1'] })
    expect((await environment.operar('POST', `/operadores/${yo}/revocar`)).cuerpo.codigo).toBe('ultima_llave')
    await crearLlaveDeOperador(other, { alcances: ['administrar'] })
    const juntas = await Promise.all(
      [yo, other].map((caller) => environment.operar('POST', `/operadores/${caller}/revocar`)),
    )
    expect(juntas.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})
