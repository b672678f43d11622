import { expect } from 'vitest'
import type { Entorno } from '../entorno.ts'

export function usarGuias(entorno: Entorno) {
  const mover = async (guia: string, ...estados: string[]) => {
    for (const estado of estados) {
      const { status } = await entorno.operar('POST', `/guias/${guia}/eventos`, { estado })
      expect([estado, status]).toEqual([estado, 201])
    }
  }

  return { mover }
}
