/** The receivers for frameworks, each in the real framework, over HTTP. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { type CuerpoDeAviso, ErrorFirma, firmarWebhook } from '@guias/sdk'
import { recibirWebhooks as conExpress } from '@guias/sdk/express'
import { recibirWebhooks as conFastify } from '@guias/sdk/fastify'
import { recibirWebhooks as conHono } from '@guias/sdk/hono'
import { recibirWebhooks as conNext } from '@guias/sdk/next'
import * as webhooks from '@guias/sdk/webhooks'
import { serve } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { request } from 'undici'
import { afterEach, describe, expect, it, vi } from 'vitest'

const SECRETO = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTRO = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const ID = 'evt_7K3M9QX2A1B4_1'
const AVISO = { id: ID, tipo: 'guia.nota', creado_en: '', datos: { guia: {}, evento: { descripcion: 'Ñuño' } } }
const CUERPO = JSON.stringify(AVISO)

/** Express 4, under its other name. */
const express4: typeof express = createRequire(import.meta.url)('express4')

interface Shop {
  url: string
  close: () => Promise<unknown>
}
type Handle = webhooks.Atender
type Options = webhooks.OpcionesDeRecepcion

const listening = async (server: Server): Promise<Shop> => {
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return { url: `http://127.0.0.1:${port}/webhooks/guias`, close }
}
const PATH = '/webhooks/guias'

/** Shops with a receiver; `parsed`: another middleware reads all bodies as JSON before it. */
const SHOPS: Record<string, (handle: Handle, options: Options, parsed?: boolean) => Promise<Shop>> = {
  'Express 5': (handle, options, parsed) => {
    const app = express()
    if (parsed) app.use(express.json())
    app.post(PATH, conExpress(handle, options))
    return listening(app.listen(0, '127.0.0.1'))
  },
  'Express 4': (handle, options, parsed) => {
    const app = express4()
    if (parsed) app.use(express4.json())
    app.post(PATH, conExpress(handle, options))
    return listening(app.listen(0, '127.0.0.1'))
  },
  'Express 5 with express.raw': (handle, options, parsed) => {
    const app = express()
    if (parsed) app.use(express.json())
    app.post(PATH, express.raw({ type: () => true, limit: '2mb' }), conExpress(handle, options))
    return listening(app.listen(0, '127.0.0.1'))
  },
  Fastify: async (handle, options) => {
    const app = Fastify()
    app.register(conFastify(handle, options), { prefix: PATH })
    app.post('/otra', async ({ body }) => body)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { ...(await listening(app.server)), close: () => app.close() }
  },
  Hono: (handle, options, parsed) => {
    const app = new Hono()
    if (parsed)
      app.use(async (c, next) => {
        await c.req.json()
        await next()
      })
    app.post(PATH, conHono(handle, options))
    return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
  },
  // A route handler is a function from Request to Response, which is all that Next.js asks of it.
  'Next.js': (handle, options, parsed) => {
    const post = conNext(handle, options)
    const fetch = async (solicitud: Request) => {
      if (parsed) await solicitud.json()
      return post(solicitud)
    }
    return listening(serve({ fetch, port: 0, hostname: '127.0.0.1' }) as Server)
  },
  'node:http': (handle, options) =>
    listening(
      createServer(async (req, res) => {
        const estado = await webhooks.contestar(req, handle, options)
        res.writeHead(estado, { Connection: 'close' }).end()
      }).listen(0, '127.0.0.1'),
    ),
}
/** Fastify reads bodies in the receiver's own context, and plain Node reads none. */
const WITHOUT_MIDDLEWARE = ['Fastify', 'node:http']

let shop: Shop | undefined
afterEach(async () => {
  await shop?.close()
  shop = undefined
  vi.unstubAllEnvs()
})

describe.each(Object.entries(SHOPS))('%s', (name, open) => {
  const start = async (options: Options = {}, parsed = false) => {
    const got: CuerpoDeAviso[] = []
    const faults: unknown[] = []
    const handle = (aviso: CuerpoDeAviso) => {
      got.push(aviso)
    }
    shop = await open(handle, { alFallar: (error) => faults.push(error), ...options }, parsed)
    const { url } = shop
    const send = async (secreto: string | string[], changes: { body?: string; timestamp?: number } = {}) => {
      const { body = CUERPO, timestamp } = changes
      const firmas = await firmarWebhook(CUERPO, { id: ID, secreto, timestamp })
      const headers = { 'Content-Type': 'application/json', ...firmas }
      return (await fetch(url, { method: 'POST', body, headers })).status
    }
    return { url, got, faults, send }
  }
  const motives = (faults: unknown[]) => faults.map((error) => (error as ErrorFirma).motivo)

  it('takes a notice that is signed, and refuses what is altered, old, or not signed', async () => {
    vi.stubEnv('GUIAS_SECRETO', SECRETO)
    const { url, got, faults, send } = await start()
    expect(await send(SECRETO)).toBe(204)
    expect(got).toEqual([AVISO])
    expect(await send(OTRO)).toBe(400)
    expect(await send(SECRETO, { body: CUERPO.replace('Ñuño', 'Nuno') })).toBe(400)
    const now = Math.floor(Date.now() / 1000)
    for (const timestamp of [now - 301, now + 400]) expect(await send(SECRETO, { timestamp })).toBe(400)
    expect((await fetch(url, { method: 'POST' })).status).toBe(400)
    expect(motives(faults)).toEqual(['firma', 'firma', 'marca_de_tiempo', 'marca_de_tiempo', 'cabecera_ausente'])
    expect(got).toHaveLength(1)
  })

  it('refuses a body beyond the limit, and takes the next one', async () => {
    const { url, got, send } = await start({ secreto: SECRETO, limite: 100_000 })
    const headers = await firmarWebhook(CUERPO, { id: ID, secreto: SECRETO })
    // Who is refused while sending may lose the connection before reading the answer.
    const large = await request(url, { method: 'POST', body: 'x'.repeat(1_000_000), headers, reset: true }).then(
      ({ statusCode, body }) => body.dump().then(() => statusCode),
      () => 413,
    )
    expect(large).toBe(413)
    expect(await send(SECRETO)).toBe(204)
    expect(got).toHaveLength(1)
  })

  it('takes notices of both secrets while one is rotated', async () => {
    vi.stubEnv('GUIAS_SECRETO', ` ${OTRO}, ${SECRETO} `)
    const { got, send } = await start()
    for (const secret of [SECRETO, OTRO, [SECRETO, OTRO]]) expect(await send(secret)).toBe(204)
    expect(got).toHaveLength(3)
  })

  it('answers 500 where the notice cannot be stored, and where it has no secret, so that it comes again', async () => {
    const fails = await open(() => Promise.reject(new Error('the disk is full')), {
      secreto: SECRETO,
      alFallar: () => {},
    })
    const firmas = await firmarWebhook(CUERPO, { id: ID, secreto: SECRETO })
    const post = (url: string) =>
      fetch(url, { method: 'POST', body: CUERPO, headers: { 'Content-Type': 'application/json', ...firmas } })
    expect((await post(fails.url)).status).toBe(500)
    await fails.close()
    vi.stubEnv('GUIAS_SECRETO', '')
    const { url, faults } = await start()
    expect((await post(url)).status).toBe(500)
    expect(motives(faults)).toEqual(['secreto'])
  })

  it.skipIf(WITHOUT_MIDDLEWARE.includes(name))(
    'says what to do where another middleware has parsed the body, and answers 500',
    async () => {
      const { got, faults, send } = await start({ secreto: SECRETO }, true)
      expect(await send(SECRETO)).toBe(500)
      const [error] = faults as [ErrorFirma]
      expect(error).toBeInstanceOf(ErrorFirma)
      expect([error.motivo, got]).toEqual(['cuerpo', []])
      expect(error.message).toContain('Ponga esta ruta antes de express.json()')
    },
  )
})

it('leaves the other routes of a Fastify application their parsers', async () => {
  shop = await SHOPS.Fastify!(() => {}, { secreto: SECRETO })
  const answer = await fetch(new URL('/otra', shop.url), {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'Content-Type': 'application/json' },
  })
  expect(await answer.json()).toEqual({ a: 1 })
})

it('takes the secret of a Worker from its context', async () => {
  const app = new Hono<{ Bindings: { GUIAS_SECRETO: string } }>()
  const got: unknown[] = []
  app.post(
    PATH,
    conHono((aviso) => got.push(aviso)),
  )
  const headers = await firmarWebhook(CUERPO, { id: ID, secreto: OTRO })
  const init = { method: 'POST', body: CUERPO, headers }
  const answer = await app.request(PATH, init, { GUIAS_SECRETO: `${SECRETO},${OTRO}` })
  expect([answer.status, got]).toEqual([204, [AVISO]])
})

it('opens a request of fetch, and throws an error that names the motive', async () => {
  const headers = await firmarWebhook(CUERPO, { id: ID, secreto: SECRETO })
  const solicitud = () => new Request('https://tienda.example/', { method: 'POST', body: CUERPO, headers })
  expect(await webhooks.abrir(solicitud(), { secreto: SECRETO })).toEqual(AVISO)
  const error = await webhooks.abrir(solicitud(), { secreto: SECRETO, limite: 10 }).catch((causa: unknown) => causa)
  expect([error instanceof ErrorFirma, (error as ErrorFirma).motivo]).toEqual([true, 'tamano'])
})
