import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AvisoDeWebhook, firmarWebhook, type TodoAtendido } from '@guias/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type Mock, vi } from 'vitest'
import { app as express } from '../../sdk/ejemplos/express.ts'
import { app as fastify } from '../../sdk/ejemplos/fastify.ts'
import { app as hono } from '../../sdk/ejemplos/hono.ts'
import { POST as next } from '../../sdk/ejemplos/next.ts'
import { DESCRIPCIONES_DE_EVENTO } from '../../server/contrato/generado/vocabulario.ts'
import { compartirEntorno } from '../entorno.ts'
import { hasta } from '../fabricas.ts'

const entorno = compartirEntorno()
const SECRETO = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
const RUTA = '/webhooks/guias'

let servidor: Server
const deExpress = () => `http://127.0.0.1:${(servidor.address() as AddressInfo).port}${RUTA}`
let deFastify = ''
beforeAll(async () => {
  servidor = express.listen(0, '127.0.0.1')
  await once(servidor, 'listening')
  deFastify = `${await fastify.listen({ port: 0, host: '127.0.0.1' })}${RUTA}`
})
afterAll(async () => {
  servidor.closeAllConnections()
  servidor.close()
  await fastify.close()
})
let dicho: Mock
beforeEach(() => {
  vi.stubEnv('GUIAS_SECRETO', SECRETO)
  dicho = vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

const MARCOS: Record<string, (init: RequestInit) => Promise<Response>> = {
  Express: (init) => fetch(deExpress(), init),
  Fastify: (init) => fetch(deFastify, init),
  Hono: async (init) => hono.request(RUTA, init),
  'Next.js': (init) => next(new Request(`https://tienda.ejemplo.com${RUTA}`, init)),
}

describe.each(Object.entries(MARCOS))('the example of %s', (nombre, enviar) => {
  const id = `evt_${nombre}_1`
  const cuerpo = JSON.stringify({
    id,
    tipo: 'guia.entregado',
    creado_en: '2026-11-20T15:04:05.000Z',
    datos: { guia: { guia: '7K3M9QX2A1B4', external_ref: 'Señal-1' }, evento: {} },
  })
  const con = async (texto: string, cabeceras: object) =>
    (
      await enviar({
        method: 'POST',
        body: texto,
        headers: { 'Content-Type': 'application/json', ...cabeceras },
      })
    ).status

  it('takes what is signed, once, and nothing else', async () => {
    const firmadas = await firmarWebhook(cuerpo, { id, secreto: SECRETO })
    expect(await con(cuerpo, firmadas)).toBe(204)
    expect(await con(cuerpo, firmadas)).toBe(204)
    expect(dicho.mock.calls).toEqual([['Señal-1: cerrar el pedido']])
    expect(await con(cuerpo.replace('Señal-1', 'Señal-2'), firmadas)).toBe(400)
    expect(await con(cuerpo, {})).toBe(400)
    expect(await con('no es JSON', firmadas)).toBe(400)
    expect(dicho).toHaveBeenCalledTimes(1)
  })
})

describe('on the running server', () => {
  it('what it sends arrives at Express and Fastify', async () => {
    const { api } = await entorno.nuevoComercio()
    for (const url of [deExpress(), deFastify]) {
      const { webhook, secreto } = await api.webhooks.crear({ url })
      vi.stubEnv('GUIAS_SECRETO', secreto)
      const { entrega } = await api.webhooks.probar(webhook)
      await hasta(async () => (await api.webhooks.obtenerEntrega(webhook, entrega)).estado === 'entregada')
      await api.webhooks.eliminar(webhook)
    }
    expect(dicho.mock.calls).toEqual([['la prueba llegó'], ['la prueba llegó']])
  })
})

describe('the exhaustive switch', () => {
  it('of the example knows every type there is', async () => {
    for (const tipo of [...Object.keys(DESCRIPCIONES_DE_EVENTO), 'guia.de_manana', 'de.manana']) {
      const cuerpo = JSON.stringify({
        id: `evt_${tipo}`,
        tipo,
        creado_en: '',
        datos: { guia: { guia: 'G', external_ref: 'R' }, evento: { descripcion: 'D' } },
      })
      const cabeceras = await firmarWebhook(cuerpo, { id: `evt_${tipo}`, secreto: SECRETO })
      expect((await MARCOS['Next.js']!({ method: 'POST', body: cuerpo, headers: cabeceras })).status).toBe(204)
    }
    const novedades = dicho.mock.calls.filter(([texto]) => texto === 'G: novedad')
    expect(novedades).toHaveLength(2)
  })

  it('does not compile when one is missing, and the error names it (this compiles)', () => {
    const faltan = (aviso: AvisoDeWebhook) => {
      switch (aviso.tipo) {
        case 'guia.aceptado':
        case 'guia.recolectado':
        case 'guia.en_bodega':
        case 'guia.en_transito':
        case 'guia.en_ruta':
        case 'guia.entregado':
        case 'guia.intento_fallido':
        case 'guia.en_devolucion':
        case 'guia.devuelto':
        case 'guia.extraviado':
        case 'guia.cancelado':
        case 'guia.nota':
        case 'guia.escaneo_tardio':
        case 'ubicacion.solicitada':
        case 'ubicacion.confirmada':
        case 'ubicacion.vencida':
        case 'webhook.prueba':
        case 'webhook.deshabilitado':
          return true
        default: {
          const cual: TodoAtendido<typeof aviso.tipo> = 'ubicacion.fallida'
          // @ts-expect-error: ubicacion.fallida has no case
          true satisfies TodoAtendido<typeof aviso.tipo>
          return cual
        }
      }
    }
    expect(faltan({ tipo: 'guia.nota' } as AvisoDeWebhook)).toBe(true)
  })
})
