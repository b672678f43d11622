import { ErrorAlcance, ErrorNoEncontrado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'
import { catchProblema } from '../problema.ts'

const environment = shareEnvironment()

describe('all', () => {
  it('are for test keys alone, for every guide', async () => {
    const { api } = await environment.createComercio('live')
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    for (const target of [guia, '000000000000']) {
      for (const attempt of [
        () => api.simulador.avanzar(target, { estado: 'recolectado' }),
        () => api.simulador.confirmarUbicacion(target),
        () => api.simulador.decidir(target, { eleccion: 'rechazo' }),
      ]) {
        const error = await catchProblema(attempt())
        expect(error).toBeInstanceOf(ErrorAlcance)
        expect([error.estadoHttp, error.codigo]).toEqual([403, 'solo_en_test'])
      }
    }
    const now = await api.guias.obtener(guia)
    expect([now.estado, now.ubicacion.estado]).toEqual(['aceptado', 'solicitada'])
  })

  it('know no guide but one’s own', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const { guia } = await one.api.guias.crear(buildGuiaWithoutDestino())
    for (const attempt of [
      () => other.api.simulador.avanzar(guia, { estado: 'recolectado' }),
      () => other.api.simulador.confirmarUbicacion(guia),
      () => other.api.simulador.decidir(guia, { eleccion: 'rechazo' }),
    ])
      expect(await catchProblema(attempt())).toBeInstanceOf(ErrorNoEncontrado)
    // As it is typed.
    const typedGuia = `${guia.slice(0, 4)}-${guia.slice(4, 8)}-${guia.slice(8)}`.toLowerCase()
    expect((await one.api.simulador.avanzar(typedGuia, { estado: 'recolectado' })).guia).toBe(guia)
  })
})
