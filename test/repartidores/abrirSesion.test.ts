import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { MASTER_KEY } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { cookieOf, createMobile, type Mobile, signInByMobile } from './phone.ts'
import { fetchSesion, signInAt, useSesiones } from './sessions.ts'

const { environment, startOtherService, createRepartidor: nuevo } = useSesiones()

describe('signing in', () => {
  it('opens a session for twelve hours, in a cookie that no page reads', async () => {
    const { repartidor, codigo } = await nuevo()
    const before = Date.now()
    const { status, body, headers } = await signInByMobile(environment, codigo)
    expect([status, body]).toEqual([
      201,
      { repartidor, nombre: 'Carlos Méndez', vence_en: expect.stringMatching(/Z$/) },
    ])
    expect(Date.parse(body.vence_en) - 12 * HOUR_MS).toBeGreaterThanOrEqual(before)
    expect(Date.parse(body.vence_en) - 12 * HOUR_MS).toBeLessThanOrEqual(Date.now())
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^guias_repartidor=[\w-]{43}; Max-Age=43200; Path=\/repartidor; HttpOnly; SameSite=Strict$/,
      ),
      expect.stringMatching(
        /^guias_dispositivo=[0-9a-f-]{36}\.[\w-]{43}; Max-Age=31536000; Path=\/repartidor; HttpOnly; SameSite=Strict$/,
      ),
    ])
    const cookie = cookieOf(headers)
    const view = await environment.request('GET', '/repartidor/v1/sesion', { headers: { Cookie: cookie } })
    expect([view.status, view.body]).toEqual([200, body])
    // Only its digest is kept.
    const { rows } = await environment.db.pool.query('select * from sesion_repartidor')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
  })

  it('is for https alone where the service is', async () => {
    const { codigo } = await nuevo()
    const { url } = await startOtherService({ PUBLIC_URL: 'https://envios.ejemplo.com/guias' })
    const { status, headers } = await signInAt(url, codigo, { Origin: 'https://envios.ejemplo.com' })
    expect(status).toBe(201)
    const [headerLine = ''] = headers.getSetCookie()
    expect(headerLine).toMatch(
      /^__Secure-guias_repartidor=[\w-]{43}; Max-Age=43200; Path=\/guias\/repartidor; HttpOnly; Secure; SameSite=Strict$/,
    )
    const request = (Cookie: string) => fetch(`${url}/repartidor/v1/sesion`, { headers: { Cookie } })
    const [cookie = ''] = headerLine.split(';')
    expect((await request(cookie)).status).toBe(200)
    // What a page without https may have put there is not looked at.
    expect((await request(cookie.replace('__Secure-', ''))).status).toBe(401)
    for (const Origin of ['http://envios.ejemplo.com', 'http://127.0.0.1', 'https://ejemplo.com'])
      expect((await signInAt(url, codigo, { Origin })).body.codigo).toBe('origen_no_permitido')
  })

  it('takes the code as a thumb types it', async () => {
    const { codigo } = await nuevo()
    const typedText = ` ${codigo.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `
    expect((await signInByMobile(environment, typedText)).status).toBe(201)
  })

  it('says the same of every code that is none', async () => {
    const { repartidor, codigo } = await nuevo()
    await environment.asOperador('POST', `/repartidores/${repartidor}/desactivar`)
    const seen = []
    for (const bad of [codigo, '00000-00000', 'x', '¿?', 'A'.repeat(100), `${codigo}0`]) {
      const { status, body, headers } = await signInByMobile(environment, bad)
      const { id_solicitud: _1, ...rest } = body
      seen.push(JSON.stringify([status, rest, headers.get('www-authenticate'), headers.getSetCookie()]))
    }
    expect(new Set(seen).size).toBe(1)
    expect(seen[0]).toContain('codigo_incorrecto')
  })

  it('makes a token of its own every time, and forgets the phone that came first after ten', async () => {
    const deviceCookieOf = await nuevo()
    const mobiles: Mobile[] = []
    for (let i = 0; i < 11; i++) mobiles.push(await createMobile(environment, deviceCookieOf))
    expect(new Set(mobiles.map(({ cookie }) => cookie)).size).toBe(11)
    const estados = await Promise.all(mobiles.map(async (phone) => (await fetchSesion(phone)).status))
    expect(estados).toEqual([401, ...Array(10).fill(200)])
  })

  it('moves a code to the present master key, so that the old one can go', async () => {
    const { codigo } = await nuevo()
    const llave = randomBytes(32).toString('base64')
    const dos = await startOtherService({ MASTER_KEYS: `${llave},${MASTER_KEY}` })
    expect((await signInAt(dos.url, codigo, { Origin: dos.url })).status).toBe(201)
    const one = await startOtherService({ MASTER_KEYS: llave })
    expect((await signInAt(one.url, codigo, { Origin: one.url })).status).toBe(201)
  })
})

describe('guessing codes', () => {
  beforeAll(() => environment.reset())

  it('has to wait after thirty in a minute, also with a good one; who is in stays in', async () => {
    const phone = await createMobile(environment)
    const responses = await Promise.all(Array.from({ length: 60 }, (_, i) => signInByMobile(environment, `MALO${i}`)))
    const ofWait = responses.filter(({ status }) => status === 429)
    expect(ofWait.length).toBeGreaterThan(25)
    expect(ofWait.length + responses.filter(({ status }) => status === 401).length).toBe(60)
    for (const { body, headers } of ofWait) {
      expect(body.codigo).toBe('demasiadas_solicitudes')
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await signInByMobile(environment, phone.codigo)).status).toBe(429)
    expect((await fetchSesion(phone)).status).toBe(200)
    // The address that is counted is the connection's: nobody chooses another by a header.
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    expect((await signInByMobile(environment, phone.codigo, { headers })).status).toBe(429)
    // Then it goes on.
    await waitUntil(async () => (await signInByMobile(environment, phone.codigo)).status === 201)
  })

  it('counts all networks of one IPv6 site together, too', async () => {
    const { url } = await startOtherService({ TRUST_PROXY: '1' }, { limitsClock: () => 0 })
    const attempt = async (i: number) => {
      const headers = { Origin: url, 'X-Forwarded-For': `2001:db8:7:${i.toString(16)}::1` }
      return (await signInAt(url, `MALO${i}`, headers)).status
    }
    let before = 0
    while (before < 200 && (await attempt(before)) === 401) before++
    // The services of the tests before share the limit, too.
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThanOrEqual(120)
    const { codigo } = await nuevo()
    const fromOtherSite = { Origin: url, 'X-Forwarded-For': '2001:db8:8::1' }
    expect((await signInAt(url, codigo, fromOtherSite)).status).toBe(201)
  })

  it('keeps no known phone out, nor does a known phone keep others out', async () => {
    // What a courier's phone and strangers behind the same address send, at a clock that stands.
    const { url } = await startOtherService({}, { limitsClock: () => 0 })
    const { codigo } = await nuevo()
    const knownIdentity = async (Cookie: string, kind = codigo) =>
      (await signInAt(url, kind, { Origin: url, Cookie })).status
    const deviceCookieOf = (headers: Headers) => headers.getSetCookie()[1]!.split(';')[0]!
    const first = await signInAt(url, codigo, { Origin: url })
    const device = deviceCookieOf(first.headers)
    for (let i = 0; i < 31; i++) await signInAt(url, `MALO${i}`, { Origin: url })
    expect((await signInAt(url, codigo, { Origin: url })).status).toBe(429)
    expect(await knownIdentity(device)).toBe(201)
    // What we didn't seal is a stranger's.
    const [name, value = ''] = device.split('=')
    const [caller, sello = ''] = value.split('.')
    const other = (await nuevo()).repartidor
    for (const fake of [
      `${caller}.${sello.startsWith('A') ? 'B' : 'A'}${sello.slice(1)}`,
      `${crypto.randomUUID()}.${sello}`,
      `${caller}.`,
      other,
    ])
      expect([fake, await knownIdentity(`${name}=${fake}`)]).toEqual([fake, 429])
    expect(await knownIdentity(`${device}; ${device}`)).toBe(429)
    // A known one has as many wrong ones, and no more by signing in anew; another phone there isn't held up by them.
    const { url: byProxy } = await startOtherService({ TRUST_PROXY: '1' }, { limitsClock: () => 0 })
    const fromThere = { Origin: byProxy, 'X-Forwarded-For': '203.0.113.7' }
    const renewedCookie = deviceCookieOf((await signInAt(byProxy, codigo, { ...fromThere, Cookie: device })).headers)
    const estados: number[] = []
    for (let i = 0; i < 31; i++)
      estados.push(
        (await signInAt(byProxy, `MALO${i}`, { ...fromThere, Cookie: i % 2 ? renewedCookie : device })).status,
      )
    expect([estados[0], estados.at(-1)]).toEqual([401, 429])
    expect((await signInAt(byProxy, codigo, { ...fromThere, Cookie: renewedCookie })).status).toBe(429)
    expect((await signInAt(byProxy, codigo, fromThere)).status).toBe(201)
  })

  it('from elsewhere keeps nobody out, however much of it there is', FULL_RUN_ONLY, async () => {
    // A proxy that is believed: each request seems to come from somewhere else.
    const { url } = await startOtherService({ TRUST_PROXY: '1' })
    const from = (n: number) => ({ Origin: url, 'X-Forwarded-For': `198.51.${Math.floor(n / 250)}.${n % 250}` })
    for (let i = 0; i < 1_000; i += 100) {
      const tanda = Array.from({ length: 100 }, (_, n) => signInAt(url, 'MALO', from(i + n)))
      for (const { status } of await Promise.all(tanda)) expect(status).toBe(401)
    }
    const { codigo } = await nuevo()
    expect((await signInAt(url, codigo, from(1_001))).status).toBe(201)
  })

  it('is no part of it to sign in with a good code', async () => {
    const { codigo } = await nuevo()
    for (let i = 0; i < 50; i++) expect((await signInByMobile(environment, codigo)).status).toBe(201)
  })
})
