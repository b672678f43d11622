import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import {
  isFinalState,
  nextStates,
  nextUbicacionStates,
  reasonsOf,
  requireCancellable,
  requireTransition,
} from '../../server/domain/estados/estados.ts'
import type { Estado, EstadoDeUbicacion } from '../../server/generated/contract/types/index.ts'
import { LOCATION_STATE_MACHINE, MOTIVOS, STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'

const { schemas } = readDocument().components
const ESTADOS = schemas.Estado!.enum as Estado[]
const UBICACIONES = schemas.EstadoDeUbicacion!.enum as EstadoDeUbicacion[]

describe('the state machine of the contract', () => {
  it('is the one that was decided', () => {
    expect(STATE_MACHINE.transiciones).toMatchInlineSnapshot(`
      {
        "aceptado": [
          "recolectado",
          "cancelado",
        ],
        "cancelado": [],
        "devuelto": [],
        "en_bodega": [
          "en_transito",
          "en_ruta",
          "entregado",
          "en_devolucion",
          "extraviado",
        ],
        "en_devolucion": [
          "devuelto",
          "extraviado",
        ],
        "en_ruta": [
          "entregado",
          "intento_fallido",
          "en_bodega",
          "en_devolucion",
          "extraviado",
        ],
        "en_transito": [
          "en_bodega",
          "en_ruta",
          "en_devolucion",
          "extraviado",
        ],
        "entregado": [],
        "extraviado": [
          "en_bodega",
          "en_devolucion",
        ],
        "intento_fallido": [
          "en_ruta",
          "en_bodega",
          "en_devolucion",
          "extraviado",
        ],
        "recolectado": [
          "en_bodega",
          "en_transito",
          "en_ruta",
          "en_devolucion",
          "extraviado",
        ],
      }
    `)
  })

  it('is closed: it speaks of every state, of no other, and finals lead nowhere', () => {
    for (const [machine, estados] of [
      [STATE_MACHINE, ESTADOS],
      [LOCATION_STATE_MACHINE, UBICACIONES],
    ] as const) {
      expect(Object.keys(machine.transiciones).sort()).toEqual([...estados].sort())
      for (const destinos of Object.values(machine.transiciones))
        for (const destino of destinos) expect(estados).toContain(destino)
      expect(
        Object.entries(machine.transiciones)
          .filter(([, destinos]) => destinos.length === 0)
          .map(([estado]) => estado)
          .sort(),
      ).toEqual([...machine.finales].sort())
    }
    expect(Object.keys(MOTIVOS).every((estado) => ESTADOS.includes(estado as Estado))).toBe(true)
    const motivos = schemas.Motivo!.enum as string[]
    expect(new Set(ESTADOS.flatMap((estado) => [...reasonsOf(estado)]))).toEqual(new Set(motivos))
  })

  it('reaches every state from aceptado, and a final from every state', () => {
    const collectReachable = (from: Estado, seen = new Set<Estado>()): Set<Estado> => {
      if (!seen.has(from)) {
        seen.add(from)
        for (const other of nextStates(from)) collectReachable(other, seen)
      }
      return seen
    }
    expect([...collectReachable('aceptado')].sort()).toEqual([...ESTADOS].sort())
    for (const estado of ESTADOS) expect([...collectReachable(estado)].some(isFinalState)).toBe(true)
  })

  it('lets through exactly its transitions, on any walk', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ESTADOS), { maxLength: 30 }), (requests) => {
        let estado: Estado = 'aceptado'
        for (const requestData of requests) {
          const legal: boolean = (STATE_MACHINE.transiciones[estado] as readonly Estado[]).includes(requestData)
          let step = true
          try {
            if (requestData === 'cancelado') requireCancellable(estado)
            else requireTransition(estado, requestData)
          } catch {
            step = false
          }
          expect(step).toBe(legal)
          if (step) estado = requestData
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('has the decided location axis', () => {
    expect(UBICACIONES.map((estado) => [estado, nextUbicacionStates(estado)])).toEqual([
      ['solicitada', ['confirmada', 'vencida', 'fallida']],
      ['confirmada', ['confirmada']],
      ['vencida', ['solicitada', 'confirmada']],
      ['fallida', ['solicitada', 'confirmada']],
    ])
  })
})
