import { describe, expect, it } from 'vitest'
import { networkOf } from '../../server/api/http/network.ts'

describe('the network of an address', () => {
  it('is the address itself in IPv4, and the first 64 bits in IPv6, however it is abbreviated', () => {
    for (const [one, other] of [
      ['2001:db8::1', '2001:db8::2'],
      ['2600:3c00::f03c:91ff:fe00:1', '2600:3c00::f03c:91ff:fe00:2'],
      ['2001:db8:1::1', '2001:db8:1:0:5:6:7:8'],
      ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6'],
      ['::1', '::2'],
    ] as const)
      expect([one, networkOf(one)]).toEqual([one, networkOf(other)])
    for (const [one, other] of [
      ['198.51.100.1', '198.51.100.2'],
      ['::ffff:198.51.100.1', '::ffff:198.51.100.2'],
      ['2001:db8::1', '2001:db8:0:1::1'],
      ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ] as const)
      expect([one, networkOf(one)]).not.toEqual([one, networkOf(other)])
    // Some proxies write the port, too, and some systems IPv4 as IPv6.
    for (const [one, other] of [
      ['198.51.100.1:1024', '198.51.100.1'],
      ['[2001:db8::1]:80', '2001:db8::2'],
      ['[2001:db8::1]', '2001:db8::2'],
      ['::ffff:198.51.100.1', '198.51.100.1'],
      ['::ffff:c633:6401', '198.51.100.1'],
      ['[::FFFF:198.51.100.1]:80', '198.51.100.1'],
    ] as const)
      expect([one, networkOf(one)]).toEqual([one, networkOf(other)])
    // Whatever a proxy says is only a key.
    for (const rara of ['', 'unknown', '::', '1:2:3:4:5:6:7:8:9::1:2', '[2001:db8::1]:80']) networkOf(rara)
  })
})
