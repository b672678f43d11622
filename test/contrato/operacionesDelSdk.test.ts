// The operations as the SDK knows them are the contract's: method, path, what may be repeated, and types.
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Objeto, operacionesDe } from '../../scripts/documentacion/contrato.ts'
import { operacionesDelSdk } from '../../scripts/generar/operacionesDelSdk.ts'
import type { Cliente } from '../../sdk/src/cliente.ts'
import type { Forma } from '../../sdk/src/formas.ts'
import { OPERACIONES } from '../../sdk/src/generado/operaciones.ts'
import type { EnsayoDeRecuperacion, Guia, PaginaDeGuias, Recuperacion } from '../../sdk/src/generado/types.gen.ts'
import type { Listado } from '../../sdk/src/paginas.ts'
import type { Solicitud } from '../../sdk/src/solicitud.ts'
import contrato from '../../server/generado/contrato/comercios.json' with { type: 'json' }

const comercios = contrato as unknown as Objeto
const suyas = operacionesDe(comercios).filter(({ definicion }) =>
  ((definicion.security ?? comercios.security) as Objeto[]).some((una) => 'llaveDeComercio' in una),
)

describe('the table of operations', () => {
  it('says of each what the contract says, whether it may be repeated too', () => {
    expect(OPERACIONES).toEqual(
      Object.fromEntries(
        suyas.map(({ id, metodo, ruta, definicion: { 'x-repetible': repetible } }) => [
          id,
          `${metodo.toUpperCase()} ${ruta.replace(/^\/api\/v1/, '')}${repetible === false ? '' : ` ${repetible}`}`,
        ]),
      ),
    )
    expect(Object.keys(OPERACIONES).length).toBeGreaterThan(25)
  })

  it('holds nothing that reads for unsafe to repeat', () => {
    const lecturas = suyas.filter(({ metodo }) => metodo === 'get')
    expect(lecturas.filter(({ definicion }) => definicion['x-repetible'] !== true)).toEqual([])
  })

  it.each([undefined, 'referencia', 'guias/external_ref', 7])('is not written for x-repetible: %s', (mal) => {
    const copia = structuredClone(comercios)
    const crear = operacionesDe(copia).find(({ id }) => id === 'crearGuia')!.definicion
    if (mal === undefined) delete crear['x-repetible']
    else crear['x-repetible'] = mal
    expect(() => operacionesDelSdk(copia)).toThrow('crearGuia: x-repetible')
  })
})

describe('types of a call (this compiles)', () => {
  const bien = (pedir: Cliente['pedir'], listar: Cliente['listar'], esRecuperacion: Forma<Recuperacion>) => {
    const path = { webhook: 'wh_1' }
    const body = { desde: '2026-11-20T15:00:00Z' }
    expectTypeOf(pedir('cancelarGuia', { path: { guia: 'A' } }, undefined)).toEqualTypeOf<Solicitud<Guia>>()
    expectTypeOf(listar('listarGuias', {}, undefined)).toEqualTypeOf<Listado<Guia, PaginaDeGuias>>()
    expectTypeOf(pedir('eliminarWebhook', { path }, undefined)).toEqualTypeOf<Solicitud<void>>()
    const recuperada = pedir('recuperarEntregasDeWebhook', { path, body }, undefined, esRecuperacion)
    expectTypeOf(recuperada).toEqualTypeOf<Solicitud<Recuperacion>>()
  }
  const mal = (pedir: Cliente['pedir'], listar: Cliente['listar'], esGuia: Forma<Guia>) => {
    // @ts-expect-error no such operation
    pedir('borrarGuia', {}, undefined)
    // @ts-expect-error no path
    pedir('cancelarGuia', {}, undefined)
    // @ts-expect-error another's member of the path
    pedir('cancelarGuia', { path: { webhook: 'wh_1' } }, undefined)
    // @ts-expect-error one member too many
    pedir('cancelarGuia', { path: { guia: 'A', webhook: 'wh_1' } }, undefined)
    // @ts-expect-error a path where there is none
    pedir('crearEtiquetas', { path: { guia: 'A' }, body: { guias: ['A'] } }, undefined)
    // @ts-expect-error no body
    pedir('crearGuia', {}, undefined)
    // @ts-expect-error another's body
    pedir('crearGuia', { body: { guias: [] } }, undefined)
    // @ts-expect-error a body where there is none
    pedir('obtenerGuia', { path: { guia: 'A' }, body: {} }, undefined)
    // @ts-expect-error no such filter
    listar('listarGuias', { query: { estados: ['en_ruta'] } }, undefined)
    // @ts-expect-error a list is walked
    pedir('listarGuias', {}, undefined)
    // @ts-expect-error what is no list isn't
    listar('obtenerGuia', { path: { guia: 'A' } }, undefined)
    // @ts-expect-error another's answer
    const otra: Solicitud<Recuperacion> = pedir('cancelarGuia', { path: { guia: 'A' } }, undefined)
    // @ts-expect-error a shape that the operation doesn't answer
    pedir('obtenerWebhook', { path: { webhook: 'wh_1' } }, undefined, esGuia)
    const recuperacion = { path: { webhook: 'wh_1' }, body: { desde: '2026-11-20T15:00:00Z' } }
    // @ts-expect-error which of its two answers?
    const ensayo: Solicitud<EnsayoDeRecuperacion> = pedir('recuperarEntregasDeWebhook', recuperacion, undefined)
    return [otra, ensayo]
  }

  it('are the contract’s', () => {
    expect([bien, mal]).toHaveLength(2)
  })
})
