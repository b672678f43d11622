import { acceptsDemo, DEMO_ONLY, SESSION_CHALLENGE } from '../../api/http/authenticate.ts'
import { siteOf } from '../../api/http/network.ts'
import { inTransaction, statement } from '../../data/db.ts'
import { newToken, tokenHash } from '../../platform/codes/token.ts'
import { Problema } from '../../platform/errors.ts'
import {
  isCodeInUse,
  presentRepartidorSesion,
  repartidorCodeDigests,
  SESION_DURATION_MS,
  type SesionRow,
} from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { readDevice, sealDevice } from './device.ts'

/** Maximum phones on which a courier is signed in. Another sign-in ends the session that was opened longest ago. */
const MAX_TELEFONOS = 10

/**
 * Opens a session with the code's version that this statement reads. If the code is renewed at the same time, the
 * session is invalid from the start. A code digest from an older master key is replaced by one from the current key.
 */
const OPEN = statement<
  {
    huellas: readonly Uint8Array[]
    accepts_demo: boolean
    codigo_hash: Uint8Array
    hash: Uint8Array
    now: Date
    vence_en: Date
  },
  SesionRow
>(
  'sesiones.open',
  'central',
  `with r as (
     update repartidor set codigo_hash = :codigo_hash
     where codigo_hash = any(:huellas::bytea[]) and (:accepts_demo::boolean or not demostracion)
     returning id, repartidor, nombre, version, demostracion
   ), s as (
     insert into sesion_repartidor (hash, repartidor_id, version, creado_en, vence_en)
     select :hash, id, version, :now::timestamptz, :vence_en::timestamptz from r returning hash, repartidor_id, vence_en
   ), v as (
     delete from sesion_repartidor where hash in (
       select o.hash from sesion_repartidor o join r on r.id = o.repartidor_id
       order by o.creado_en desc offset ${MAX_TELEFONOS - 1})
   )
   select s.*, r.repartidor, r.nombre, r.demostracion from s join r on r.id = s.repartidor_id`,
)

export const abrirSesion: Handler<'abrirSesion'> = async (
  { body, cookie, red, isForwarded, ...caller },
  { db, clock, secretos, browser, signInLimit, bitacora, settings },
) => {
  // A known phone has a limit of its own, so strangers behind the same address cannot lock it out.
  const knownRepartidor = readDevice(secretos, browser.readDevice(cookie))
  const de = knownRepartidor === undefined ? red : `dispositivo ${knownRepartidor}`
  // Attempts are limited before the code is checked. Otherwise a limited attempt would still tell a good guess from a
  // bad one.
  const delaySeconds = signInLimit.take(de)
  if (delaySeconds > 0) {
    await bitacora.refused(
      siteOf(de) ?? de,
      { ...caller, red },
      { accion: 'abrirSesion', despues: { rechazada: true } },
    )
    const headers = { 'Retry-After': String(delaySeconds) }
    throw new Problema('demasiadas_solicitudes', `Demasiados intentos. Espere ${delaySeconds} segundos y repita.`, {
      headers,
    })
  }
  const huellas = repartidorCodeDigests(secretos, body.codigo)
  const token = newToken()
  const now = clock()
  const vence_en = new Date(now.getTime() + SESION_DURATION_MS)
  const accepts_demo = acceptsDemo(settings, isForwarded())
  const row = await inTransaction(db, async (query) => {
    const newSesion = { huellas, codigo_hash: huellas[0]!, hash: tokenHash(token), now, vence_en }
    const [abierta] = await query(OPEN, { ...newSesion, accepts_demo })
    if (!abierta) return undefined
    await bitacora.record(query, { ...caller, red, identity: abierta }, { accion: 'abrirSesion' })
    return abierta
  })
  if (!row) {
    const isDemo = !accepts_demo && (await isCodeInUse({ db, secretos }, body.codigo))
    const mensaje = isDemo ? `El código ${DEMO_ONLY}. Pida` : 'El código no vale. Revíselo o pida'
    throw new Problema('codigo_incorrecto', `${mensaje} otro a la central.`, { headers: SESSION_CHALLENGE })
  }
  signInLimit.giveBack(de)
  const sesion = browser.setSesion(token, SESION_DURATION_MS / 1_000)
  const device = browser.setDevice(sealDevice(secretos, row.repartidor_id))
  return { status: 201, headers: { 'Set-Cookie': [sesion, device] }, body: presentRepartidorSesion(row) }
}
