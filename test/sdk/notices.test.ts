import type { OpcionesDeGuias } from '@guias/sdk'
import { describe, expect, it, vi } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { GUIA, json, NEW_GUIA, useFakeServer } from './server.ts'

const environment = shareEnvironment()
const { client, respondWith: answer, capturedRequests: received } = useFakeServer()

const withAvisos = (options: OpcionesDeGuias = {}) => {
  const avisos: string[] = []
  return { api: client({ alAvisar: (aviso) => avisos.push(aviso), ...options }), avisos }
}

describe('Deprecation and Sunset', () => {
  const RETIREMENT_HEADERS = { Deprecation: '@1795000000', Sunset: 'Sun, 21 Nov 2027 00:00:00 GMT' }

  it('are told once for each operation, not for each guide', async () => {
    const { api, avisos } = withAvisos()
    answer(json(200, GUIA, RETIREMENT_HEADERS))
    for (const codigo of ['A', 'B', 'B']) await api.guias.obtener(codigo)
    await api.post('/api/v1/guias/C/cancelar?a=1')
    await api.post('/api/v1/guias/D/cancelar')
    await api.get('/api/v1/zonas?telefono=31481676')
    expect(avisos.splice(1).map((aviso) => aviso.split(' (')[0])).toEqual([
      'El servicio retira POST /guias/{guia}/cancelar',
      'El servicio retira GET /api/v1/zonas',
    ])
    expect(avisos).toEqual([
      'El servicio retira GET /guias/{guia} (Deprecation: @1795000000, Sunset: Sun, 21 Nov 2027 00:00:00 GMT): actualice el paquete.',
    ])
    answer(json(200, { datos: [], cursor_siguiente: null }, { Sunset: RETIREMENT_HEADERS.Sunset }))
    await api.guias.listar()
    expect(avisos[1]).toBe(
      'El servicio retira GET /guias (Deprecation: null, Sunset: Sun, 21 Nov 2027 00:00:00 GMT): actualice el paquete.',
    )
    answer(json(200, GUIA))
    await api.guias.cancelar('A')
    expect([avisos.length, received.length]).toEqual([2, 8])
  })

  it('go to console.warn where nobody else asks for them', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    try {
      answer(json(200, GUIA, RETIREMENT_HEADERS))
      await client().guias.obtener('A')
      expect(warn.mock.calls).toEqual([[expect.stringContaining('GET /guias/{guia}')]])
    } finally {
      warn.mockRestore()
    }
  })
})

describe('crear', () => {
  it('says that the guide that exists is cancelled', async () => {
    const avisos: string[] = []
    const { llave } = await environment.createComercio()
    const { Guias } = await import('@guias/sdk')
    const api = new Guias({ llave, baseUrl: environment.url, alAvisar: (aviso) => avisos.push(aviso) })
    const requestData = buildGuia()
    const { guia } = await api.guias.crear(requestData)
    await api.guias.crear(requestData)
    expect(avisos).toEqual([])
    await api.guias.cancelar(guia)
    const { datos, repetida } = await api.guias.crear(requestData).conRespuesta()
    expect([datos.estado, repetida]).toEqual(['cancelado', true])
    expect(avisos).toEqual([
      `${guia}: la guía de esta referencia ya existía y está cancelada: para otro envío use otra external_ref.`,
    ])
  })

  it('says nothing of a guide that is new, or not cancelled', async () => {
    const { api, avisos } = withAvisos()
    for (const [estado, headers] of [
      ['cancelado', {}],
      ['aceptado', { 'Idempotent-Replayed': 'true' }],
    ] as const) {
      answer(json(201, { ...GUIA, estado }, headers))
      await api.guias.crear(NEW_GUIA)
    }
    expect(avisos).toEqual([])
  })
})
