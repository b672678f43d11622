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
async function queryOfValidator(operation: Operation, valores: Valores): Promise<unknown> {
  // Nothing is named by what stands behind the last &, but the quick judge leaves such a query to the validator.
  const req = requestTo(operation, { ...valores, query: `${valores.query || '?'}&` })
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
const PLAUSIBLES = {
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

function valoresPara({ parameters: suyos }: Operation): fc.Arbitrary<Valores> {
  const de = (donde: string) => suyos.filter((uno) => uno.in === donde).map(({ name }) => name)
  const cada = (nombres: readonly string[], siempre: boolean, text = TEXTO) =>
    fc.record(Object.fromEntries(nombres.map((nombre) => [nombre, text])), siempre ? {} : { requiredKeys: [] })
  const plausibles = Object.entries(PLAUSIBLES).filter(([nombre]) => de('query').includes(nombre))
  const par = fc.oneof(
    fc.tuple(fc.constantFrom(...de('query'), 'otro'), TEXTO, fc.boolean()),
    ...plausibles.map(([nombre, valor]) => ({
      weight: 3,
      arbitrary: fc.boolean().map((cruda) => [nombre, valor, cruda] as const),
    })),
  )
  const consulta = fc
    .array(par, { maxLength: 3 })
    .map((pares) => pares.map(([nombre, valor, cruda]) => `${nombre}=${cruda ? valor : encodeURIComponent(valor)}`))
    .map((partes) => (partes.length > 0 ? `?${partes.join('&').replaceAll('#', '')}` : ''))
  return fc.record({
    params: cada(
      de('path'),
      true,
      TEXTO.filter((text) => text !== ''),
    ) as fc.Arbitrary<Record<string, string>>,
    headers: cada(de('header'), false) as fc.Arbitrary<Record<string, string>>,
    query: consulta,
  })
}

describe('the quick judge of parameters', () => {
  it('has its schemas for every operation with parameters', () => {
    const con = (donde: string) =>
      operaciones.filter((una) => una.parameters.some((uno) => uno.in === donde)).map(({ id }) => id)
    for (const [donde, tabla] of [
      ['path', PATH_VALIDATORS] as const,
      ['query', QUERY_VALIDATORS] as const,
      ['header', HEADER_VALIDATORS] as const,
    ])
      expect(Object.keys(tabla).sort()).toEqual(con(donde).sort())
  })

  it.each(operaciones.filter((una) => una.parameters.length > 0).map((una) => [una.id, una] as const))(
    'lets nothing through to %s that express-openapi-validator refuses, and reads queries as it does',
    async (_id, operacion) => {
      const basta = createFastJudge(operacion)
      await fc.assert(
        fc.asyncProperty(valoresPara(operacion), async (valores) => {
          const req = requestTo(operacion, valores)
          if (!basta(req)) return
          const read = await queryOfValidator(operacion, valores)
          expect(read, JSON.stringify(valores)).toBeDefined()
          // Without a query there is nothing to put defaults in.
          if (valores.query !== '') expect({ ...req.query }).toEqual(read)
        }),
      )
    },
  )

  it('decides by itself what clients ask for every day', () => {
    const decide = (id: string, consulta: string, headers = {}) => {
      const operacion = operaciones.find((una) => una.id === id)!
      const req = requestTo(operacion, {
        params: { guia: '7K3M9QX2A1B4', webhook: 'wh_4T8WQ2ZK7NHB' },
        headers,
        query: consulta,
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
    for (const consulta of [
      '?limite=101',
      '?limite=1e1',
      '?limite=',
      '?limite=1&limite=2',
      '?otro=1',
      '?limite=5;',
      '?desde=ahora',
    ])
      expect(decide('listarEventos', consulta), consulta).toBe(false)
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
