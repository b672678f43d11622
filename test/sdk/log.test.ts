import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { useRetries } from './clock.ts'
import { falla, GUIA, json, NEW_GUIA, respondHtml, respondProblema } from './server.ts'

const { server: servidor, sucesos } = useRetries()
const { client: cliente, respondWith: contestar } = servidor
const bien = json(200, GUIA)

describe('registro', () => {
  it('gets each attempt, and nothing that is secret or of a person', async () => {
    contestar(respondHtml, respondProblema(503, 'no_disponible'), json(200, { datos: [], cursor_siguiente: null }))
    await cliente().guias.listar({ external_ref: 'PEDIDO-1' })
    expect(sucesos.map(({ ms, ...resto }) => resto)).toEqual([
      {
        tipo: 'reintento',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 1,
        status: 502,
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
        status: 503,
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
        status: 200,
        idSolicitud: 'sol-1',
        error: null,
        codigo: null,
        esperaMs: null,
      },
    ])
    expect(sucesos.every(({ ms }) => Number.isInteger(ms) && ms >= 0)).toBe(true)
    contestar(respondProblema(422, 'validacion'))
    await falla(cliente().guias.crear(NEW_GUIA, { cabeceras: { 'X-Otro': 'privado' } }))
    expect(inspect(sucesos, { depth: 9 })).not.toMatch(/secreto|31481676|PEDIDO|privado|Mixco/)
  })

  it('that throws disturbs nobody, and that is no function is refused', async () => {
    contestar(bien)
    const api = cliente({
      registro: () => {
        throw new Error('no')
      },
    })
    expect(await api.guias.obtener('A')).toEqual(GUIA)
    expect(() => cliente({ registro: console as never })).toThrow('registro')
  })
})
