import { expect, it } from 'vitest'
import { useSesiones } from '../repartidores/sessions.ts'
import { createTestPersona } from './persona.ts'

const { environment, startOtherService } = useSesiones()

it('no passkey is offered where the service has an address in place of a name', async () => {
  const ana = await createTestPersona(environment)
  const { url } = await startOtherService({ PUBLIC_URL: 'http://203.0.113.7:3000', WEBHOOKS_LOOPBACK: '0' })
  const headers = { Cookie: ana.cookie, Origin: 'http://203.0.113.7:3000' }
  for (const path of ['registro', 'reto']) {
    const requestData = await fetch(`${url}/operaciones/v1/sesion/passkeys/${path}`, { method: 'POST', headers })
    expect([requestData.status, ((await requestData.json()) as { codigo: string }).codigo]).toEqual([
      409,
      'passkey_no_admitida',
    ])
  }
  for (const path of ['/entrar', '/cuenta']) {
    const page = await fetch(url + path, { headers })
    expect([page.status, (await page.text()).match(/[Pp]asskeys?<|id="passkey"/)]).toEqual([200, null])
  }
})
