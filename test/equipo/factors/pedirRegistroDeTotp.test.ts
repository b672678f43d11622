import { expect, it } from 'vitest'
import { usePasskeys } from '../authenticator.ts'
import { createTestPersona, SESION } from '../persona.ts'

const { environment } = usePasskeys()

it('gives another secret each time, as a text and as the text of a QR code, for ten minutes', async () => {
  const ana = await createTestPersona(environment, { withApp: false })
  const request = async () => (await ana.request('POST', `${SESION}/totp/registro`)).body
  const [one, other] = [await request(), await request()]
  expect(one.secreto).not.toBe(other.secreto)
  const uri = new URL(other.uri)
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    'totp',
    `/Guías:${ana.correo}`,
  ])
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ secret: other.secreto, issuer: 'Guías' })
  const minutes = (Date.parse(other.vence_en) - environment.clock().getTime()) / 60_000
  expect(minutes).toBeGreaterThan(9)
  expect(minutes).toBeLessThanOrEqual(10)
  const { rows } = await environment.db.pool.query(
    'select secreto from segundo_factor f join persona p on p.id = f.persona_id where persona = $1',
    [ana.persona],
  )
  expect(rows).toEqual([{ secreto: null }])
})
