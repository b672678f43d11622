import type { ErrorObject } from 'ajv'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { Explainer } from '../../server/api/contract/explainer.ts'
import { explainErrors } from '../../server/api/contract/faults.ts'
import { forInput, schemaRef } from '../../server/api/contract/schemas.ts'
import { crearLote } from '../../server/domain/guias/crearLote.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()

/** Keys of the greatest length that the JSON reader lets through, none like another. */
const foreignKeys = (count: number) => Array.from({ length: count }, (_, i) => `${i}_`.padEnd(120, 'x'))

describe('explaining what somebody else chose the number of', () => {
  it('looks at as many faults as it tells, and counts the others', () => {
    let examinedCount = 0
    const errores = foreignKeys(6_300).map((key) => ({
      keyword: 'additionalProperties',
      instancePath: '',
      schemaPath: '#/additionalProperties',
      parentSchema: { properties: { telefono: {} } },
      get params() {
        examinedCount++
        return { additionalProperty: key }
      },
    })) as unknown as ErrorObject[]
    const { listedFaults, omittedCount } = explainErrors(errores, 50)
    expect(listedFaults).toHaveLength(50)
    expect(omittedCount).toBe(6_250)
    expect(examinedCount).toBeLessThanOrEqual(100)
  })

  it('tells each rule that a field breaks, and none twice', () => {
    const error = (keyword: string, params: object) => ({
      keyword,
      params,
      instancePath: '/nombre',
      schemaPath: `#/properties/nombre/${keyword}`,
      data: 'x',
      parentSchema: keyword === 'pattern' ? { 'x-mensaje': 'solo lleva letras' } : {},
    })
    const [length, forma] = [error('maxLength', { limit: 3 }), error('pattern', {})]
    const { listedFaults, omittedCount } = explainErrors([length, forma, length] as unknown as ErrorObject[], 50)
    expect([listedFaults, omittedCount]).toEqual([
      [
        { campo: '/nombre', codigo: 'largo_invalido', mensaje: 'debe tener 3 caracteres o menos' },
        { campo: '/nombre', codigo: 'formato_invalido', mensaje: 'solo lleva letras' },
      ],
      0,
    ])
  })

  it('looks at no more than 101 unknown members of an object, and at all that the contract knows', async () => {
    const explainer = new Explainer(() => forInput(readDocument()))
    const { telefono, ...guiaWithoutTelefono } = buildGuia()
    const foreign = Object.fromEntries(foreignKeys(20_000).map((key) => [key, 1]))
    const { listedFaults, omittedCount } = explainer.faults(
      schemaRef('GuiaIndividual'),
      { ...foreign, ...guiaWithoutTelefono, municipio: 5 },
      50,
      { pais: 'GT' },
    )
    expect(listedFaults.map(({ campo: field }) => field)).toEqual(expect.arrayContaining(['/telefono']))
    expect(listedFaults.length + omittedCount).toBe(103)
  })

  it('lets other requests of the process go on between the entries of a batch', async () => {
    const explain = () => ({ listedFaults: [{ campo: '', codigo: 'tipo_invalido', mensaje: 'no' }], omittedCount: 0 })
    const deps = {
      escritura: { create: async () => [] },
      validacion: { validatorFor: () => ({ admit: () => undefined, explain }), warnUnknownMembers: () => [] },
      settings: { publicUrl: 'https://guias.ejemplo.com' },
    }
    const identity = { comercioId: 'x', modo: 'test', pais: null }
    let turnos = 0
    const spin = () => {
      turnos++
      next = setImmediate(spin)
    }
    let next = setImmediate(spin)
    const body = { guias: Array.from({ length: 100 }, () => ({})) }
    await crearLote({ body, identity, requestId: 'x' } as never, deps as never)
    clearImmediate(next)
    expect(turnos).toBeGreaterThanOrEqual(12)
  })

  it('tells at most 500 of a batch of 5,000 unknown keys, at least one of each entry, and the exact rest', async () => {
    const { llave } = await environment.createComercio()
    const foreign = Object.fromEntries(foreignKeys(50).map((key) => [key, 1]))
    const { status, body } = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      body: { guias: Array.from({ length: 100 }, () => ({ ...buildGuia(), maps_url: undefined, ...foreign })) },
    })
    expect(status).toBe(200)
    const errores = (body.resultados as { error: { errores: object[]; errores_omitidos?: number } }[]).map(
      ({ error }) => error,
    )
    expect(errores.every((error) => error.errores.length > 0)).toBe(true)
    expect(errores.flatMap((error) => error.errores)).toHaveLength(500)
    expect(errores.every((error) => error.errores.length + (error.errores_omitidos ?? 0) === 50)).toBe(true)
  })

  it('tells the first of 990 unknown parameters, without a key and with one', async () => {
    const query = foreignKeys(990).join('&')
    const { llave } = await environment.createComercio()
    const response = await environment.request('GET', `/api/v1/guias?${query.slice(0, 12_000)}`, { llave })
    expect(response.status).toBe(400)
    expect(response.body.errores).toHaveLength(50)
    expect(response.body.errores_omitidos).toBe(query.slice(0, 12_000).split('&').length - 50)
    const foreign = await environment.request(
      'GET',
      `/proveedores/whatsapp?${Array.from({ length: 990 }, (_, i) => `p${i}`).join('&')}`,
    )
    expect(foreign.status).toBe(400)
    expect(foreign.body.errores).toHaveLength(50)
    expect(foreign.body.errores.length + foreign.body.errores_omitidos).toBeGreaterThanOrEqual(990)
  })
})
