import { afterAll, expect, inject } from 'vitest'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { type Service, type ServiceOverrides, startService } from '../../server/startup/service.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { findFreePort } from '../ports.ts'
import { createWitness } from '../witness.ts'
import type { Movil } from './phone.ts'

/** Signing in at a service that isn't the environment's own, or with headers of its own. */
export async function signInAt(url: string, codigo: unknown, cabeceras: Record<string, string>) {
  const respuesta = await fetch(`${url}/repartidor/v1/sesion`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...cabeceras },
    body: JSON.stringify({ codigo }),
  })
  return { status: respuesta.status, cabeceras: respuesta.headers, cuerpo: JSON.parse(await respuesta.text()) }
}
export const fetchSesion = (movil: Movil) => movil.request('GET', '/sesion')

export function useSesiones() {
  const entorno = useEnvironment()
  const otherServices: Service[] = []
  const quejas: Error[] = []
  const testigo = createWitness(inject('carpeta'), (error) => quejas.push(error))
  afterAll(async () => {
    await Promise.all(otherServices.map((otro) => otro.stop()))
    expect(quejas).toEqual([])
  })
  /** Another process over the same database, with other settings. */
  async function otroServicio(env: Record<string, string> = {}, sustitutos: ServiceOverrides = {}) {
    const base = { DATABASE_URL: entorno.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: entorno.dataDir }
    const PORT = `${await findFreePort()}`
    const config = readConfig({ ...base, MESSAGING: 'buzon', PORT, WORKERS: '0', ...env }, process.cwd())
    otherServices.push(
      await startService(config, createLog('silent'), undefined, {
        clock: entorno.clock,
        witness: testigo,
        farewellMs: 0,
        ...sustitutos,
      }),
    )
    return { url: `http://127.0.0.1:${PORT}` }
  }
  const nuevo = async () => (await entorno.operar('POST', '/repartidores', { nombre: 'Carlos Méndez' })).cuerpo

  return { entorno, otroServicio, nuevo }
}
