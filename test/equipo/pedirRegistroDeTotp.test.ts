import { expect, it } from 'vitest'
import { usePasskeys } from './authenticator.ts'
import { createTestPersona, SESION } from './persona.ts'

const { environment: entorno } = usePasskeys()

it('gives another secret each time, as a text and as the text of a QR code, for ten minutes', async () => {
  const ana = await createTestPersona(entorno, { conApp: false })
  const pedir = async () => (await ana.request('POST', `${SESION}/totp/registro`)).cuerpo
  const [una, otra] = [await pedir(), await pedir()]
  expect(una.secreto).not.toBe(otra.secreto)
  const uri = new URL(otra.uri)
  expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
    'otpauth:',
    'totp',
    `/Guías:${ana.correo}`,
  ])
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({ secret: otra.secreto, issuer: 'Guías' })
  const minutos = (Date.parse(otra.vence_en) - entorno.clock().getTime()) / 60_000
  expect(minutos).toBeGreaterThan(9)
  expect(minutos).toBeLessThanOrEqual(10)
  const { rows } = await entorno.db.pool.query(
    'select secreto from segundo_factor f join persona p on p.id = f.persona_id where persona = $1',
    [ana.persona],
  )
  expect(rows).toEqual([{ secreto: null }])
})
