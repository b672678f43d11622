import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { administrar } from './manage.ts'

const entorno = useEnvironment()
const { list: listar, crearComercio, crearLlave, crearOperador, crearLlaveDeOperador, buscar } = administrar(entorno)

describe('POST /operaciones/v1/llaves/{llave}/rotar', () => {
  it('goes on in two keys while a rotation overlaps, and then in one', async () => {
    const { comercio } = await crearComercio()
    const vieja = await crearLlave(comercio, { modo: 'live', alcances: ['guias:leer'] })
    const { status, cuerpo: nueva } = await entorno.operar('POST', `/llaves/${vieja.id}/rotar`, {
      solapamiento_horas: 2,
    })
    expect([status, nueva.modo, nueva.alcances, nueva.vence_en]).toEqual([201, 'live', ['guias:leer'], null])
    expect([await listar(vieja.llave), await listar(nueva.llave)]).toEqual([200, 200])
    entorno.advance(2 * HOUR_MS + 1_000)
    try {
      await hasta(async () => (await listar(vieja.llave)) === 401)
      expect(await listar(nueva.llave)).toBe(200)
    } finally {
      entorno.advance(-2 * HOUR_MS - 1_000)
    }
  })

  it('rotates with a day of overlap unless told, and at once with 0', async () => {
    const { comercio } = await crearComercio()
    const llave = await crearLlave(comercio)
    await entorno.operar('POST', `/llaves/${llave.id}/rotar`)
    const { cuerpo } = await entorno.operar('GET', `/comercios/${comercio}/llaves`)
    const vieja = cuerpo.datos.find((l: { id: string }) => l.id === llave.id)
    expect(new Date(vieja.vence_en).getTime() - Date.now()).toBeGreaterThan(23 * HOUR_MS)
    expect(await listar(llave.llave)).toBe(200)
    await entorno.operar('POST', `/llaves/${llave.id}/rotar`, { solapamiento_horas: 0 })
    await hasta(async () => (await listar(llave.llave)) === 401)
    expect((await entorno.operar('POST', `/llaves/${llave.id}/rotar`, { solapamiento_horas: 169 })).status).toBe(422)
  })

  it('does not prolong a key that ends before the overlap does', async () => {
    const { comercio } = await crearComercio()
    const vence_en = new Date(entorno.clock().getTime() + HOUR_MS).toISOString()
    const vieja = await crearLlave(comercio, { modo: 'test', vence_en })
    const { status } = await entorno.operar('POST', `/llaves/${vieja.id}/rotar`, { solapamiento_horas: 2 })
    const { cuerpo } = await entorno.operar('GET', `/comercios/${comercio}/llaves`)
    const { vence_en: fin } = cuerpo.datos.find(({ id }: { id: string }) => id === vieja.id)
    expect([status, fin]).toEqual([201, vence_en])
    const { rows } = await entorno.db.pool.query(
      `select despues ->> 'vence_en' as fin from bitacora where accion = 'rotarLlave' and sobre = $1`,
      [vieja.id],
    )
    expect(rows).toEqual([{ fin: vence_en }])
  })

  it('rotates an operator’s key: the same scopes and end, both for as long as they overlap', async () => {
    const operador = await crearOperador()
    const vence_en = new Date(entorno.clock().getTime() + 100 * HOUR_MS).toISOString()
    const vieja = await crearLlaveDeOperador(operador, { alcances: ['ver'], vence_en })
    const { status, cuerpo: nueva } = await entorno.operar('POST', `/llaves/${vieja.id}/rotar`, {
      solapamiento_horas: 2,
    })
    expect([status, nueva]).toEqual([201, expect.objectContaining({ operador, alcances: ['ver'], vence_en })])
    expect([await buscar(vieja.llave), await buscar(nueva.llave)]).toEqual([200, 200])
    entorno.advance(2 * HOUR_MS + 1_000)
    try {
      expect([await buscar(vieja.llave), await buscar(nueva.llave)]).toEqual([401, 200])
    } finally {
      entorno.advance(-2 * HOUR_MS - 1_000)
    }
  })

  it('rotates no operator’s key of scopes that the caller’s key lacks, and names them', async () => {
    const operador = await crearOperador()
    const administra = await entorno.createOperacionLlave(['administrar', 'ver'])
    const rotar = (id: string, llave = administra) =>
      entorno.request('POST', `/operaciones/v1/llaves/${id}/rotar`, { llave, cuerpo: { solapamiento_horas: 0 } })
    const ajena = await crearLlaveDeOperador(operador, { alcances: ['ver', 'operar', 'caja'] })
    const negada = await rotar(ajena.id)
    expect([negada.status, negada.cuerpo.codigo, negada.cuerpo.mensaje]).toEqual([
      403,
      'alcance_insuficiente',
      'Esta llave no tiene los alcances operar y caja y no puede darlos a otra. Rótela con una llave que los tenga.',
    ])
    // Nothing was made and nothing ends.
    expect((await entorno.operar('GET', `/operadores/${operador}/llaves`)).cuerpo.datos).toMatchObject([
      { id: ajena.id, vence_en: null },
    ])
    expect(await buscar(ajena.llave)).toBe(200)

    const suya = await crearLlaveDeOperador(operador, { alcances: ['ver'] })
    expect((await rotar(suya.id)).cuerpo).toMatchObject({ operador, alcances: ['ver'] })
    const [, id] = /^guia_oper_(.{12})/.exec(administra)!
    expect((await rotar(`llave_${id}`)).cuerpo).toMatchObject({ alcances: ['administrar', 'ver'] })
    // The scopes of merchants are not operators'.
    const { comercio } = await crearComercio()
    expect((await rotar((await crearLlave(comercio)).id, entorno.llaveDeOperacion)).status).toBe(201)
  })
})
