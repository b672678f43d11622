// Keys that are admitted only from some networks: each address here is one that a proxy says.
import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { administrar } from './manage.ts'

const environment = useEnvironment({ limitsClock: () => 0 }, () => ({ TRUST_PROXY: '1', REQUESTS_PER_NETWORK: '10' }))
const { crearComercio, crearLlave, crearOperador, crearLlaveDeOperador } = administrar(environment)

const REDES = ['203.0.113.7/24', '2001:DB8::/48', '198.51.100.9']
const from = async (ip: string, llave: string, path = '/api/v1/cuenta') => {
  const { status, body } = await environment.request('GET', path, { llave, headers: { 'X-Forwarded-For': ip } })
  return status === 200 ? status : `${status} ${body.codigo}`
}

describe('a key with networks', () => {
  it('is written one way, and admitted from there alone, IPv4 and IPv6', async () => {
    const { comercio } = await crearComercio()
    const { llave, redes } = await crearLlave(comercio, { modo: 'test', redes: REDES })
    expect(redes).toEqual(['203.0.113.0/24', '2001:db8::/48', '198.51.100.9/32'])
    for (const ip of [
      '203.0.113.0',
      '203.0.113.255:443',
      '::ffff:203.0.113.8',
      '::ffff:cb00:7108',
      '[2001:db8::1]:80',
      '2001:db8:0:1::1',
      '198.51.100.9',
    ])
      expect([ip, await from(ip, llave)]).toEqual([ip, 200])
    for (const ip of ['203.0.114.1', '2001:db8:1::1', '198.51.100.8', '127.0.0.1', 'unknown'])
      expect([ip, await from(ip, llave)]).toEqual([ip, '403 red_no_permitida'])
  })

  it.each([
    ['::ffff:203.0.113.7/120', '203.0.113.0/24', '203.0.113.200', '203.0.114.1'],
    ['::FFFF:cb00:7107/120', '203.0.113.0/24', '::ffff:203.0.113.8', '::ffff:203.0.114.8'],
    ['::ffff:198.51.100.9', '198.51.100.9/32', '198.51.100.9', '198.51.100.8'],
    ['::ffff:0:0/96', '0.0.0.0/0', '198.51.100.9', '2001:db8::1'],
  ])('written as %s is stored as %s', async (input, saved, inside, fuera) => {
    const { comercio } = await crearComercio()
    const { llave, redes } = await crearLlave(comercio, { modo: 'test', redes: [input] })
    expect(redes).toEqual([saved])
    expect([await from(inside, llave), await from(fuera, llave)]).toEqual([200, '403 red_no_permitida'])
  })

  it('does not name its networks to a caller from elsewhere', async () => {
    const { comercio } = await crearComercio()
    const { llave } = await crearLlave(comercio, { modo: 'test', redes: REDES })
    const headers = { 'X-Forwarded-For': '192.0.2.1' }
    const { body } = await environment.request('GET', '/api/v1/guias', { llave, headers })
    expect(JSON.stringify(body)).not.toMatch(/203\.0|2001:|198\.51|192\.0/)
  })

  it('is an operator’s, too, and a rotated one keeps them', async () => {
    const first = await crearLlaveDeOperador(await crearOperador(), { redes: REDES })
    const { body: second } = await environment.asOperador('POST', `/llaves/${first.id}/rotar`)
    for (const { llave } of [first, second]) {
      expect(await from('203.0.113.1', llave, '/operaciones/v1/guias')).toBe(200)
      expect(await from('192.0.2.1', llave, '/operaciones/v1/guias')).toBe('403 red_no_permitida')
    }
  })

  it('spends nothing of its own from elsewhere: that network is told to wait', async () => {
    const { comercio } = await crearComercio()
    const { llave } = await crearLlave(comercio, { modo: 'test', redes: REDES })
    const listedFaults = new Set<string | number>()
    for (let i = 0; i < 25; i++) listedFaults.add(await from('192.0.2.99', llave))
    expect(listedFaults).toEqual(new Set(['403 red_no_permitida', '429 demasiadas_solicitudes']))
    expect(await from('203.0.113.1', llave)).toBe(200)
  })

  it.each([
    ['what is no network', ['203.0.113.0/24', '10.0.0.0/33'], '/redes/1'],
    ['half an address', ['10.0.0/8'], '/redes/0'],
    ['IPv4 written as IPv6 with less than 96 bits', ['::ffff:10.0.0.0/95'], '/redes/0'],
    ['a name', ['oficina.ejemplo.com'], '/redes/0'],
    ['too many', Array.from({ length: 21 }, (_unused, i) => `10.0.0.${i}`), '/redes'],
  ])('refuses %s', async (_description, redes, field) => {
    const { comercio } = await crearComercio()
    const { status, body } = await environment.asOperador('POST', `/comercios/${comercio}/llaves`, {
      modo: 'test',
      redes,
    })
    expect([status, body.errores.map((e: { campo: string }) => e.campo)]).toEqual([422, [field]])
  })
})
