import { describe, expect, it } from 'vitest'
import { useChannel, WHATSAPP_PATH } from './channel.ts'

const canal = useChannel()
const { environment } = canal

describe('the challenge', () => {
  const request = (query: Record<string, string>) =>
    environment.request('GET', `${WHATSAPP_PATH}?${new URLSearchParams(query)}`)
  const good = () => ({
    'hub.mode': 'subscribe',
    'hub.verify_token': canal.proveedor.config.verifyToken,
    'hub.challenge': '1158201444',
  })

  it('is answered as text to who knows the password', async () => {
    const { status, body, headers } = await request(good())
    expect([status, body, headers.get('content-type')]).toEqual([200, '1158201444', 'text/plain; charset=utf-8'])
  })

  it('is refused with another password, mode or challenge', async () => {
    for (const cambio of [
      { 'hub.verify_token': 'otra' },
      { 'hub.verify_token': `${good()['hub.verify_token']} ` },
      { 'hub.mode': 'unsubscribe' },
      { 'hub.challenge': '<script>alert(1)</script>' },
    ]) {
      const { status, body } = await request({ ...good(), ...cambio })
      expect([cambio, status, body.codigo]).toEqual([cambio, 403, 'firma_invalida'])
      expect(JSON.stringify(body)).not.toContain('script')
    }
  })

  it('is a 400 with anything missing, twice or unknown', async () => {
    for (const name of Object.keys(good())) {
      const { [name as 'hub.mode']: _, ...rest } = good()
      expect([name, (await request(rest)).status]).toEqual([name, 400])
    }
    const all = new URLSearchParams(good())
    for (const more of ['hub.mode=subscribe', 'otro=1', 'hub.verify_token[]=x'])
      expect([more, (await environment.request('GET', `${WHATSAPP_PATH}?${all}&${more}`)).status]).toEqual([more, 400])
  })
})
