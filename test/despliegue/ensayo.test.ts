// The rehearsal of `npm run test:resistencia -- despliegue`: what compose.yaml starts, as processes behind the real proxy.

import { describe, expect, it } from 'vitest'
import { COMPLETO } from '../fabricas.ts'
import { ESCENARIOS_DE_ENSAYO } from './ensayo.ts'

describe('no request fails and no webhook is lost', COMPLETO, () => {
  for (const { titulo, falta, correr, ci } of ESCENARIOS_DE_ENSAYO) {
    it(titulo, async ({ skip }) => {
      const motivo = await falta?.()
      if (motivo) skip(motivo)
      const { perdido, duplicado, fallas } = await correr(ci)
      expect({ perdido, duplicado, fallas }).toEqual({ perdido: 0, duplicado: 0, fallas: [] })
    })
  }
})
