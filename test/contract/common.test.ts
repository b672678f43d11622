import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMON_RESPONSES } from '../../openapi/componentes/comunes.ts'
import { type JsonObject, operacionesOf, resolveRef } from '../../scripts/documentation/contract.ts'
import { withCommonResponses } from '../../scripts/generate/common.ts'
import { DOCUMENT_NAMES } from '../../scripts/generate/mergeContracts.ts'
import { ROOT } from '../../server/platform/root.ts'

const refOf = (file: string, name: string) => ({ $ref: `../../componentes/${file}.yaml#/${name}` })
const problema = (name: string) => refOf('respuestas/problemas', name)
const exito = { description: 'Listo.', content: { 'application/json': { schema: { type: 'object' } } } }
const json = { required: true, content: { 'application/json': { schema: { type: 'object' } } } }
const responsesOf = (operacion: JsonObject) =>
  withCommonResponses({ operationId: 'x', ...operacion }).responses as JsonObject
const responsesByStatus = (operacion: JsonObject) =>
  Object.entries(responsesOf({ responses: { 200: exito }, ...operacion })).map(
    ([estado, one]) =>
      `${estado} ${String((one as JsonObject).$ref ?? '')
        .split('/')
        .at(-1)}`,
  )

describe('the common answers of an operation', () => {
  const LIMITES = ['405 MetodoNoPermitido', '429 DemasiadasSolicitudes', '503 NoDisponible']

  it('are those of its parameters if it has no security and no body', () => {
    expect(responsesByStatus({ security: [] })).toEqual(['200 ', '400 ParametroInvalido', ...LIMITES])
  })

  it('include 401 and 403 if it requires a key, whose 403 names a scope only if it has one', () => {
    const withAlcances = (alcances: string[]) => responsesByStatus({ security: [{ llaveDeComercio: alcances }] })
    expect(withAlcances(['ver'])).toEqual([
      '200 ',
      '400 ParametroInvalido',
      '401 NoAutenticado',
      '403 SinPermiso',
      ...LIMITES,
    ])
    expect(withAlcances([])).toContain('403 RedNoPermitida')
    expect(responsesByStatus({ security: [{ sesionDeRepartidor: [] }] })).toEqual([
      '200 ',
      '400 ParametroInvalido',
      '401 SesionInvalida',
      ...LIMITES,
    ])
  })

  it('include 413 and 415 with a body, and 422 with a JSON body', () => {
    const binaryBody = responsesByStatus({ security: [], requestBody: { content: { 'image/png': {} } } })
    expect(binaryBody).toEqual(
      expect.arrayContaining(['400 ParametroInvalido', '413 CuerpoDemasiadoGrande', '415 TipoNoAdmitido']),
    )
    expect(binaryBody.some((one) => one.startsWith('422'))).toBe(false)
    expect(responsesByStatus({ security: [], requestBody: json })).toEqual(
      expect.arrayContaining(['400 CuerpoIlegible', '413 CuerpoDemasiadoGrande', '422 DatosNoValidos']),
    )
  })

  it('include 304 and an ETag for a conditional request', () => {
    const parameters = [refOf('parametros/parametros', 'SiNoCoincide')]
    const { 200: success, 304: same } = responsesOf({ security: [], parameters, responses: { 200: exito } })
    expect(same).toEqual(refOf('respuestas/condicional', 'SinCambios'))
    const headers = Object.keys((success as JsonObject).headers as JsonObject)
    expect(headers).toEqual(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'ETag'])
  })

  it('are taken from the security of the document if the operation has none', () => {
    const { responses } = withCommonResponses({ operationId: 'x', responses: {} }, [{ llaveDeOperacion: ['ver'] }])
    expect((responses as JsonObject)[401]).toEqual(problema('NoAutenticado'))
  })

  it('give way to an answer that the path file writes', () => {
    const declaredProblem = problema('SoloEnTest')
    const security = [{ llaveDeComercio: ['ver'] }]
    expect(responsesOf({ security, responses: { 403: declaredProblem } })[403]).toEqual(declaredProblem)
  })

  it('leave out what x-sin-respuestas names, which is not published', () => {
    const completa = withCommonResponses({ operationId: 'x', security: [], 'x-sin-respuestas': ['503'], responses: {} })
    expect(Object.keys(completa.responses as JsonObject)).toEqual(['400', '405', '429'])
    expect(completa).not.toHaveProperty('x-sin-respuestas')
  })

  it.each([
    ['no rule gives', '418', {}],
    ['the path file writes', '503', { 503: exito }],
  ])('reject an exception for a status that %s', (_case, estado, responses) => {
    const operacion = { operationId: 'x', security: [], 'x-sin-respuestas': [estado], responses }
    expect(() => withCommonResponses(operacion)).toThrow(`x: x-sin-respuestas names ${estado}`)
  })
})

describe('an answer that the path file writes in full', () => {
  const headers = { Location: refOf('respuestas/cabeceras', 'Location') }

  it('gets the common headers before its own', () => {
    const { 201: created } = responsesOf({ security: [], responses: { 201: { ...exito, headers } } })
    const declaredHeaders = (created as JsonObject).headers as JsonObject
    expect(Object.keys(declaredHeaders)).toEqual(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Location'])
    expect(Object.keys(created as JsonObject)).toEqual(['description', 'headers', 'content'])
  })

  it('keeps its headers if it writes X-Request-Id itself', () => {
    const declaredHeaders = { 'X-Request-Id': refOf('respuestas/cabeceras', 'IdSolicitud') }
    const { 503: no } = responsesOf({ security: [], responses: { 503: { ...exito, headers: declaredHeaders } } })
    expect((no as JsonObject).headers).toEqual(declaredHeaders)
  })

  it('gets both forms of a problem if it is an error with examples alone', () => {
    const examples = { uno: { value: {} } }
    const error = { description: 'No.', content: { 'application/json': { examples } } }
    const { 409: no, 200: success } = responsesOf({ security: [], responses: { 200: exito, 409: error } })
    expect((no as JsonObject).content).toEqual({
      'application/json': { schema: refOf('schemas/problemas', 'Problema'), examples },
      'application/problem+json': { schema: refOf('schemas/problemas', 'ProblemaRfc9457') },
    })
    expect((success as JsonObject).content).toEqual(exito.content)
  })
})

describe.each(DOCUMENT_NAMES)('the published document %s', (documento) => {
  const contract = JSON.parse(
    readFileSync(new URL(`server/generated/contract/${documento}.json`, ROOT), 'utf8'),
  ) as JsonObject

  it('has 405 and 429 on every operation, and X-Request-Id on every answer', () => {
    const operaciones = operacionesOf(contract)
    expect(operaciones.length).toBeGreaterThan(10)
    for (const { id, definition } of operaciones) {
      const responses = Object.entries(definition.responses as JsonObject)
      expect(Object.keys(definition.responses as JsonObject), id).toEqual(expect.arrayContaining(['405', '429']))
      for (const [estado, one] of responses)
        expect(Object.keys(resolveRef(contract, one).headers as JsonObject), `${id} ${estado}`).toContain(
          'X-Request-Id',
        )
    }
  })

  it('names no exception', () => {
    expect(JSON.stringify(contract)).not.toContain('x-sin-respuestas')
  })
})

it('no path file writes an answer or a header of the list that it gets anyway', () => {
  const always = Object.values(COMMON_RESPONSES.find(([condition]) => condition === 'siempre')![1])
  const surplus = [...always.map((path) => path.split('/')[1]), 'RateLimit', 'RateLimitPolicy', 'ProblemaRfc9457']
  const repetidas = globSync('openapi/*/paths/*.yaml', { cwd: ROOT }).filter((file) => {
    const text = readFileSync(new URL(file, ROOT), 'utf8')
    return surplus.some((name) => text.includes(`#/${name}'`))
  })
  expect(repetidas).toEqual([])
})
