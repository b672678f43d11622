import { describe, expect, it } from 'vitest'
import { ALCANCES_DE_OPERACION } from '../../server/generated/contract/vocabulary.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const environment = useEnvironment()
const { crearOperador, crearLlaveDeOperador, buscar: find } = administrar(environment)

describe('POST /operaciones/v1/operadores/{operador}/llaves', () => {
  it('creates a key of all scopes and without end unless told, which works at once and is shown once', async () => {
    const operador = await crearOperador()
    const llave = await crearLlaveDeOperador(operador)
    expect(llave).toEqual({
      id: expect.stringMatching(/^llave_/),
      llave: expect.stringMatching(/^guia_oper_/),
      operador,
      alcances: [...ALCANCES_DE_OPERACION],
      redes: [],
      creado_en: expect.any(String),
      vence_en: null,
      revocado_en: null,
      usado_en: null,
    })
    expect(await find(llave.llave)).toBe(200)
    const { llave: secret, ...shown } = llave
    expect((await environment.asOperador('GET', `/operadores/${operador}/llaves`)).body.datos).toEqual([shown])
    expect(environment.log.join()).not.toContain(secret.slice(22, 40))
  })

  it('creates one of some scopes, that ends', async () => {
    const vence_en = new Date(environment.clock().getTime() + HOUR_MS).toISOString()
    const llave = await crearLlaveDeOperador(await crearOperador(), { alcances: ['ver'], vence_en })
    expect(llave).toMatchObject({ alcances: ['ver'], vence_en })
    expect(await find(llave.llave)).toBe(200)
    environment.advance(HOUR_MS + 1_000)
    expect(await find(llave.llave)).toBe(401)
    environment.advance(-HOUR_MS - 1_000)
  })

  it('creates no key of scopes that the caller’s key lacks, and names them', async () => {
    const operador = await crearOperador()
    const adminLlave = await environment.createOperacionLlave(['administrar', 'ver'])
    const create = async (llave: string, body: object) =>
      (await environment.request('POST', `/operaciones/v1/operadores/${operador}/llaves`, { llave, body })) as {
        status: number
        body: { codigo?: string; mensaje?: string; llave?: string }
      }
    for (const [body, missing] of [
      [{ alcances: ['operar'] }, 'el alcance operar'],
      [{ alcances: ['ver', 'operar', 'caja'] }, 'los alcances operar y caja'],
      // Left out, they are all.
      [{}, 'los alcances operar y caja'],
    ] as const) {
      const { status, body: message } = await create(adminLlave, body)
      expect([body, status, message.codigo]).toEqual([body, 403, 'alcance_insuficiente'])
      expect(message.mensaje).toMatch(new RegExp(`^Esta llave no tiene ${missing} y no puede darlos a otra\\. Pida `))
    }
    expect((await environment.asOperador('GET', `/operadores/${operador}/llaves`)).body.datos).toEqual([])
    // A key that it does create has no way to more, either.
    const { status, body: childLlave } = await create(adminLlave, { alcances: ['administrar', 'ver'] })
    expect(status).toBe(201)
    expect((await create(childLlave.llave!, { alcances: ['operar'] })).status).toBe(403)
  })

  it.each<[string, object, string]>([
    ['a merchant’s scope', { alcances: ['guias:leer'] }, '/alcances/0'],
    ['no scope', { alcances: [] }, '/alcances'],
    ['a past expiry', { vence_en: '2020-01-01T00:00:00Z' }, '/vence_en'],
    ['a mode', { modo: 'test' }, '/modo'],
  ])('refuses %s', async (_description, body, field) => {
    const { status, body: message } = await environment.asOperador(
      'POST',
      `/operadores/${await crearOperador()}/llaves`,
      body,
    )
    expect([status, message.errores.map((e: { campo: string }) => e.campo)]).toEqual([422, [field]])
  })

  it('answers 404 to operators that don’t exist', async () => {
    expect((await environment.asOperador('POST', '/operadores/op_NADIE/llaves', {})).body.codigo).toBe(
      'operador_desconocido',
    )
    expect((await environment.asOperador('GET', '/operadores/op_NADIE/llaves')).body.codigo).toBe(
      'operador_desconocido',
    )
  })
})
