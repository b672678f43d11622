import { beforeAll, describe, expect, it } from 'vitest'
import { purgeRepartidorSesiones } from '../../server/domain/identities/repartidor.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia, hasta } from '../factories.ts'
import { cookieDe, createMobile, signInByMobile } from './phone.ts'
import { fetchSesion, useSesiones } from './sessions.ts'

const { environment, otroServicio, nuevo } = useSesiones()

describe('a session', () => {
  beforeAll(() => environment.reset())

  it.each(['codigo', 'desactivar'])('ends everywhere after %s', async (que) => {
    const movil = await createMobile(environment)
    const servicios = [environment.url, (await otroServicio()).url]
    const vale = async (url: string) =>
      (await fetch(`${url}/repartidor/v1/sesion`, { headers: { Cookie: movil.cookie } })).status === 200
    // It is in use all the while, so that it has just been looked up when it ends.
    for (const url of servicios) expect(await vale(url)).toBe(true)
    expect((await environment.operar('POST', `/repartidores/${movil.repartidor}/${que}`)).status).toBeLessThan(300)
    for (const url of servicios) await hasta(async () => !(await vale(url)))
  })

  it('is born dead when its code is renewed at that very moment', async () => {
    const nacidas = await Promise.all(
      // The services of the test above share the 30 attempts of a minute, so this one has 10.
      Array.from({ length: 6 }, async () => {
        const { repartidor, codigo } = await nuevo()
        const [sesion] = await Promise.all([
          signInByMobile(environment, codigo),
          environment.operar('POST', `/repartidores/${repartidor}/codigo`),
        ])
        return cookieDe(sesion.cabeceras)
      }),
    )
    for (const Cookie of nacidas)
      await hasta(
        async () =>
          (await environment.request('GET', '/repartidor/v1/sesion', { cabeceras: { Cookie } })).status === 401,
      )
  })

  it('is over after twelve hours, and then swept', async () => {
    const movil = await createMobile(environment)
    const cuantas = async () => (await environment.db.pool.query('select from sesion_repartidor')).rowCount!
    environment.advance(11 * HOUR_MS)
    expect((await fetchSesion(movil)).status).toBe(200)
    await purgeRepartidorSesiones(environment)
    expect(await cuantas()).toBeGreaterThan(0)
    environment.advance(HOUR_MS)
    expect((await fetchSesion(movil)).cuerpo.codigo).toBe('sesion_invalida')
    await purgeRepartidorSesiones(environment)
    expect(await cuantas()).toBe(0)
  })
})

describe('the log', () => {
  it('names the courier, and holds neither code nor cookie nor anything of a recipient', async () => {
    await environment.reset()
    const movil = await createMobile(environment)
    const { guia } = await (await environment.nuevoComercio()).api.guias.crear(
      buildGuia({ destinatario: 'Zacarías Único' }),
    )
    await movil.request('GET', `/guias/${guia}`)
    await movil.request('GET', `/guias?guia=${guia}`)
    await movil.registrar(guia, { estado: 'recolectado', lat: 14.123456, lng: -90.654321, idempotencia: 'a' })
    await movil.request('DELETE', '/sesion')
    await signInByMobile(environment, 'CODIGOMALO')
    await hasta(async () => environment.log.some((linea) => /"abrirSesion".*"status":401/.test(linea)))
    const log = environment.log.join('\n')
    expect(log).toContain(`"repartidor":"${movil.repartidor}"`)
    const [, token = 'x'] = movil.cookie.split('=')
    const secretos = [movil.codigo, movil.codigo.replace('-', ''), token, 'CODIGOMALO', 'guias_repartidor=']
    for (const secreto of [...secretos, 'Zacarías', '+50231481676', '14.123456', 'Carlos'])
      expect([secreto, log.includes(secreto)]).toEqual([secreto, false])
  })
})
