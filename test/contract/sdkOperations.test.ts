// The operations as the SDK knows them are the contract's: method, path, what may be repeated, and types.
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type JsonObject, operacionesOf } from '../../scripts/documentation/contract.ts'
import { renderSdkOperaciones, takesKey } from '../../scripts/generate/sdkOperations.ts'
import { buildRequest, type Operacion } from '../../sdk/src/call.ts'
import type { ResourceClient } from '../../sdk/src/client.ts'
import { REPEATABLE_OPERATIONS } from '../../sdk/src/generated/operations.ts'
import type { EnsayoDeRecuperacion, Guia, PaginaDeGuias, Recuperacion } from '../../sdk/src/generated/types.gen.ts'
import type { Listado } from '../../sdk/src/pages.ts'
import type { Solicitud } from '../../sdk/src/request.ts'
import { isEtiquetas, isGuia, isNothing, isPage, isRecovery } from '../../sdk/src/shapes.ts'
import contract from '../../server/generated/contract/comercios.json' with { type: 'json' }

const comercios = contract as unknown as JsonObject
const operacionesOfComercios = operacionesOf(comercios).filter(({ definition }) =>
  ((definition.security ?? comercios.security) as JsonObject[]).some((one) => 'llaveDeComercio' in one),
)

const keyOf = ({ method, path }: { method: string; path: string }) =>
  `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, '')}` as Operacion
const CODIGOS = { guia: 'A', webhook: 'B', aviso: 'C', recuperacion: 'D' }

describe('the operations of the SDK', () => {
  it('have the method, path, types and x-repetible of the contract', () => {
    const source = renderSdkOperaciones(comercios)
    for (const one of operacionesOfComercios) {
      const { id, method, path, definition } = one
      const key = keyOf(one)
      const tipo = `${id[0]!.toUpperCase()}${id.slice(1)}`
      expect(source).toContain(`  '${key}': { datos: ${tipo}Data; salida: ${tipo}Response }\n`)
      const requestData = buildRequest(key, { path: CODIGOS })
      const message = definition['x-repetible']
      // The SDK adds a key where the operation takes one, and has no reference here.
      expect([key, requestData.metodo, requestData.repetible]).toEqual([key, method.toUpperCase(), message !== false])
      expect([key, requestData.clave !== undefined]).toEqual([key, takesKey(comercios, one)])
      expect([key, REPEATABLE_OPERATIONS[key] ?? `${message === true}`]).toEqual([key, `${message}`])
      expect(requestData.ruta).toBe(
        path.replace(/\{(\w+)\}/g, (_, name: string) => CODIGOS[name as keyof typeof CODIGOS]),
      )
    }
    expect(operacionesOfComercios.length).toBeGreaterThan(25)
    expect(operacionesOfComercios.map(keyOf)).toEqual(expect.arrayContaining(Object.keys(REPEATABLE_OPERATIONS)))
  })

  it('include a reading that must not be repeated, if the contract has one', () => {
    const changedContract = structuredClone(comercios)
    operacionesOf(changedContract).find(({ id }) => id === 'listarGuias')!.definition['x-repetible'] = false
    expect(renderSdkOperaciones(changedContract)).toContain("  'GET /guias': 'false',\n")
    expect(renderSdkOperaciones(comercios)).not.toContain("'GET /guias': 'false'")
  })

  it('holds nothing that reads for unsafe to repeat', () => {
    const lecturas = operacionesOfComercios.filter(({ method }) => method === 'get')
    expect(lecturas.filter(({ definition }) => definition['x-repetible'] !== true)).toEqual([])
  })

  it.each([undefined, 'referencia', 'guias/external_ref', 7])('is not written for x-repetible: %s', (bad) => {
    const changedContract = structuredClone(comercios)
    const create = operacionesOf(changedContract).find(({ id }) => id === 'crearGuia')!.definition
    if (bad === undefined) delete create['x-repetible']
    else create['x-repetible'] = bad
    expect(() => renderSdkOperaciones(changedContract)).toThrow('crearGuia: x-repetible')
  })
})

describe('types of a call (this compiles)', () => {
  const checkTypes = (request: ResourceClient['request'], listar: ResourceClient['listar']) => {
    const path = { webhook: 'wh_1' }
    const body = { desde: '2026-11-20T15:00:00Z' }
    expectTypeOf(request('POST /guias/{guia}/cancelar', { path: { guia: 'A' } }, undefined, isGuia)).toEqualTypeOf<
      Solicitud<Guia>
    >()
    expectTypeOf(listar('GET /guias', {}, undefined)).toEqualTypeOf<Listado<Guia, PaginaDeGuias>>()
    expectTypeOf(request('DELETE /webhooks/{webhook}', { path }, undefined, isNothing)).toEqualTypeOf<
      Solicitud<undefined>
    >()
    const recovery = request('POST /webhooks/{webhook}/recuperar', { path, body }, undefined, isRecovery)
    expectTypeOf(recovery).toEqualTypeOf<Solicitud<Recuperacion>>()
  }
  const bad = (request: ResourceClient['request'], listar: ResourceClient['listar']) => {
    // @ts-expect-error no such operation
    request('DELETE /guias/{guia}', {}, undefined, isNothing)
    // @ts-expect-error no path
    request('POST /guias/{guia}/cancelar', {}, undefined, isGuia)
    // @ts-expect-error another's member of the path
    request('POST /guias/{guia}/cancelar', { path: { webhook: 'wh_1' } }, undefined, isGuia)
    // @ts-expect-error one member too many
    request('POST /guias/{guia}/cancelar', { path: { guia: 'A', webhook: 'wh_1' } }, undefined, isGuia)
    // @ts-expect-error a path where there is none
    request('POST /etiquetas', { path: { guia: 'A' }, body: { guias: ['A'] } }, undefined, isEtiquetas)
    // @ts-expect-error no body
    request('POST /guias', {}, undefined, isGuia)
    // @ts-expect-error another's body
    request('POST /guias', { body: { guias: [] } }, undefined, isGuia)
    // @ts-expect-error a body where there is none
    request('GET /guias/{guia}', { path: { guia: 'A' }, body: {} }, undefined, isGuia)
    // @ts-expect-error no such filter
    listar('GET /guias', { query: { estados: ['en_ruta'] } }, undefined)
    // @ts-expect-error a list is walked
    request('GET /guias', {}, undefined, isPage)
    // @ts-expect-error what is no list isn't
    listar('GET /guias/{guia}', { path: { guia: 'A' } }, undefined)
    // @ts-expect-error another's answer
    const other: Solicitud<Recuperacion> = request(
      'POST /guias/{guia}/cancelar',
      { path: { guia: 'A' } },
      undefined,
      isGuia,
    )
    // @ts-expect-error a shape that the operation doesn't answer
    request('GET /webhooks/{webhook}', { path: { webhook: 'wh_1' } }, undefined, isGuia)
    const recuperacion = { path: { webhook: 'wh_1' }, body: { desde: '2026-11-20T15:00:00Z' } }
    // @ts-expect-error no shape of its answer
    request('POST /webhooks/{webhook}/recuperar', recuperacion, undefined)
    // @ts-expect-error the other of its two answers
    const ensayo: Solicitud<EnsayoDeRecuperacion> = request(
      'POST /webhooks/{webhook}/recuperar',
      recuperacion,
      undefined,
      isRecovery,
    )
    return [other, ensayo]
  }

  it('are the contract’s', () => {
    expect([checkTypes, bad]).toHaveLength(2)
  })
})
