import { describe, expect, it } from 'vitest'
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

describe('POST /operaciones/v1/llaves/{llave}/rotar', () => {
  it('goes on in two keys while a rotation overlaps, and then in one', async () => {
    const { comercio } = await crearComercio()
    const old = await crearLlave(comercio, { modo: 'live', alcances: ['guias:leer'] })
    const { status, body: fresh } = await environment.asOperador('POST', `/llaves/${old.id}/rotar`, {
      solapamiento_horas: 2,
    })
    expect([status, fresh.modo, fresh.alcances, fresh.vence_en]).toEqual([201, 'live', ['guias:leer'], null])
    expect([await listar(old.llave), await listar(fresh.llave)]).toEqual([200, 200])
    environment.advance(2 * HOUR_MS + 1_000)
    try {
      await waitUntil(async () => (await listar(old.llave)) === 401)
      expect(await listar(fresh.llave)).toBe(200)
    } finally {
      environment.advance(-2 * HOUR_MS - 1_000)
    }
  })

  it('rotates with a day of overlap unless told, and at once with 0', async () => {
    const { comercio } = await crearComercio()
    const llave = await crearLlave(comercio)
    await environment.asOperador('POST', `/llaves/${llave.id}/rotar`)
    const { body } = await environment.asOperador('GET', `/comercios/${comercio}/llaves`)
    const old = body.datos.find((l: { id: string }) => l.id === llave.id)
    expect(new Date(old.vence_en).getTime() - Date.now()).toBeGreaterThan(23 * HOUR_MS)
    expect(await listar(llave.llave)).toBe(200)
    await environment.asOperador('POST', `/llaves/${llave.id}/rotar`, { solapamiento_horas: 0 })
    await waitUntil(async () => (await listar(llave.llave)) === 401)
    expect(
      (await environment.asOperador('POST', `/llaves/${llave.id}/rotar`, { solapamiento_horas: 169 })).status,
    ).toBe(422)
  })

  it('does not prolong a key that ends before the overlap does', async () => {
    const { comercio } = await crearComercio()
    const vence_en = new Date(environment.clock().getTime() + HOUR_MS).toISOString()
    const old = await crearLlave(comercio, { modo: 'test', vence_en })
    const { status } = await environment.asOperador('POST', `/llaves/${old.id}/rotar`, { solapamiento_horas: 2 })
    const { body } = await environment.asOperador('GET', `/comercios/${comercio}/llaves`)
    const { vence_en: end } = body.datos.find(({ id }: { id: string }) => id === old.id)
    expect([status, end]).toEqual([201, vence_en])
    const { rows } = await environment.db.pool.query(
      `select despues ->> 'vence_en' as fin from bitacora where accion = 'rotarLlave' and sobre = $1`,
      [old.id],
    )
    expect(rows).toEqual([{ fin: vence_en }])
  })

  it('rotates an operator’s key: the same scopes and end, both for as long as they overlap', async () => {
    const operador = await crearOperador()
    const vence_en = new Date(environment.clock().getTime() + 100 * HOUR_MS).toISOString()
    const old = await crearLlaveDeOperador(operador, { alcances: ['ver'], vence_en })
    const { status, body: fresh } = await environment.asOperador('POST', `/llaves/${old.id}/rotar`, {
      solapamiento_horas: 2,
    })
    expect([status, fresh]).toEqual([201, expect.objectContaining({ operador, alcances: ['ver'], vence_en })])
    expect([await find(old.llave), await find(fresh.llave)]).toEqual([200, 200])
    environment.advance(2 * HOUR_MS + 1_000)
    try {
      expect([await find(old.llave), await find(fresh.llave)]).toEqual([401, 200])
    } finally {
      environment.advance(-2 * HOUR_MS - 1_000)
    }
  })

  it('rotates no operator’s key of scopes that the caller’s key lacks, and names them', async () => {
    const operador = await crearOperador()
    const adminLlave = await environment.createOperacionLlave(['administrar', 'ver'])
    const rotar = (id: string, llave = adminLlave) =>
      environment.request('POST', `/operaciones/v1/llaves/${id}/rotar`, { llave, body: { solapamiento_horas: 0 } })
    const foreign = await crearLlaveDeOperador(operador, { alcances: ['ver', 'operar', 'caja'] })
    const refusal = await rotar(foreign.id)
    expect([refusal.status, refusal.body.codigo, refusal.body.mensaje]).toEqual([
      403,
      'alcance_insuficiente',
      'Esta llave no tiene los alcances operar y caja y no puede darlos a otra. Rótela con una llave que los tenga.',
    ])
    // Nothing was made and nothing ends.
    expect((await environment.asOperador('GET', `/operadores/${operador}/llaves`)).body.datos).toMatchObject([
      { id: foreign.id, vence_en: null },
    ])
    expect(await find(foreign.llave)).toBe(200)

    const ownLlave = await crearLlaveDeOperador(operador, { alcances: ['ver'] })
    expect((await rotar(ownLlave.id)).body).toMatchObject({ operador, alcances: ['ver'] })
    const [, id] = /^guia_oper_(.{12})/.exec(adminLlave)!
    expect((await rotar(`llave_${id}`)).body).toMatchObject({ alcances: ['administrar', 'ver'] })
    // The scopes of merchants are not operators'.
    const { comercio } = await crearComercio()
    expect((await rotar((await crearLlave(comercio)).id, environment.llaveDeOperacion)).status).toBe(201)
  })
})
