import { parse } from 'node:querystring'
import type { Request } from 'express'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../server/api/contract/contract.ts'
import { loadContract } from '../../server/api/contract/load.ts'
import { createFastJudge, judgeParameters, mountOpenApiValidator } from '../../server/api/contract/parameters.ts'
import { HEADER_VALIDATORS, PATH_VALIDATORS, QUERY_VALIDATORS } from '../../server/generated/contract/validators.mjs'

const { operaciones } = loadContract()
const validator = await mountOpenApiValidator(operaciones)

interface Valores {
  params: Record<string, string>
  headers: Record<string, string>
  /** With its `?`, if there is any. */
  query: string
}

/** A request as it reaches the judges of parameters. */
function requestTo({ path: template, method }: Operation, { params, headers, query }: Valores): Request {
  const path = template.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? 'x'))
  return {
    method: method.toUpperCase(),
    path,
    originalUrl: path + query,
    baseUrl: '',
    url: path + query,
    get: () => undefined,
    header: () => undefined,
    app: { enabled: () => true, param: () => {} },
    headers: { ...headers },
    params: { ...params },
    query: { ...parse(query.slice(1)) },
  } as unknown as Request
}

/** What the judge of an operation passes to `next`. */
const verdictOn = (operation: Operation, req: Request) =>
  new Promise<unknown>((resolve) => judgeParameters(operation, () => validator)(req, {} as never, resolve))

/** The query as express-openapi-validator leaves it, undefined where it refuses the request. */
async function queryOfValidator(operation: Operation, values: Valores): Promise<unknown> {
  // Nothing is named by what stands behind the last &, but the quick judge leaves such a query to the validator.
  const req = requestTo(operation, { ...values, query: `${values.query || '?'}&` })
  const error = (await verdictOn(operation, req)) as { status?: number } | undefined
  if (error && error.status !== 400) throw error
  return error ? undefined : { ...req.query }
}

const TEXTO = fc.oneof(
  fc.constantFrom(
    '1',
    '50',
    '100',
    '101',
    '0',
    '-1',
    '1e1',
    '007',
    'true',
    'null',
    '',
    'aceptado',
    'foto',
    'GT',
    'live',
  ),
  fc.constantFrom('2026-11-20T15:04:05Z', 'ayer', '7K3M9QX2A1B4', '+50255551234', 'a,b', '[1]', '{"a":1}', 'a b', 'ñ'),
  fc.string({ maxLength: 20 }),
  fc.constant('x'.repeat(17_000)),
)

/** Values of a query that are right, or would be if they were escaped. */
const PLAUSIBLE_VALUES = {
  limite: '50',
  cursor: 'AbC-_1',
  external_ref: 'PEDIDO/1',
  telefono: '+50255551234',
  guia: '7K3M9QX2A1B4',
  creado_desde: '2026-11-20T15:04:05Z',
  creado_hasta: '2026-11-20T15:04:05Z',
  tipo: 'foto',
  buscar: "San Juan (Sur)'",
  departamento: 'GT-SA',
  capturado_en: '2026-11-20T15:04:05Z',
  accion: 'crearWebhook',
  sobre: 'wh_1,wh_2',
  comercio: 'com@1',
}

function valuesFor({ parameters: declared }: Operation): fc.Arbitrary<Valores> {
  const namesIn = (place: string) => declared.filter((one) => one.in === place).map(({ name }) => name)
  const textFor = (names: readonly string[], always: boolean, text = TEXTO) =>
    fc.record(Object.fromEntries(names.map((name) => [name, text])), always ? {} : { requiredKeys: [] })
  const plausibleEntries = Object.entries(PLAUSIBLE_VALUES).filter(([name]) => namesIn('query').includes(name))
  const pair = fc.oneof(
    fc.tuple(fc.constantFrom(...namesIn('query'), 'otro'), TEXTO, fc.boolean()),
    ...plausibleEntries.map(([name, value]) => ({
      weight: 3,
      arbitrary: fc.boolean().map((isRaw) => [name, value, isRaw] as const),
    })),
  )
  const query = fc
    .array(pair, { maxLength: 3 })
    .map((pairs) => pairs.map(([name, value, isRaw]) => `${name}=${isRaw ? value : encodeURIComponent(value)}`))
    .map((parts) => (parts.length > 0 ? `?${parts.join('&').replaceAll('#', '')}` : ''))
  return fc.record({
    params: textFor(
      namesIn('path'),
      true,
      TEXTO.filter((text) => text !== ''),
    ) as fc.Arbitrary<Record<string, string>>,
    headers: textFor(namesIn('header'), false) as fc.Arbitrary<Record<string, string>>,
    query,
  })
}

describe('the quick judge of parameters', () => {
  it('has its schemas for every operation with parameters', () => {
    const operacionesWith = (place: string) =>
      operaciones.filter((one) => one.parameters.some((one) => one.in === place)).map(({ id }) => id)
    for (const [place, table] of [
      ['path', PATH_VALIDATORS] as const,
      ['query', QUERY_VALIDATORS] as const,
      ['header', HEADER_VALIDATORS] as const,
    ])
      expect(Object.keys(table).sort()).toEqual(operacionesWith(place).sort())
  })

  it.each(operaciones.filter((one) => one.parameters.length > 0).map((one) => [one.id, one] as const))(
    'lets nothing through to %s that express-openapi-validator refuses, and reads queries as it does',
    async (_id, operacion) => {
      const passesFastJudge = createFastJudge(operacion)
      await fc.assert(
        fc.asyncProperty(valuesFor(operacion), async (values) => {
          const req = requestTo(operacion, values)
          if (!passesFastJudge(req)) return
          const read = await queryOfValidator(operacion, values)
          expect(read, JSON.stringify(values)).toBeDefined()
          // Without a query there is nothing to put defaults in.
          if (values.query !== '') expect({ ...req.query }).toEqual(read)
        }),
      )
    },
  )

  it('decides by itself what clients ask for every day', () => {
    const decide = (id: string, query: string, headers = {}) => {
      const operacion = operaciones.find((one) => one.id === id)!
      const req = requestTo(operacion, {
        params: { guia: '7K3M9QX2A1B4', webhook: 'wh_4T8WQ2ZK7NHB' },
        headers,
        query,
      })
      return createFastJudge(operacion)(req) && { ...req.query }
    }
    expect(decide('listarEventos', '?limite=50')).toEqual({ limite: 50 })
    expect(decide('listarEventos', '?cursor=AbC-_1', { 'if-none-match': '"x"' })).toEqual({
      cursor: 'AbC-_1',
      limite: 25,
    })
    expect(decide('obtenerGuia', '')).toEqual({})
    expect(decide('listarAvisosDeWebhook', '?estado=fallido&creado_desde=2026-11-20T15%3A04%3A05Z')).toEqual({
      estado: 'fallido',
      creado_desde: '2026-11-20T15:04:05Z',
      limite: 25,
    })
    for (const query of [
      '?limite=101',
      '?limite=1e1',
      '?limite=',
      '?limite=1&limite=2',
      '?otro=1',
      '?limite=5;',
      '?desde=ahora',
    ])
      expect(decide('listarEventos', query), query).toBe(false)
  })

  it('fails for a request that express-openapi-validator does not recognise', async () => {
    const byId = (id: string) => operaciones.find((operation) => operation.id === id)!
    const parts = { params: { guia: '7K3M9QX2A1B4' }, headers: {}, query: '?limite=1&' }
    const expectedError = { message: 'express-openapi-validator did not recognise listarEventos' }
    for (const id of ['listarGuias', 'obtenerGuia'])
      expect(await verdictOn(byId('listarEventos'), requestTo(byId(id), parts)), id).toMatchObject(expectedError)
    for (const change of [{ url: '/otra?limite=1&' }, { method: 'DELETE' }]) {
      const req = Object.assign(requestTo(byId('listarEventos'), parts), change)
      expect(await verdictOn(byId('listarEventos'), req), JSON.stringify(change)).toMatchObject(expectedError)
    }
  })
})
