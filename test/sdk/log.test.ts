import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { useRetries } from './clock.ts'
import { fault, GUIA, json, NEW_GUIA, respondHtml, respondProblema } from './server.ts'

const { server, sucesos } = useRetries()
const { client, respondWith: answer } = server
const success = json(200, GUIA)

describe('registro', () => {
  it('gets each attempt, and nothing that is secret or of a person', async () => {
    answer(respondHtml, respondProblema(503, 'no_disponible'), json(200, { datos: [], cursor_siguiente: null }))
    await client().guias.listar({ external_ref: 'PEDIDO-1' })
    expect(sucesos.map(({ ms, ...rest }) => rest)).toEqual([
      {
        tipo: 'reintento',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 1,
        estadoHttp: 502,
        idSolicitud: null,
        error: 'ErrorRespuesta',
        codigo: null,
        esperaMs: 0,
      },
      {
        tipo: 'reintento',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 2,
        estadoHttp: 503,
        idSolicitud: 'sol-1',
        error: 'ErrorServicio',
        codigo: 'no_disponible',
        esperaMs: 0,
      },
      {
        tipo: 'respuesta',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 3,
        estadoHttp: 200,
        idSolicitud: 'sol-1',
        error: null,
        codigo: null,
        esperaMs: null,
      },
    ])
    expect(sucesos.every(({ ms }) => Number.isInteger(ms) && ms >= 0)).toBe(true)
    answer(respondProblema(422, 'validacion'))
    await fault(client().guias.crear(NEW_GUIA, { cabeceras: { 'X-Otro': 'privado' } }))
    expect(inspect(sucesos, { depth: 9 })).not.toMatch(/secreto|31481676|PEDIDO|privado|Mixco/)
  })

  it('that throws disturbs nobody, and that is no function is refused', async () => {
    answer(success)
    const api = client({
      registro: () => {
        throw new Error('no')
      },
    })
    expect(await api.guias.obtener('A')).toEqual(GUIA)
    expect(() => client({ registro: console as never })).toThrow('registro')
  })
})
