import { beforeAll, describe, expect, it } from 'vitest'
import { purgeRepartidorSesiones } from '../../server/domain/identities/repartidor.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { cookieOf, createMobile, signInByMobile } from './phone.ts'
import { fetchSesion, useSesiones } from './sessions.ts'

const { environment, startOtherService, createRepartidor: nuevo } = useSesiones()

describe('a session', () => {
  beforeAll(() => environment.reset())

  it.each(['codigo', 'desactivar'])('ends everywhere after %s', async (kind) => {
    const phone = await createMobile(environment)
    const servicios = [environment.url, (await startOtherService()).url]
    const vale = async (url: string) =>
      (await fetch(`${url}/repartidor/v1/sesion`, { headers: { Cookie: phone.cookie } })).status === 200
    // It is in use all the while, so that it has just been looked up when it ends.
    for (const url of servicios) expect(await vale(url)).toBe(true)
    expect((await environment.asOperador('POST', `/repartidores/${phone.repartidor}/${kind}`)).status).toBeLessThan(300)
    for (const url of servicios) await waitUntil(async () => !(await vale(url)))
  })

  it('is born dead when its code is renewed at that very moment', async () => {
    const initialCookies = await Promise.all(
      // The services of the test above share the 30 attempts of a minute, so this one has 10.
      Array.from({ length: 6 }, async () => {
        const { repartidor, codigo } = await nuevo()
        const [sesion] = await Promise.all([
          signInByMobile(environment, codigo),
          environment.asOperador('POST', `/repartidores/${repartidor}/codigo`),
        ])
        return cookieOf(sesion.headers)
      }),
    )
    for (const Cookie of initialCookies)
      await waitUntil(
        async () => (await environment.request('GET', '/repartidor/v1/sesion', { headers: { Cookie } })).status === 401,
      )
  })

  it('is over after twelve hours, and then swept', async () => {
    const phone = await createMobile(environment)
    const count = async () => (await environment.db.pool.query('select from sesion_repartidor')).rowCount!
    environment.advance(11 * HOUR_MS)
    expect((await fetchSesion(phone)).status).toBe(200)
    await purgeRepartidorSesiones(environment)
    expect(await count()).toBeGreaterThan(0)
    environment.advance(HOUR_MS)
    expect((await fetchSesion(phone)).body.codigo).toBe('sesion_invalida')
    await purgeRepartidorSesiones(environment)
    expect(await count()).toBe(0)
  })
})

describe('the log', () => {
  it('names the courier, and holds neither code nor cookie nor anything of a recipient', async () => {
    await environment.reset()
    const phone = await createMobile(environment)
    const { guia } = await (await environment.createComercio()).api.guias.crear(
      buildGuia({ destinatario: 'Zacarías Único' }),
    )
    await phone.request('GET', `/guias/${guia}`)
    await phone.request('GET', `/guias?guia=${guia}`)
    await phone.registrar(guia, { estado: 'recolectado', lat: 14.123456, lng: -90.654321, idempotencia: 'a' })
    await phone.request('DELETE', '/sesion')
    await signInByMobile(environment, 'CODIGOMALO')
    await waitUntil(async () => environment.log.some((line) => /"abrirSesion".*"status":401/.test(line)))
    const log = environment.log.join('\n')
    expect(log).toContain(`"repartidor":"${phone.repartidor}"`)
    const [, token = 'x'] = phone.cookie.split('=')
    const secrets = [phone.codigo, phone.codigo.replace('-', ''), token, 'CODIGOMALO', 'guias_repartidor=']
    for (const secret of [...secrets, 'Zacarías', '+50231481676', '14.123456', 'Carlos'])
      expect([secret, log.includes(secret)]).toEqual([secret, false])
  })
})
