import { expect } from 'vitest'
import type { Entorno } from '../entorno.ts'
import { lecturaDe } from '../fabricas.ts'

export function usarGuias(entorno: Entorno) {
  const mover = async (guia: string, ...estados: string[]) => {
    for (const estado of estados) {
      const { status } = await entorno.operar('POST', `/guias/${guia}/eventos`, lecturaDe(estado))
      expect([estado, status]).toEqual([estado, 201])
    }
  }

  return { mover }
}
