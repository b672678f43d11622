import type { Query } from '../../data/db.ts'
import { createClock } from '../../platform/time/clock.ts'
import { companyTimeZone } from '../catalogo/timeZone.ts'
import { type FactorChange, saveCorreo } from '../correos/correo.ts'
import type { Deps } from '../deps.ts'
import { deviceOf, isKnownBrowser } from './browsers.ts'

/** Minutes within which a notice must be sent; later it is dropped. */
const NOTICE_MINUTES = 1_440

type NoticeDeps = Pick<Deps, 'secretos' | 'newId' | 'clock' | 'settings'>

/** Recipient of a notice. */
export interface NotifiedPersona {
  nombre: string
  correo: string
}

const commonData = ({ clock, settings }: NoticeDeps, nombre: string) => {
  const { timeZone, urlDePersonas } = settings
  const cuando = createClock(companyTimeZone(timeZone)).formatLong(clock().toISOString())
  return { nombre, cuando, enlace: `${urlDePersonas}/cuenta` }
}

/** Tells a person by mail about a sign-in if the person has not used the browser before. */
export async function notifySignIn(
  query: Query,
  deps: NoticeDeps & Pick<Deps, 'browser'>,
  { id, nombre, correo: para }: NotifiedPersona & { id: string },
  { cookie, userAgent }: Record<'cookie' | 'userAgent', string>,
): Promise<void> {
  if (isKnownBrowser(deps, cookie, id)) return
  const datos = { ...commonData(deps, nombre), dispositivo: deviceOf(userAgent) }
  await saveCorreo(query, deps, { tipo: 'entrada', para, datos, lifetimeMinutes: NOTICE_MINUTES })
}

/** Tells a person by mail that a passkey was added to the account, or removed. */
export async function notifyPasskey(
  query: Query,
  deps: NoticeDeps,
  { nombre, correo: para }: NotifiedPersona,
  change: { agregada: boolean; dispositivo: string },
): Promise<void> {
  const datos = { ...commonData(deps, nombre), ...change }
  await saveCorreo(query, deps, { tipo: 'passkey', para, datos, lifetimeMinutes: NOTICE_MINUTES })
}

/** Tells a person by mail what happened to the account's second factor. */
export async function notifySecondFactor(
  query: Query,
  deps: NoticeDeps,
  { nombre, correo: para }: NotifiedPersona,
  details: { que: FactorChange; quedan: number },
): Promise<void> {
  const datos = { ...commonData(deps, nombre), ...details }
  await saveCorreo(query, deps, { tipo: 'segundo_factor', para, datos, lifetimeMinutes: NOTICE_MINUTES })
}

/** Tells a person at the former address that the account has another one. The mail does not contain the new address. */
export async function notifyCorreoChange(
  query: Query,
  deps: NoticeDeps,
  { nombre, correo: para }: NotifiedPersona,
): Promise<void> {
  const datos = commonData(deps, nombre)
  await saveCorreo(query, deps, { tipo: 'cambio_de_correo', para, datos, lifetimeMinutes: NOTICE_MINUTES })
}
