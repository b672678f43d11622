import { describe, expect, it } from 'vitest'
import { useChannel, WHATSAPP_PATH } from './channel.ts'

const canal = useChannel()
const { environment } = canal

describe('the challenge', () => {
  const pedir = (consulta: Record<string, string>) =>
    environment.request('GET', `${WHATSAPP_PATH}?${new URLSearchParams(consulta)}`)
  const bueno = () => ({
    'hub.mode': 'subscribe',
    'hub.verify_token': canal.proveedor.config.verifyToken,
    'hub.challenge': '1158201444',
  })

  it('is answered as text to who knows the password', async () => {
    const { status, cuerpo, cabeceras } = await pedir(bueno())
    expect([status, cuerpo, cabeceras.get('content-type')]).toEqual([200, '1158201444', 'text/plain; charset=utf-8'])
  })

  it('is refused with another password, mode or challenge', async () => {
    for (const cambio of [
      { 'hub.verify_token': 'otra' },
      { 'hub.verify_token': `${bueno()['hub.verify_token']} ` },
      { 'hub.mode': 'unsubscribe' },
      { 'hub.challenge': '<script>alert(1)</script>' },
    ]) {
      const { status, cuerpo } = await pedir({ ...bueno(), ...cambio })
      expect([cambio, status, cuerpo.codigo]).toEqual([cambio, 403, 'firma_invalida'])
      expect(JSON.stringify(cuerpo)).not.toContain('script')
    }
  })

  it('is a 400 with anything missing, twice or unknown', async () => {
    for (const nombre of Object.keys(bueno())) {
      const { [nombre as 'hub.mode']: _, ...resto } = bueno()
      expect([nombre, (await pedir(resto)).status]).toEqual([nombre, 400])
    }
    const todo = new URLSearchParams(bueno())
    for (const mas of ['hub.mode=subscribe', 'otro=1', 'hub.verify_token[]=x'])
      expect([mas, (await environment.request('GET', `${WHATSAPP_PATH}?${todo}&${mas}`)).status]).toEqual([mas, 400])
  })
})
