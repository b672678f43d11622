import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWhatsappClient, isFirmaValid, type WhatsappClient } from '../../server/domain/mensajeria/whatsapp.ts'
import { aviso, mensaje, type TestProvider, useProviders } from './provider.ts'

const PETICION = { id: 'men_GT1_2', telefono: '+50255551234', texto: 'Comparta su ubicación.' }
const openProvider = useProviders()

let provider: TestProvider
let client: WhatsappClient
beforeAll(async () => {
  provider = await openProvider()
  client = createWhatsappClient(provider.config)
})
afterAll(() => client.close())

describe('the stand-in', () => {
  test('sends webhooks that are signed, or not', async () => {
    const seen: boolean[] = []
    const server = createServer(async (req, res) => {
      const raw = Buffer.concat(await req.toArray())
      const good = isFirmaValid(raw, String(req.headers['x-hub-signature-256']), provider.config.appSecret)
      seen.push(good)
      res.writeHead(good ? 200 : 401).end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const body = aviso({ messages: [mensaje('text', { body: 'ñ' })] })
    expect(await provider.notify(url, body)).toBe(200)
    expect(await provider.notify(url, body, null)).toBe(401)
    expect(await provider.notify(url, body, 'sha256=00')).toBe(401)
    expect(seen).toEqual([true, false, false])
    server.closeAllConnections()
    server.close()
  })

  test('answers each phone with the outcome that is set for it', async () => {
    provider.byTelefono.set('50255550000', { tipo: 'error', status: 400, error: { code: 131026 } })
    expect(await client.sendText({ ...PETICION, telefono: '+50255550000' })).toMatchObject({ codigo: '131026' })
    expect(await client.sendText(PETICION)).toMatchObject({ resultado: 'aceptado' })
  })
})
