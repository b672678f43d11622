import { randomBytes } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import type { ReceivedWebhook, TestReceiver } from './receiver.ts'
import { type Api, apiFault, firmaOf, readSignatures, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, now, advance, cleanUp, rotar, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())
/** The library's own judgement; it looks at the clock, so the time is made the present. */
const verifyWithLibrary = (secret: string, received: ReceivedWebhook) => {
  const hace = Number(received.headers['webhook-timestamp']) * 1_000 - Date.now()
  const clock = Date.now
  Date.now = () => clock() + hace
  try {
    return new StandardWebhook(secret).verify(received.body, received.headers as Record<string, string>)
  } finally {
    Date.now = clock
  }
}

describe('POST /api/v1/webhooks/{webhook}/rotar-secreto', () => {
  const probar = async (api: Api, webhook: string, receptor: TestReceiver) => {
    const { aviso, evento } = await api.webhooks.probar(webhook)
    const { historial } = await waitForAviso(api, webhook, aviso)
    const receivedWebhook = receptor.receivedWebhooks.find((one) => one.id === evento)!
    return { receivedWebhook, firmado_con: historial[0]!.firmado_con }
  }

  it('signs with both during the overlap, and with the new one alone after it', async () => {
    const { api, webhook, secreto, receptor } = await nuevo()
    const rotationResult = await rotar(api, webhook)
    expect(rotationResult.secreto).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rotationResult.secreto).not.toBe(secreto)
    expect(rotationResult.secretos.map(({ version }) => version)).toEqual([2, 1])
    expect(rotationResult.secretos[0]!.vence_en).toBeNull()
    const end = new Date(rotationResult.secretos[1]!.vence_en!).getTime()
    expect(end - new Date(rotationResult.secretos[0]!.creado_en).getTime()).toBe(24 * HOUR_MS)
    const { secreto: _secreto, ...rotationWithoutSecreto } = rotationResult
    expect(await api.webhooks.obtener(webhook)).toEqual(rotationWithoutSecreto)
    const { receivedWebhook, firmado_con } = await probar(api, webhook, receptor)
    expect(firmado_con).toEqual([2, 1])
    expect(readSignatures(receivedWebhook)).toEqual([
      firmaOf(rotationResult.secreto, receivedWebhook),
      firmaOf(secreto, receivedWebhook),
    ])
    for (const target of [secreto, rotationResult.secreto])
      expect(verifyWithLibrary(target, receivedWebhook)).toEqual(receivedWebhook.json)
    expect(() => verifyWithLibrary(`whsec_${randomBytes(32).toString('base64')}`, receivedWebhook)).toThrow()

    advance(end - now() - 5_000)
    expect((await probar(api, webhook, receptor)).firmado_con).toEqual([2, 1])
    advance(5_001)
    const after = await probar(api, webhook, receptor)
    expect(after.firmado_con).toEqual([2])
    expect(readSignatures(after.receivedWebhook)).toEqual([firmaOf(rotationResult.secreto, after.receivedWebhook)])
    expect(() => verifyWithLibrary(secreto, after.receivedWebhook)).toThrow()
    expect((await api.webhooks.obtener(webhook)).secretos.map(({ version }) => version)).toEqual([2])
    // Housekeeping forgets it a day later, and versions go on.
    advance(25 * HOUR_MS)
    await cleanUp()
    const { rows } = await environment.db.pool.query('select version from webhook_secreto where webhook = $1', [
      webhook,
    ])
    expect(rows).toEqual([{ version: 2 }])
    expect((await rotar(api, webhook, 0)).secretos.map(({ version }) => version)).toEqual([3])
  })

  it('retires the old one at once with no overlap', async () => {
    const { api, webhook, secreto, receptor } = await nuevo()
    const rotationResult = await rotar(api, webhook, 0)
    expect(rotationResult.secretos.map(({ version, vence_en }) => [version, vence_en])).toEqual([[2, null]])
    const { receivedWebhook, firmado_con } = await probar(api, webhook, receptor)
    expect(firmado_con).toEqual([2])
    expect(readSignatures(receivedWebhook)).toEqual([firmaOf(rotationResult.secreto, receivedWebhook)])
    expect(() => verifyWithLibrary(secreto, receivedWebhook)).toThrow()
  })

  it('never signs with more than two, however often it is asked', async () => {
    const { api, webhook, receptor } = await nuevo()
    const signatures: string[] = []
    for (let n = 2; n <= 6; n++) {
      const rotationResult = await rotar(api, webhook, n % 2 === 0 ? 168 : 1)
      signatures.push(rotationResult.secreto)
      expect(rotationResult.secretos.map(({ version }) => version)).toEqual([n, n - 1])
    }
    const { receivedWebhook, firmado_con } = await probar(api, webhook, receptor)
    expect(firmado_con).toEqual([6, 5])
    expect(readSignatures(receivedWebhook)).toEqual(
      signatures
        .slice(-2)
        .map((secret) => firmaOf(secret, receivedWebhook))
        .reverse(),
    )
    expect(new Set(signatures).size).toBe(5)
  })

  it('gives a version to each of many at once, and the last two sign', async () => {
    for (let round = 0; round < 5; round++) {
      const { api, webhook } = await nuevo()
      const rotationResults = await Promise.all(Array.from({ length: 10 }, () => rotar(api, webhook)))
      expect(new Set(rotationResults.map(({ secreto }) => secreto)).size).toBe(10)
      const { secretos: validSecretos } = await api.webhooks.obtener(webhook)
      expect(validSecretos.map(({ version }) => version)).toEqual([11, 10])
    }
  })

  it.each<[string, unknown]>([
    ['a fraction', { solapamiento_horas: 1.5 }],
    ['less than nothing', { solapamiento_horas: -1 }],
    ['more than a week', { solapamiento_horas: 169 }],
    ['a text', { solapamiento_horas: '24' }],
    ['an unknown property', { horas: 24 }],
    ['a list', []],
  ])('refuses %s', async (_description, body) => {
    const { api, webhook } = await nuevo()
    const error = await apiFault(api.webhooks.rotarSecreto(webhook, body as never))
    expect([error.estadoHttp, error.codigo]).toEqual([422, 'validacion'])
    expect((await api.webhooks.obtener(webhook)).secretos).toHaveLength(1)
  })
})
