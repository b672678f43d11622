import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

describe('POST /operaciones/v1/comercios', () => {
  it('creates a merchant that the list then shows', async () => {
    const { status, body } = await environment.asOperador('POST', '/comercios', { nombre: 'Tienda La Ceiba' })
    expect([status, body]).toEqual([
      201,
      {
        comercio: expect.stringMatching(/^com_/),
        nombre: 'Tienda La Ceiba',
        pais: null,
        estricto: false,
        ritmos: { solicitudes: 50, guias: 100 },
        evidencia: { fotos_minimas: 1, firma: 'obligatoria', documento: 'opcional' },
        politica_de_intentos: {
          maximos: 3,
          dias_entre: 1,
          dias_para_decidir: 5,
          al_vencer: 'devolver',
          destinatario_decide: false,
        },
        creado_en: expect.any(String),
      },
    ])
    expect((await environment.asOperador('GET', '/comercios?limite=1')).body.datos).toEqual([body])
  })

  it('takes a setting that is null for absent', async () => {
    const settings = { pais: null, estricto: null, politica_de_intentos: null }
    const { status, body } = await environment.asOperador('POST', '/comercios', {
      nombre: 'Tienda El Pino',
      ...settings,
    })
    expect([status, body.pais, body.estricto, body.politica_de_intentos.maximos]).toEqual([201, null, false, 3])
  })

  it('takes its country and whether it is strict', async () => {
    const settingValues = { nombre: 'Tienda El Amate', pais: 'SV', estricto: true }
    const { status, body } = await environment.asOperador('POST', '/comercios', settingValues)
    expect([status, body]).toEqual([201, expect.objectContaining(settingValues)])
  })

  it('refuses a country that the catalogue has not', async () => {
    const { status, body } = await environment.asOperador('POST', '/comercios', { nombre: 'x', pais: 'ES' })
    expect([status, body.errores]).toEqual([
      422,
      [{ campo: '/pais', codigo: 'incompatible', mensaje: expect.stringContaining('por ejemplo GT') }],
    ])
  })

  it('refuses a blank name', async () => {
    const { status, body } = await environment.asOperador('POST', '/comercios', { nombre: ' ' })
    expect([status, body.errores.map((e: { campo: string }) => e.campo)]).toEqual([422, ['/nombre']])
  })
})
