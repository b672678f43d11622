import type { AuthenticationDeps } from '../../../api/http/authenticate.ts'
import { wideNetwork } from '../../../api/http/network.ts'
import { ExpiringSet } from '../../../api/limits/expiringSet.ts'
import { HOUR_MS } from '../../../platform/time/units.ts'
import type { Deps } from '../../deps.ts'

/** Time in milliseconds in which a session that changes its network adds at most one line to the audit record. */
const REMEMBERED_MS = 12 * HOUR_MS

/** Function that is told of each use of a session, and records the uses from another network. */
export type NetworkNotice = NonNullable<AuthenticationDeps['onSesionUse']>

/**
 * Creates the function that records when a session is used from another network than that of its sign-in, because its
 * cookie may be stolen. As often, a phone has just left the office, so the session is only recorded. Each process
 * records each session and network once.
 */
export function createNetworkNotice({ bitacora, log }: Pick<Deps, 'bitacora' | 'log'>): NetworkNotice {
  const seenKeys = new ExpiringSet(REMEMBERED_MS)
  return (sesion, { red, requestId }) => {
    const currentNetwork = wideNetwork(red)
    if (sesion.red === null || sesion.red === currentNetwork) return
    const key = `${sesion.codigo} ${currentNetwork}`
    if (seenKeys.has(key)) return
    seenKeys.add(key)
    const line = { accion: 'usarSesionEnOtraRed', sobre: ['persona', sesion.persona], campos: ['red'] } as const
    bitacora
      .recordRead({ identity: sesion, red, requestId }, line)
      .catch((err: unknown) => log.warn({ err }, 'session on another network not recorded'))
  }
}
