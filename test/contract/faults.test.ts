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
const clavesAjenas = (count: number) => Array.from({ length: count }, (_, i) => `${i}_`.padEnd(120, 'x'))

describe('explaining what somebody else chose the number of', () => {
  it('looks at as many faults as it tells, and counts the others', () => {
    let mirados = 0
    const errores = clavesAjenas(6_300).map((key) => ({
      keyword: 'additionalProperties',
      instancePath: '',
      schemaPath: '#/additionalProperties',
      parentSchema: { properties: { telefono: {} } },
      get params() {
        mirados++
        return { additionalProperty: key }
      },
    })) as unknown as ErrorObject[]
    const { listedFaults: dichas, omittedCount: omitidas } = explainErrors(errores, 50)
    expect(dichas).toHaveLength(50)
    expect(omitidas).toBe(6_250)
    expect(mirados).toBeLessThanOrEqual(100)
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
    const { listedFaults: dichas, omittedCount: omitidas } = explainErrors(
      [length, forma, length] as unknown as ErrorObject[],
      50,
    )
    expect([dichas, omitidas]).toEqual([
      [
        { campo: '/nombre', codigo: 'largo_invalido', mensaje: 'debe tener 3 caracteres o menos' },
        { campo: '/nombre', codigo: 'formato_invalido', mensaje: 'solo lleva letras' },
      ],
      0,
    ])
  })

  it('looks at no more than 101 unknown members of an object, and at all that the contract knows', async () => {
    const explicador = new Explainer(() => forInput(readDocument()))
    const { telefono, ...sinTelefono } = buildGuia()
    const ajenas = Object.fromEntries(clavesAjenas(20_000).map((key) => [key, 1]))
    const { listedFaults: dichas, omittedCount: omitidas } = explicador.faults(
      schemaRef('GuiaIndividual'),
      { ...ajenas, ...sinTelefono, municipio: 5 },
      50,
      { pais: 'GT' },
    )
    expect(dichas.map(({ campo }) => campo)).toEqual(expect.arrayContaining(['/telefono']))
    expect(dichas.length + omitidas).toBe(103)
  })

  it('lets other requests of the process go on between the entries of a batch', async () => {
    const explicar = () => ({ listedFaults: [{ campo: '', codigo: 'tipo_invalido', mensaje: 'no' }], omittedCount: 0 })
    const deps = {
      escritura: { create: async () => [] },
      validacion: { validatorFor: () => ({ admit: () => undefined, explain: explicar }), warnUnknownMembers: () => [] },
      settings: { publicUrl: 'https://guias.ejemplo.com' },
    }
    const identidad = { comercioId: 'x', modo: 'test', pais: null }
    let turnos = 0
    const girar = () => {
      turnos++
      next = setImmediate(girar)
    }
    let next = setImmediate(girar)
    const body = { guias: Array.from({ length: 100 }, () => ({})) }
    await crearLote({ body, identity: identidad, requestId: 'x' } as never, deps as never)
    clearImmediate(next)
    expect(turnos).toBeGreaterThanOrEqual(12)
  })

  it('tells at most 500 of a batch of 5,000 unknown keys, at least one of each entry, and the exact rest', async () => {
    const { llave } = await environment.createComercio()
    const ajenas = Object.fromEntries(clavesAjenas(50).map((key) => [key, 1]))
    const { status, cuerpo } = await environment.request('POST', '/api/v1/guias/bulk', {
      llave,
      cuerpo: { guias: Array.from({ length: 100 }, () => ({ ...buildGuia(), maps_url: undefined, ...ajenas })) },
    })
    expect(status).toBe(200)
    const errores = (cuerpo.resultados as { error: { errores: object[]; errores_omitidos?: number } }[]).map(
      ({ error }) => error,
    )
    expect(errores.every((error) => error.errores.length > 0)).toBe(true)
    expect(errores.flatMap((error) => error.errores)).toHaveLength(500)
    expect(errores.every((error) => error.errores.length + (error.errores_omitidos ?? 0) === 50)).toBe(true)
  })

  it('tells the first of 990 unknown parameters, without a key and with one', async () => {
    const query = clavesAjenas(990).join('&')
    const { llave } = await environment.createComercio()
    const suya = await environment.request('GET', `/api/v1/guias?${query.slice(0, 12_000)}`, { llave })
    expect(suya.status).toBe(400)
    expect(suya.cuerpo.errores).toHaveLength(50)
    expect(suya.cuerpo.errores_omitidos).toBe(query.slice(0, 12_000).split('&').length - 50)
    const foreign = await environment.request(
      'GET',
      `/proveedores/whatsapp?${Array.from({ length: 990 }, (_, i) => `p${i}`).join('&')}`,
    )
    expect(foreign.status).toBe(400)
    expect(foreign.cuerpo.errores).toHaveLength(50)
    expect(foreign.cuerpo.errores.length + foreign.cuerpo.errores_omitidos).toBeGreaterThanOrEqual(990)
  })
})
