// The SDK's types refuse what the service refuses, and tell a suggestion by its code.
import type * as sdk from '@guias/sdk'
import {
  type Advertencia,
  ErrorConflicto,
  ErrorValidacion,
  type GuiaIndividual,
  type LineaDeBitacora,
  type NombresSugeridos,
  type PuntoSugerido,
} from '@guias/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, RECOGIDA } from '../factories.ts'

const environment = shareEnvironment()
const DESTINO = { telefono: '3148 1676', departamento: 'Guatemala', municipio: 'Mixco' }

const INCOMPLETE_GUIAS: [label: string, guia: GuiaIndividual, campo: string][] = [
  // @ts-expect-error: a pickup has coordinates or a link
  ['an empty pickup', { ...DESTINO, recogida: {} }, '/recogida'],
  // @ts-expect-error: lat and lng go together
  ['a latitude alone', { ...DESTINO, recogida: RECOGIDA, lat: 14.6 }, '/lng'],
  // @ts-expect-error: lat and lng go together
  ['a longitude alone', { ...DESTINO, recogida: RECOGIDA, lng: -90.5 }, '/lat'],
  // @ts-expect-error: also beside a link
  ['half a pickup', { ...DESTINO, recogida: { lat: 14.6, maps_url: 'geo:14.6,-90.5' } }, '/recogida/lng'],
]

describe('a request that does not compile', () => {
  it.each(INCOMPLETE_GUIAS)('is refused by the service too: %s', async (_description, guia, field) => {
    const { api } = await environment.createComercio()
    const error = await api.guias.crear(guia).catch((other: unknown) => other)
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect((error as ErrorValidacion).errores.map((fault) => fault.campo)).toContain(field)
  })

  it('is refused by the service too: a location without a place, a correction or an answer with half of one', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (const act of [
      // @ts-expect-error: a place has coordinates or a link
      () => api.guias.confirmarUbicacion(guia, { referencia: 'Portón verde' }),
      // @ts-expect-error: lat and lng go together
      () => api.guias.corregir(guia, { lat: 14.6 }),
      // @ts-expect-error: lat and lng go together
      () => api.simulador.confirmarUbicacion(guia, { lat: 14.6 }),
      // @ts-expect-error: a state or a note
      () => api.simulador.avanzar(guia, {}),
      // @ts-expect-error: a note has its text
      () => api.simulador.avanzar(guia, { tipo: 'guia.nota' }),
      // @ts-expect-error: one of the two
      () => api.simulador.avanzar(guia, { estado: 'recolectado', tipo: 'guia.nota', descripcion: 'x' }),
    ])
      await expect(act(), String(act)).rejects.toBeInstanceOf(ErrorValidacion)
  })

  it('is refused by the service too: a state to which the simulator moves no guide', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    for (const act of [
      // @ts-expect-error: no guide returns to its first state
      () => api.simulador.avanzar(guia, { estado: 'aceptado' }),
      // @ts-expect-error: guides are cancelled with an operation of its own
      () => api.simulador.avanzar(guia, { estado: 'cancelado' }),
    ])
      await expect(act()).rejects.toBeInstanceOf(ErrorConflicto)
  })
})

describe('a request that compiles', () => {
  it('passes coordinates that a program may not have', async () => {
    const { api } = await environment.createComercio()
    const lugares: { lat?: number; lng?: number }[] = [{ lat: 14.6307, lng: -90.6071 }, {}]
    const created = lugares.map(({ lat, lng }) => api.guias.crear({ ...DESTINO, recogida: RECOGIDA, lat, lng }))
    const estados = (await Promise.all(created)).map(({ ubicacion }) => ubicacion.estado)
    expect(estados).toEqual(['confirmada', 'solicitada'])
  })

  it('has its pickup by a link alone', async () => {
    const { api } = await environment.createComercio()
    const created = await api.guias.crear({ ...DESTINO, recogida: { maps_url: 'geo:14.6,-90.5' } })
    expect(created.estado).toBe('aceptado')
  })
})

describe('the suggestion of a warning', () => {
  it('has the form of its code', async () => {
    const { api } = await environment.createComercio()
    const far = await api.guias.crear(buildGuia({ lat: 14.71889, lng: 90.64417 }))
    const lost = await api.guias.crear(buildGuia({ municipio: 'Vila Nueva', telefono: '+50211111111' }))
    const seen = [...far.advertencias, ...lost.advertencias].map(read)
    expect(seen.sort()).toEqual(['14.71889, -90.64417', 'Villa Nueva', 'nada'])
  })

  function read(one: Advertencia): string {
    switch (one.codigo) {
      case 'coordenadas_sin_signo':
        expectTypeOf(one.sugerencia).toEqualTypeOf<PuntoSugerido | null>()
        return `${one.sugerencia?.lat}, ${one.sugerencia?.lng}`
      case 'destino_desconocido':
        expectTypeOf(one.sugerencia).toEqualTypeOf<NombresSugeridos | null>()
        return String(one.sugerencia?.municipios)
      case 'telefono_dudoso':
        expectTypeOf(one.sugerencia).toBeNull()
        return 'nada'
      default:
        return `otra: ${one.codigo}`
    }
  }

  it('is declared for exactly the codes that the table of the contract names', () => {
    const { CodigoDeAdvertencia } = readDocument().components.schemas as unknown as Record<
      string,
      { description: string; 'x-sugerencias': Record<string, string> }
    >
    const rows = [...CodigoDeAdvertencia!.description.matchAll(/^\| `(\w+)` \|.*\| (.+) \|$/gm)]
    const withSuggestion = rows.filter(([, , sugerencia]) => sugerencia !== 'nula').map(([, codigo]) => codigo)
    expect(Object.keys(CodigoDeAdvertencia!['x-sugerencias']).sort()).toEqual(withSuggestion.sort())
  })
})

it('exports the types of the audit record', async () => {
  const { api } = await environment.createComercio()
  const { datos } = await api.cuenta.bitacora()
  expectTypeOf(datos).toEqualTypeOf<LineaDeBitacora[]>()
  expectTypeOf<sdk.PaginaDeBitacora['datos']>().toEqualTypeOf<LineaDeBitacora[]>()
  expectTypeOf<LineaDeBitacora['accion']>().toEqualTypeOf<sdk.AccionDeBitacora>()
  // No person has changed anything of this merchant yet.
  expect(datos).toEqual([])
})
