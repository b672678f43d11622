import { describe, expect, it } from 'vitest'
import { ALCANCES } from '../../server/generated/contract/vocabulary.ts'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

describe('GET /api/v1/cuenta', () => {
  it('says whose the key is, what it may do, and the settings', async () => {
    for (const modo of ['test', 'live'] as const) {
      const { api, comercio } = await environment.createComercio(modo)
      const settingValues = {
        pais: 'GT',
        estricto: false,
        ritmos: { solicitudes: 100_000, guias: 100_000 },
        evidencia: { fotos_minimas: 1, firma: 'opcional', documento: 'opcional' },
        politica_de_intentos: {
          maximos: 3,
          dias_entre: 1,
          dias_para_decidir: 5,
          al_vencer: 'devolver',
          destinatario_decide: false,
        },
      }
      const cuenta = {
        comercio,
        nombre: 'Tienda La Ceiba',
        modo,
        alcances: [...ALCANCES],
        vence_en: null,
        ...settingValues,
        advertencias: [],
      }
      expect(await api.cuenta.obtener()).toEqual(cuenta)
    }
  })

  it('accepts a key with any scopes', async () => {
    const comercio = await environment.createComercio()
    const llave = await environment.createLlave(comercio, { alcances: ['webhooks:admin'] })
    const { status, body } = await environment.request('GET', '/api/v1/cuenta', { llave })
    expect([status, body.alcances]).toEqual([200, ['webhooks:admin']])
  })

  it('shows what operators change, in less than a second', async () => {
    const { api, comercio } = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio}`, { nombre: 'El Amate', pais: 'SV', estricto: true })
    const evidencia = { fotos_minimas: 2, firma: 'obligatoria', documento: 'no' } as const
    await environment.asOperador('PATCH', `/comercios/${comercio}`, { evidencia })
    await expect
      .poll(() => api.cuenta.obtener(), { timeout: 120_000 })
      .toMatchObject({ comercio, nombre: 'El Amate', pais: 'SV', estricto: true, evidencia })
  })
})
