import { describe, expect, it } from 'vitest'
import { ALCANCES_DE_OPERACION } from '../../server/generated/contract/vocabulary.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const environment = useEnvironment()
const { crearOperador, crearLlaveDeOperador, buscar } = administrar(environment)

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
    expect(await buscar(llave.llave)).toBe(200)
    const { llave: secret, ...publica } = llave
    expect((await environment.operar('GET', `/operadores/${operador}/llaves`)).cuerpo.datos).toEqual([publica])
    expect(environment.log.join()).not.toContain(secret.slice(22, 40))
  })

  it('creates one of some scopes, that ends', async () => {
    const vence_en = new Date(environment.clock().getTime() + HOUR_MS).toISOString()
    const llave = await crearLlaveDeOperador(await crearOperador(), { alcances: ['ver'], vence_en })
    expect(llave).toMatchObject({ alcances: ['ver'], vence_en })
    expect(await buscar(llave.llave)).toBe(200)
    environment.advance(HOUR_MS + 1_000)
    expect(await buscar(llave.llave)).toBe(401)
    environment.advance(-HOUR_MS - 1_000)
  })

  it('creates no key of scopes that the caller’s key lacks, and names them', async () => {
    const operador = await crearOperador()
    const administra = await environment.createOperacionLlave(['administrar', 'ver'])
    const create = async (llave: string, cuerpo: object) =>
      (await environment.request('POST', `/operaciones/v1/operadores/${operador}/llaves`, { llave, cuerpo })) as {
        status: number
        cuerpo: { codigo?: string; mensaje?: string; llave?: string }
      }
    for (const [body, faltan] of [
      [{ alcances: ['operar'] }, 'el alcance operar'],
      [{ alcances: ['ver', 'operar', 'caja'] }, 'los alcances operar y caja'],
      // Left out, they are all.
      [{}, 'los alcances operar y caja'],
    ] as const) {
      const { status, cuerpo: dicho } = await create(administra, body)
      expect([body, status, dicho.codigo]).toEqual([body, 403, 'alcance_insuficiente'])
      expect(dicho.mensaje).toMatch(new RegExp(`^Esta llave no tiene ${faltan} y no puede darlos a otra\\. Pida `))
    }
    expect((await environment.operar('GET', `/operadores/${operador}/llaves`)).cuerpo.datos).toEqual([])
    // A key that it does create has no way to more, either.
    const { status, cuerpo: hija } = await create(administra, { alcances: ['administrar', 'ver'] })
    expect(status).toBe(201)
    expect((await create(hija.llave!, { alcances: ['operar'] })).status).toBe(403)
  })

  it.each<[string, object, string]>([
    ['a merchant’s scope', { alcances: ['guias:leer'] }, '/alcances/0'],
    ['no scope', { alcances: [] }, '/alcances'],
    ['a past expiry', { vence_en: '2020-01-01T00:00:00Z' }, '/vence_en'],
    ['a mode', { modo: 'test' }, '/modo'],
  ])('refuses %s', async (_que, body, campo) => {
    const { status, cuerpo: dicho } = await environment.operar(
      'POST',
      `/operadores/${await crearOperador()}/llaves`,
      body,
    )
    expect([status, dicho.errores.map((e: { campo: string }) => e.campo)]).toEqual([422, [campo]])
  })

  it('answers 404 to operators that don’t exist', async () => {
    expect((await environment.operar('POST', '/operadores/op_NADIE/llaves', {})).cuerpo.codigo).toBe(
      'operador_desconocido',
    )
    expect((await environment.operar('GET', '/operadores/op_NADIE/llaves')).cuerpo.codigo).toBe('operador_desconocido')
  })
})
