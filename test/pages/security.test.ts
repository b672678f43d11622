import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'

const caseWithout = useEnvironment()
const environment = useEnvironment({}, () => ({ SECURITY_CONTACT: 'mailto:seguridad@mensajeria.example' }))
const RUTA = '/.well-known/security.txt'

describe('security.txt', () => {
  it('names a contact, for less than a year from now (RFC 9116)', async () => {
    const response = await fetch(environment.url + RUTA)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const fields = Object.fromEntries(
      (await response.text())
        .trimEnd()
        .split('\n')
        .map((line) => line.split(': ') as [string, string]),
    )
    expect(fields).toEqual({
      Contact: 'mailto:seguridad@mensajeria.example',
      Expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      'Preferred-Languages': 'es, en',
      Canonical: environment.url + RUTA,
    })
    const days = (Date.parse(fields.Expires!) - environment.clock().getTime()) / 86_400_000
    expect(days).toBeGreaterThan(100)
    expect(days).toBeLessThan(365)
  })

  it('isn’t there where nobody was named', async () => {
    expect((await fetch(caseWithout.url + RUTA)).status).toBe(404)
  })
})
