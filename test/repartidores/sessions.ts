import { afterAll, expect, inject } from 'vitest'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { type Service, type ServiceOverrides, startService } from '../../server/startup/service.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { findFreePort } from '../ports.ts'
import { createWitness } from '../witness.ts'
import type { Mobile } from './phone.ts'

/** Signing in at a service that isn't the environment's own, or with headers of its own. */
export async function signInAt(url: string, codigo: unknown, headers: Record<string, string>) {
  const response = await fetch(`${url}/repartidor/v1/sesion`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ codigo }),
  })
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
}
export const fetchSesion = (mobile: Mobile) => mobile.request('GET', '/sesion')

export function useSesiones() {
  const environment = useEnvironment()
  const otherServices: Service[] = []
  const contractErrors: Error[] = []
  const witness = createWitness(inject('runFolder'), (error) => contractErrors.push(error))
  afterAll(async () => {
    await Promise.all(otherServices.map((other) => other.stop()))
    expect(contractErrors).toEqual([])
  })
  /** Another process over the same database, with other settings. */
  async function startOtherService(env: Record<string, string> = {}, overrides: ServiceOverrides = {}) {
    const base = { DATABASE_URL: environment.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: environment.dataDir }
    const PORT = `${await findFreePort()}`
    const config = readConfig({ ...base, MESSAGING: 'buzon', PORT, WORKERS: '0', ...env }, process.cwd())
    otherServices.push(
      await startService(config, createLog('silent'), undefined, {
        clock: environment.clock,
        witness,
        farewellMs: 0,
        ...overrides,
      }),
    )
    return { url: `http://127.0.0.1:${PORT}` }
  }
  const createRepartidor = async () =>
    (await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos Méndez' })).body

  return { environment, startOtherService, createRepartidor }
}
