import { describe, expect, it } from 'vitest'
import { createBrowser } from '../../server/api/http/browser.ts'

const TOKEN = 'aB3_'.padEnd(43, '-')
const TEXT = `${'0'.repeat(36)}.${TOKEN}`

describe.each([
  ['http://127.0.0.1:3000', ['guias_repartidor', 'guias_dispositivo'], 'guias_sesion'],
  ['https://guias.ejemplo.com', ['__Secure-guias_repartidor', '__Secure-guias_dispositivo'], '__Host-guias_sesion'],
  ['https://ejemplo.com/guias', ['__Secure-guias_repartidor', '__Secure-guias_dispositivo'], '__Host-guias_sesion'],
])('the cookies of a service at %s', (url, ofCouriers, ofPersons) => {
  const browser = createBrowser(url)
  const sent = (header: string) => header.split(';', 1)[0]!
  /** What each kind of cookie writes, and how it is read again. */
  const kinds: readonly [header: string, text: string, read: (cookie: string) => string | undefined][] = [
    [browser.setSesion(TOKEN, 60), TOKEN, (cookie) => browser.readSesion({ headers: { cookie } })],
    [browser.setDevice(TEXT), TEXT, browser.readDevice],
    [browser.setPersonaSesion(TOKEN, 60), TOKEN, (cookie) => browser.readPersonaSesion({ headers: { cookie } })],
    [browser.setSignIn(TOKEN, 60), TOKEN, browser.readSignIn],
    [browser.setChallenge(TOKEN, 60), TOKEN, browser.readChallenge],
    [browser.setPartialSignIn(TOKEN, 60), TOKEN, browser.readPartialSignIn],
    [browser.setKnownPerson(TEXT), TEXT, browser.readKnownPerson],
  ]

  it('are read as they were written, among others, and not if they come twice or under another name', () => {
    for (const [header, text, read] of kinds) {
      const mine = sent(header)
      expect([mine, read(`otra=1; ${mine}; x=${TOKEN}`)]).toEqual([mine, text])
      expect([mine, read(`${mine}; ${mine}`)]).toEqual([mine, undefined])
      expect([mine, read(`x${mine}`)]).toEqual([mine, undefined])
    }
  })

  it('have the names that this address asks for, each its own', () => {
    const names = kinds.map(([header]) => sent(header).split('=', 1)[0]!)
    expect(new Set(names).size).toBe(kinds.length)
    expect(names.slice(0, 2)).toEqual(ofCouriers)
    expect(names[2]).toBe(ofPersons)
  })
})
