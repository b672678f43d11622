import { describe, expect, it } from 'vitest'
import { networkOf, siteOf } from '../../server/api/http/network.ts'
import { NetworkLimit, SITE_FACTOR } from '../../server/api/limits/networkLimit.ts'

const RITMO = { perSecond: 1, burst: 10 }
const limite = () => new NetworkLimit(RITMO, { clock: () => 0 })

describe('a limit by network', () => {
  it('lets all /64 networks of a /48 together do four times as much as one of them', () => {
    const one = limite()
    let passedCount = 0
    for (let i = 0; i < 65_536; i++) if (one.take(networkOf(`2001:db8:7:${i.toString(16)}::1`)) === 0) passedCount++
    expect(passedCount).toBe(SITE_FACTOR * RITMO.burst)
    expect(one.take(networkOf('2001:db8:8::1'))).toBe(0)
    expect(one.remaining(networkOf('2001:db8:7::1')).remaining).toBe(0)
  })

  it('keeps one /64 within its own rate without charging the /48 for what it refuses', () => {
    const one = limite()
    const red = networkOf('2001:db8:7::1')
    for (let i = 0; i < 100; i++) expect(one.take(red) === 0).toBe(i < RITMO.burst)
    expect(one.remaining(networkOf('2001:db8:7:1::1')).remaining).toBe(RITMO.burst)
    one.giveBack(red, 3)
    expect(one.remaining(red).remaining).toBe(3)
  })

  it('tells a /64 what is left to its /48 where that is less', () => {
    const one = limite()
    const red = networkOf('2001:db8:7::1')
    for (const other of [1, 2, 3]) one.take(networkOf(`2001:db8:7:${other}::1`), RITMO.burst)
    one.take(networkOf('2001:db8:7:4::1'), 7)
    expect(one.remaining(red).remaining).toBe(3)
  })

  it('counts IPv4 addresses and other texts by themselves', () => {
    const one = limite()
    for (const key of ['203.0.113.7', '203.0.113.8', 'dispositivo 1', ''])
      for (let i = 0; i <= RITMO.burst; i++) expect([key, i, one.take(key) === 0]).toEqual([key, i, i < 10])
  })
})

describe('the /48 of a network', () => {
  it('is told of IPv6 alone', () => {
    expect(
      ['2001:db8::1', '::1', '203.0.113.7', '::ffff:203.0.113.7', 'dispositivo 1:2'].map(networkOf).map(siteOf),
    ).toEqual(['2001:db8:0::/48', '0:0:0::/48', undefined, undefined, undefined])
  })
})
