import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ExchangeResult } from '../../../server/domain/webhooks/attempt.ts'
import { exchange } from '../../../server/domain/webhooks/sending/exchange.ts'
import type { Receiver } from '../../../server/domain/webhooks/sending/receiver.ts'

const ANSWERED_EXCHANGE = {
  status: 503,
  error: 'http',
  cabeceras: { server: 'interno/1.2', 'set-cookie': '***' },
  cuerpo: 'secreto',
  cuerpo_truncado: false,
} as unknown as ExchangeResult

/** Sends a test event to the address and returns the part of the answer that is stored. */
async function saved(url: string, response: ExchangeResult) {
  const deps = {
    clock: () => new Date(),
    newId: () => ({ id: 'x', creado_en: new Date() }),
    destinations: { loopback: true },
    sender: { send: async () => response },
  } as unknown as Parameters<typeof exchange>[0]
  const receptor = {
    webhook: 'wh_X',
    modo: 'test',
    url,
    direccion: new URL(url),
    versions: [1],
    expirations: [null],
    claves: [createSecretKey(Buffer.alloc(32))],
  } as unknown as Receiver
  const aviso = { evento: 'evt_1', tipo: 'webhook.prueba', creado_en: new Date(), datos: {} }
  const { respuesta: visible } = await exchange(deps, receptor, { aviso } as unknown as Parameters<typeof exchange>[2])
  return visible
}

describe('an exchange', () => {
  it('keeps headers and body of a public receiver', async () => {
    expect(await saved('https://tienda.ejemplo.com/', ANSWERED_EXCHANGE)).toEqual(ANSWERED_EXCHANGE)
  })

  it.each(['http://127.0.0.1:4000/', 'http://localhost/', 'http://[::1]:1/'])(
    'keeps neither headers nor body of %s',
    async (url) => {
      const emptyCase = { ...ANSWERED_EXCHANGE, cabeceras: {}, cuerpo: '', cuerpo_truncado: true }
      expect(await saved(url, ANSWERED_EXCHANGE)).toEqual(emptyCase)
      expect(await saved(url, { ...ANSWERED_EXCHANGE, cuerpo: '' })).toEqual({ ...emptyCase, cuerpo_truncado: false })
    },
  )

  it('tells that no answer came from a receiver on this machine', async () => {
    const caseWithout = { ...ANSWERED_EXCHANGE, status: null, cabeceras: null, cuerpo: null }
    expect(await saved('http://localhost/', caseWithout)).toEqual(caseWithout)
  })
})
