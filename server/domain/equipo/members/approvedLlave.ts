import type { Identities } from '../../../api/http/identity.ts'
import { type Query, statement } from '../../../data/db.ts'
import type { operador } from '../../../generated/contract/prisma/client.ts'
import type { AuditEntry } from '../../bitacora/bitacora.ts'
import {
  expireLlave,
  isLlaveActive,
  llavePowers,
  overlapEnd,
  requireLlave,
  requireOwnAlcances,
  saveOperadorLlave,
} from '../../identities/llave.ts'
import { companyAlcances } from '../persona.ts'
import { closedAprobacion, type StoredAprobacionContent } from './aprobacion.ts'

const OPERADOR = statement<Pick<operador, 'operador'>, Pick<operador, 'id' | 'revocado_en'>>(
  'equipo.operador',
  'central',
  'select id, revocado_en from operador where operador = :operador',
)

/** Tells who has to decide if the person who decides lacks some of the scopes. */
export const APPROVE_REMEDY = 'Que decida quien los tenga todos.'

interface ApprovedLlave {
  now: Date
  identity: Pick<Identities['llaveDeOperacion'], 'alcances'>
  contenido: StoredAprobacionContent
}

/**
 * Stores an approved key, with the digest of the secret that the person who asked already has.
 * @throws Problema 403 if the person who decides lacks a scope; 409 if the operator was revoked or the key has expired
 */
export async function createApprovedLlave(
  query: Query,
  { now, identity, contenido }: ApprovedLlave,
): Promise<Omit<AuditEntry, 'accion'>> {
  const { operador, id, redes, ...llave } = contenido.llave!
  const alcances = companyAlcances(contenido.alcances)
  requireOwnAlcances(identity, alcances, APPROVE_REMEDY)
  const [row] = await query(OPERADOR, { operador })
  if (!row || row.revocado_en) throw closedAprobacion('El operador de la llave fue revocado.')
  const vence_en = llave.vence_en === null ? null : new Date(llave.vence_en)
  if (vence_en && vence_en <= now) throw closedAprobacion('La llave ya habría vencido.')
  const de = { operadorId: row.id, operador, alcances, vence_en, redes: [...redes] }
  const hash = new Uint8Array(Buffer.from(contenido.secreto!.hash, 'base64'))
  const newLlave = { id: id.replace(/^llave_/, ''), hash, llave: '' }
  const createdLlave = await saveOperadorLlave({ query }, now, de, newLlave)
  return { sobre: ['llave', createdLlave.id], despues: { operador, ...llavePowers(createdLlave) } }
}

/**
 * Stores an approved key that replaces another one. The replaced key stays valid for the hours of the overlap.
 * @throws Problema 403 if the person who decides lacks a scope; 409 if the replaced key has already ended
 */
export async function rotateApprovedLlave(query: Query, de: ApprovedLlave): Promise<Omit<AuditEntry, 'accion'>> {
  const { llave, secreto } = de.contenido
  const previousLlave = await requireLlave({ query }, llave!.rota!)
  if (!isLlaveActive(previousLlave, de.now)) throw closedAprobacion('La llave que se iba a rotar ya no vale.')
  await createApprovedLlave(query, de)
  const after = await expireLlave(query, previousLlave, overlapEnd(de.now, secreto!.solapamiento_horas))
  return {
    sobre: ['llave', llave!.rota!],
    antes: { vence_en: previousLlave.vence_en },
    despues: { ...after, nueva: llave!.id },
  }
}
