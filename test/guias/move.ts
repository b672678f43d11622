import { expect } from 'vitest'
import type { TestEnvironment } from '../environment.ts'
import { buildEstadoReport } from '../factories.ts'

export function useGuias(environment: TestEnvironment) {
  const mover = async (guia: string, ...estados: string[]) => {
    for (const estado of estados) {
      const { status } = await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport(estado))
      expect([estado, status]).toEqual([estado, 201])
    }
  }

  return { mover }
}
