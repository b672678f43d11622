// A slow body without waiting for one: the request began as long ago as the test says.
import type { Request, Response } from 'express'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { authenticate, reauthenticate } from '../../server/api/http/authenticate.ts'
import type { Authenticators } from '../../server/api/http/identity.ts'
import { networkOf } from '../../server/api/http/network.ts'
import { Limits } from '../../server/api/limits/limits.ts'
import type { Deps } from '../../server/domain/deps.ts'

const crearOperador = readOperations(readDocument()).find(({ id }) => id === 'crearOperador')!
const deps = { limits: new Limits({ perOperador: 10, perNetwork: 10 }), settings: { demostracion: true } } as Pick<
  Deps,
  'browser' | 'limits' | 'settings'
>

/** Runs the second check on a request that had every scope when it began, and returns the refusal's code. */
function comprobar(ms: number, now: readonly string[] | undefined) {
  const llave = { operadorId: '', operador: 'op_X', llave: 'X', ranges: [] }
  const autenticadores = {
    identify: () => undefined,
    llaveDeOperacion: async () => now && { ...llave, alcances: now },
  } as unknown as Authenticators
  const req = {
    ip: '127.0.0.1',
    headersDistinct: { authorization: ['Bearer x'] },
    solicitud: { startedAt: performance.now() - ms, identity: { ...llave, alcances: ['administrar'] } },
  } as unknown as Request
  return new Promise((resolve) => {
    reauthenticate(crearOperador, autenticadores, deps)(req, {} as Response, (error?: unknown) =>
      resolve((error as { codigo?: string } | undefined)?.codigo ?? 'admitted'),
    )
  })
}

describe('a request whose body took more than a second', () => {
  it('is admitted with a key that still has the scope', async () => {
    expect(await comprobar(1_500, ['ver', 'administrar'])).toBe('admitted')
  })
  it('is refused with 401 when the key is no longer valid', async () => {
    expect(await comprobar(1_500, undefined)).toBe('no_autenticado')
  })
  it('is refused with 403 when the key has lost the scope', async () => {
    expect(await comprobar(1_500, ['ver'])).toBe('alcance_insuficiente')
  })
  it('is not looked up again when it was faster', async () => {
    expect(await comprobar(0, undefined)).toBe('admitted')
  })
})

describe('a valid credential', () => {
  it.each([
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:7:1::1', '2001:db8:7:1::2'],
  ])('from %s keeps new connections of its network open, also those from %s', async (ip, neighbour) => {
    const limites = new Limits({ perOperador: 10, perNetwork: 10 })
    const autenticadores = {
      llaveDeOperacion: async () => ({ operadorId: '', operador: 'op_X', llave: 'X', ranges: [], alcances: [] }),
    } as unknown as Authenticators
    const req = { ip, headersDistinct: { authorization: ['Bearer x'] }, solicitud: {} } as unknown as Request
    const check = authenticate(crearOperador, autenticadores, { ...deps, limits: limites })
    expect(await new Promise((resolve) => void check(req, {} as Response, resolve))).toBeUndefined()
    const red = networkOf(neighbour)
    limites.ban(red)
    expect(limites.isBanned(red)).toBe(false)
  })
})
