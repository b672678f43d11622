import type { Identities } from '../../../api/http/identity.ts'
import { ExpiringSet } from '../../../api/limits/expiringSet.ts'
import { statement } from '../../../data/db.ts'
import type { AlcanceDePersona } from '../../../generated/contract/types/index.ts'
import { HOUR_MS, MINUTE_MS } from '../../../platform/time/units.ts'
import type { Deps } from '../../deps.ts'
import { COMPANY } from '../persona.ts'

type IdleSettings = Pick<Deps['settings'], 'cajaIdleMinutes' | 'comercioIdleHours' | 'companyIdleMinutes'>

/** Time in milliseconds after which the unused session of a membership ends. */
function idleTimeOf(
  { cajaIdleMinutes, comercioIdleHours, companyIdleMinutes }: IdleSettings,
  { ambito, alcances }: { ambito: string; alcances: readonly AlcanceDePersona[] },
): number {
  if (ambito !== COMPANY) return comercioIdleHours * HOUR_MS
  return (alcances.includes('caja') ? Math.min(cajaIdleMinutes, companyIdleMinutes) : companyIdleMinutes) * MINUTE_MS
}

/** Returns when the session of a membership ends if nobody uses it from now on. */
export const idleFrom = (
  { clock, settings }: { clock: () => Date; settings: IdleSettings },
  membresia: { ambito: string; alcances: readonly AlcanceDePersona[] },
) => new Date(clock().getTime() + idleTimeOf(settings, membresia))

const USE = statement<{ hash: Uint8Array; inactiva_en: Date }>(
  'equipo.useSesion',
  'central',
  'update sesion_persona set inactiva_en = :inactiva_en where hash = :hash',
)

/** Part of the idle time by which a stored end may be early. A session has at most one write in this part. */
const GRAIN = 1 / 15

/** Time in milliseconds in which a process may still have the session's row from before a write in its cache. */
const MEMORY_MS = 1_000

/**
 * Creates the function that stores the use of a session. It writes once in a fifteenth of the idle time, not with each
 * request. A session therefore ends between 14 fifteenths and the whole of the idle time after its last use.
 */
export function createSesionUse({ db, clock, settings, log }: Pick<Deps, 'db' | 'clock' | 'settings' | 'log'>) {
  const writtenSesiones = new ExpiringSet(MEMORY_MS)
  return (sesion: Identities['sesionDePersona']): void => {
    const { sesion: hash, codigo, ambito, permissions: alcances } = sesion
    const membresia = { ambito, alcances }
    const inactiva_en = idleFrom({ clock, settings }, membresia)
    const changeMs = Math.abs(inactiva_en.getTime() - sesion.inactiva_en.getTime())
    if (changeMs < idleTimeOf(settings, membresia) * GRAIN || writtenSesiones.has(codigo)) return
    writtenSesiones.add(codigo)
    // Requests of this process with the same cached row see the use at once.
    sesion.inactiva_en = inactiva_en
    db.query(USE, { hash, inactiva_en }).catch((err: unknown) => log.warn({ err }, 'use of a session not stored'))
  }
}
