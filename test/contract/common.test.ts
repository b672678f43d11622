import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMON_RESPONSES } from '../../openapi/componentes/comunes.ts'
import { type JsonObject, operacionesOf, resolveRef } from '../../scripts/documentation/contract.ts'
import { withCommonResponses } from '../../scripts/generate/common.ts'
import { DOCUMENT_NAMES } from '../../scripts/generate/mergeContracts.ts'
import { ROOT } from '../../server/platform/root.ts'

const refDe = (file: string, name: string) => ({ $ref: `../../componentes/${file}.yaml#/${name}` })
const problema = (name: string) => refDe('respuestas/problemas', name)
const exito = { description: 'Listo.', content: { 'application/json': { schema: { type: 'object' } } } }
const json = { required: true, content: { 'application/json': { schema: { type: 'object' } } } }
const respuestasDe = (operacion: JsonObject) =>
  withCommonResponses({ operationId: 'x', ...operacion }).responses as JsonObject
const deEstados = (operacion: JsonObject) =>
  Object.entries(respuestasDe({ responses: { 200: exito }, ...operacion })).map(
    ([estado, one]) =>
      `${estado} ${String((one as JsonObject).$ref ?? '')
        .split('/')
        .at(-1)}`,
  )

describe('the common answers of an operation', () => {
  const LIMITES = ['405 MetodoNoPermitido', '429 DemasiadasSolicitudes', '503 NoDisponible']

  it('are those of its parameters if it has no security and no body', () => {
    expect(deEstados({ security: [] })).toEqual(['200 ', '400 ParametroInvalido', ...LIMITES])
  })

  it('include 401 and 403 if it requires a key, whose 403 names a scope only if it has one', () => {
    const con = (alcances: string[]) => deEstados({ security: [{ llaveDeComercio: alcances }] })
    expect(con(['ver'])).toEqual(['200 ', '400 ParametroInvalido', '401 NoAutenticado', '403 SinPermiso', ...LIMITES])
    expect(con([])).toContain('403 RedNoPermitida')
    expect(deEstados({ security: [{ sesionDeRepartidor: [] }] })).toEqual([
      '200 ',
      '400 ParametroInvalido',
      '401 SesionInvalida',
      ...LIMITES,
    ])
  })

  it('include 413 and 415 with a body, and 422 with a JSON body', () => {
    const conBinario = deEstados({ security: [], requestBody: { content: { 'image/png': {} } } })
    expect(conBinario).toEqual(
      expect.arrayContaining(['400 ParametroInvalido', '413 CuerpoDemasiadoGrande', '415 TipoNoAdmitido']),
    )
    expect(conBinario.some((one) => one.startsWith('422'))).toBe(false)
    expect(deEstados({ security: [], requestBody: json })).toEqual(
      expect.arrayContaining(['400 CuerpoIlegible', '413 CuerpoDemasiadoGrande', '422 DatosNoValidos']),
    )
  })

  it('include 304 and an ETag for a conditional request', () => {
    const parameters = [refDe('parametros/parametros', 'SiNoCoincide')]
    const { 200: bien, 304: same } = respuestasDe({ security: [], parameters, responses: { 200: exito } })
    expect(same).toEqual(refDe('respuestas/condicional', 'SinCambios'))
    const headers = Object.keys((bien as JsonObject).headers as JsonObject)
    expect(headers).toEqual(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'ETag'])
  })

  it('are taken from the security of the document if the operation has none', () => {
    const { responses } = withCommonResponses({ operationId: 'x', responses: {} }, [{ llaveDeOperacion: ['ver'] }])
    expect((responses as JsonObject)[401]).toEqual(problema('NoAutenticado'))
  })

  it('give way to an answer that the path file writes', () => {
    const ownItem = problema('SoloEnTest')
    const security = [{ llaveDeComercio: ['ver'] }]
    expect(respuestasDe({ security, responses: { 403: ownItem } })[403]).toEqual(ownItem)
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
  const headers = { Location: refDe('respuestas/cabeceras', 'Location') }

  it('gets the common headers before its own', () => {
    const { 201: created } = respuestasDe({ security: [], responses: { 201: { ...exito, headers } } })
    const ownItems = (created as JsonObject).headers as JsonObject
    expect(Object.keys(ownItems)).toEqual(['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Location'])
    expect(Object.keys(created as JsonObject)).toEqual(['description', 'headers', 'content'])
  })

  it('keeps its headers if it writes X-Request-Id itself', () => {
    const ownItems = { 'X-Request-Id': refDe('respuestas/cabeceras', 'IdSolicitud') }
    const { 503: no } = respuestasDe({ security: [], responses: { 503: { ...exito, headers: ownItems } } })
    expect((no as JsonObject).headers).toEqual(ownItems)
  })

  it('gets both forms of a problem if it is an error with examples alone', () => {
    const examples = { uno: { value: {} } }
    const error = { description: 'No.', content: { 'application/json': { examples } } }
    const { 409: no, 200: bien } = respuestasDe({ security: [], responses: { 200: exito, 409: error } })
    expect((no as JsonObject).content).toEqual({
      'application/json': { schema: refDe('schemas/problemas', 'Problema'), examples },
      'application/problem+json': { schema: refDe('schemas/problemas', 'ProblemaRfc9457') },
    })
    expect((bien as JsonObject).content).toEqual(exito.content)
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
