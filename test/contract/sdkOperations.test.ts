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
const suyas = operacionesOf(comercios).filter(({ definition: definicion }) =>
  ((definicion.security ?? comercios.security) as JsonObject[]).some((una) => 'llaveDeComercio' in una),
)

const claveDe = ({ method: metodo, path: ruta }: { method: string; path: string }) =>
  `${metodo.toUpperCase()} ${ruta.replace(/^\/api\/v1/, '')}` as Operacion
const CODIGOS = { guia: 'A', webhook: 'B', aviso: 'C', recuperacion: 'D' }

describe('the operations of the SDK', () => {
  it('have the method, path, types and x-repetible of the contract', () => {
    const fuente = renderSdkOperaciones(comercios)
    for (const una of suyas) {
      const { id, method: metodo, path: ruta, definition: definicion } = una
      const clave = claveDe(una)
      const tipo = `${id[0]!.toUpperCase()}${id.slice(1)}`
      expect(fuente).toContain(`  '${clave}': { datos: ${tipo}Data; salida: ${tipo}Response }\n`)
      const pedido = buildRequest(clave, { path: CODIGOS })
      const dicho = definicion['x-repetible']
      // The SDK adds a key where the operation takes one, and has no reference here.
      expect([clave, pedido.metodo, pedido.repetible]).toEqual([clave, metodo.toUpperCase(), dicho !== false])
      expect([clave, pedido.clave !== undefined]).toEqual([clave, takesKey(comercios, una)])
      expect([clave, REPEATABLE_OPERATIONS[clave] ?? `${dicho === true}`]).toEqual([clave, `${dicho}`])
      expect(pedido.ruta).toBe(
        ruta.replace(/\{(\w+)\}/g, (_, nombre: string) => CODIGOS[nombre as keyof typeof CODIGOS]),
      )
    }
    expect(suyas.length).toBeGreaterThan(25)
    expect(suyas.map(claveDe)).toEqual(expect.arrayContaining(Object.keys(REPEATABLE_OPERATIONS)))
  })

  it('include a reading that must not be repeated, if the contract has one', () => {
    const copia = structuredClone(comercios)
    operacionesOf(copia).find(({ id }) => id === 'listarGuias')!.definition['x-repetible'] = false
    expect(renderSdkOperaciones(copia)).toContain("  'GET /guias': 'false',\n")
    expect(renderSdkOperaciones(comercios)).not.toContain("'GET /guias': 'false'")
  })

  it('holds nothing that reads for unsafe to repeat', () => {
    const lecturas = suyas.filter(({ method: metodo }) => metodo === 'get')
    expect(lecturas.filter(({ definition: definicion }) => definicion['x-repetible'] !== true)).toEqual([])
  })

  it.each([undefined, 'referencia', 'guias/external_ref', 7])('is not written for x-repetible: %s', (mal) => {
    const copia = structuredClone(comercios)
    const crear = operacionesOf(copia).find(({ id }) => id === 'crearGuia')!.definition
    if (mal === undefined) delete crear['x-repetible']
    else crear['x-repetible'] = mal
    expect(() => renderSdkOperaciones(copia)).toThrow('crearGuia: x-repetible')
  })
})

describe('types of a call (this compiles)', () => {
  const bien = (pedir: ResourceClient['request'], listar: ResourceClient['listar']) => {
    const path = { webhook: 'wh_1' }
    const body = { desde: '2026-11-20T15:00:00Z' }
    expectTypeOf(pedir('POST /guias/{guia}/cancelar', { path: { guia: 'A' } }, undefined, isGuia)).toEqualTypeOf<
      Solicitud<Guia>
    >()
    expectTypeOf(listar('GET /guias', {}, undefined)).toEqualTypeOf<Listado<Guia, PaginaDeGuias>>()
    expectTypeOf(pedir('DELETE /webhooks/{webhook}', { path }, undefined, isNothing)).toEqualTypeOf<
      Solicitud<undefined>
    >()
    const recuperada = pedir('POST /webhooks/{webhook}/recuperar', { path, body }, undefined, isRecovery)
    expectTypeOf(recuperada).toEqualTypeOf<Solicitud<Recuperacion>>()
  }
  const mal = (pedir: ResourceClient['request'], listar: ResourceClient['listar']) => {
    // @ts-expect-error no such operation
    pedir('DELETE /guias/{guia}', {}, undefined, isNothing)
    // @ts-expect-error no path
    pedir('POST /guias/{guia}/cancelar', {}, undefined, isGuia)
    // @ts-expect-error another's member of the path
    pedir('POST /guias/{guia}/cancelar', { path: { webhook: 'wh_1' } }, undefined, isGuia)
    // @ts-expect-error one member too many
    pedir('POST /guias/{guia}/cancelar', { path: { guia: 'A', webhook: 'wh_1' } }, undefined, isGuia)
    // @ts-expect-error a path where there is none
    pedir('POST /etiquetas', { path: { guia: 'A' }, body: { guias: ['A'] } }, undefined, isEtiquetas)
    // @ts-expect-error no body
    pedir('POST /guias', {}, undefined, isGuia)
    // @ts-expect-error another's body
    pedir('POST /guias', { body: { guias: [] } }, undefined, isGuia)
    // @ts-expect-error a body where there is none
    pedir('GET /guias/{guia}', { path: { guia: 'A' }, body: {} }, undefined, isGuia)
    // @ts-expect-error no such filter
    listar('GET /guias', { query: { estados: ['en_ruta'] } }, undefined)
    // @ts-expect-error a list is walked
    pedir('GET /guias', {}, undefined, isPage)
    // @ts-expect-error what is no list isn't
    listar('GET /guias/{guia}', { path: { guia: 'A' } }, undefined)
    // @ts-expect-error another's answer
    const otra: Solicitud<Recuperacion> = pedir(
      'POST /guias/{guia}/cancelar',
      { path: { guia: 'A' } },
      undefined,
      isGuia,
    )
    // @ts-expect-error a shape that the operation doesn't answer
    pedir('GET /webhooks/{webhook}', { path: { webhook: 'wh_1' } }, undefined, isGuia)
    const recuperacion = { path: { webhook: 'wh_1' }, body: { desde: '2026-11-20T15:00:00Z' } }
    // @ts-expect-error no shape of its answer
    pedir('POST /webhooks/{webhook}/recuperar', recuperacion, undefined)
    // @ts-expect-error the other of its two answers
    const ensayo: Solicitud<EnsayoDeRecuperacion> = pedir(
      'POST /webhooks/{webhook}/recuperar',
      recuperacion,
      undefined,
      isRecovery,
    )
    return [otra, ensayo]
  }

  it('are the contract’s', () => {
    expect([bien, mal]).toHaveLength(2)
  })
})
