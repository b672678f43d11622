import type { Query } from '../../data/db.ts'
import type { AlcanceDeOperacion, AprobacionDeLlave } from '../../generated/contract/types/index.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import { type ApprovalRequestDeps, type AprobacionRequester, requestAprobacion } from '../equipo/members/approvable.ts'
import { newLlave, toPublicLlaveId } from '../identities/llave.ts'

/** Request of a person for an operator's key. */
interface RequestedLlave {
  operador: { operador: string; nombre: string }
  alcances: readonly AlcanceDeOperacion[]
  vence_en: Date | null
  redes: string[]
  /** Public identifier of the key that the new one replaces, and the hours for which both are valid. */
  rotation?: { rota: string; solapamiento_horas: number }
}

/**
 * Opens an approval if a person asks for an operator's key with the scope `administrar`, and another person has that
 * scope, too. The person gets the whole key at once. Its row is stored only when the request is approved, so the key is
 * not valid until then.
 * @returns undefined if no approval is needed
 */
export async function requestLlave(
  query: Query,
  deps: ApprovalRequestDeps,
  actor: Actor & { identity: AprobacionRequester },
  { operador: { operador, nombre }, alcances, vence_en, redes, rotation }: RequestedLlave,
): Promise<AprobacionDeLlave | undefined> {
  if (!alcances.includes('administrar')) return undefined
  const { id, hash, llave } = newLlave('oper')
  const { rota = null, solapamiento_horas = 0 } = rotation ?? {}
  const aprobacion = await requestAprobacion(query, deps, actor, {
    accion: rotation ? 'rotarLlave' : 'crearLlaveDeOperador',
    tipo: rotation ? 'rotar_llave' : 'crear_llave',
    contenido: {
      correo: null,
      nombre,
      persona: null,
      membresia: null,
      alcances: [...alcances],
      llave: { id: toPublicLlaveId(id), operador, redes, vence_en: vence_en?.toISOString() ?? null, rota },
      secreto: { hash: Buffer.from(hash).toString('base64'), solapamiento_horas },
    },
  })
  return aprobacion && { ...aprobacion, llave }
}
