import { inTransaction, statement } from '../../data/db.ts'
import type { passkey } from '../../generado/contrato/prisma/client.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import type { Handler } from '../operation.ts'
import { avisarPasskey } from './avisar.ts'
import { bloquearFactores, exigirQuePuedaAgregar, leerFactores } from './factores.ts'
import {
  demasiadasPasskeys,
  MAX_PASSKEYS,
  type PasskeyNueva,
  passkeyIncorrecta,
  presentarPasskey,
  verificarRegistro,
} from './passkey.ts'
import { completarSesion, dispositivoDe } from './sesion.ts'

/** Stores a passkey, unless the same credential is already stored for any person. */
const AGREGAR = statement<
  PasskeyNueva & Pick<passkey, 'id' | 'passkey' | 'persona_id' | 'dispositivo' | 'creado_en'>,
  { passkey: string }
>(
  'equipo.agregarPasskey',
  `insert into passkey (id, passkey, persona_id, credencial, clave, contador, sincronizada, dispositivo, creado_en)
   values (:id, :passkey, :persona_id, :credencial, :clave, :contador::bigint, :sincronizada, :dispositivo, :creado_en)
   on conflict (credencial) do nothing returning passkey`,
)

export const agregarPasskey: Handler<'agregarPasskey'> = async ({ body, cookie, agente, ...quien }, deps) => {
  const { db, bitacora, nuevoId, navegador, avisarTrabajo } = deps
  const { personaId, persona } = quien.identidad
  const nueva = await verificarRegistro(deps, { cookie, personaId }, body)
  if (!nueva) throw passkeyIncorrecta()
  const dispositivo = dispositivoDe(agente)
  const fila = { ...nueva, ...nuevoId(), passkey: `pas_${randomBase32(12)}`, persona_id: personaId, dispositivo }
  const agregada = await inTransaction(db.central, async (consultar) => {
    if (!(await bloquearFactores(consultar, personaId))) return false
    await exigirQuePuedaAgregar(consultar, quien.identidad.sesion, personaId)
    // The count is a separate statement after the lock, so that it includes passkeys that concurrent requests have just
    // added.
    const { passkeys } = await leerFactores(consultar, personaId)
    if (passkeys >= MAX_PASSKEYS) throw demasiadasPasskeys()
    const [guardada] = await consultar(AGREGAR, fila)
    if (!guardada) return false
    const sobre = ['persona', persona] as const
    await bitacora.anotar(consultar, quien, { accion: 'agregarPasskey', sobre, campos: ['passkeys'] })
    await avisarPasskey(consultar, deps, quien.identidad, { agregada: true, dispositivo })
    return { cookie: await completarSesion(consultar, deps, quien.identidad) }
  })
  if (!agregada) throw passkeyIncorrecta()
  avisarTrabajo()
  const headers = {
    'Set-Cookie': [navegador.ponerReto('', 0), ...(agregada.cookie === undefined ? [] : [agregada.cookie])],
  }
  return { status: 201, headers, body: presentarPasskey({ ...fila, usado_en: null }) }
}
