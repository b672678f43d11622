import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWhatsappClient, isFirmaValid, type WhatsappClient } from '../../server/domain/mensajeria/whatsapp.ts'
import { aviso, mensaje, type TestProvider, useProviders } from './provider.ts'

const PETICION = { id: 'men_GT1_2', telefono: '+50255551234', texto: 'Comparta su ubicación.' }
const abrirUno = useProviders()

let proveedor: TestProvider
let cliente: WhatsappClient
beforeAll(async () => {
  proveedor = await abrirUno()
  cliente = createWhatsappClient(proveedor.config)
})
afterAll(() => cliente.close())

describe('the stand-in', () => {
  test('sends webhooks that are signed, or not', async () => {
    const vistos: boolean[] = []
    const servidor = createServer(async (req, res) => {
      const crudo = Buffer.concat(await req.toArray())
      const buena = isFirmaValid(crudo, String(req.headers['x-hub-signature-256']), proveedor.config.appSecret)
      vistos.push(buena)
      res.writeHead(buena ? 200 : 401).end()
    })
    await once(servidor.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}/`
    const cuerpo = aviso({ messages: [mensaje('text', { body: 'ñ' })] })
    expect(await proveedor.notify(url, cuerpo)).toBe(200)
    expect(await proveedor.notify(url, cuerpo, null)).toBe(401)
    expect(await proveedor.notify(url, cuerpo, 'sha256=00')).toBe(401)
    expect(vistos).toEqual([true, false, false])
    servidor.closeAllConnections()
    servidor.close()
  })

  test('answers each phone with the outcome that is set for it', async () => {
    proveedor.porTelefono.set('50255550000', { tipo: 'error', status: 400, error: { code: 131026 } })
    expect(await cliente.sendText({ ...PETICION, telefono: '+50255550000' })).toMatchObject({ codigo: '131026' })
    expect(await cliente.sendText(PETICION)).toMatchObject({ resultado: 'aceptado' })
  })
})
