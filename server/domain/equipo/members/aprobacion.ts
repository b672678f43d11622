import { type Db, type Query, type RowOf, statement } from '../../../data/db.ts'
import type { aprobacion } from '../../../generated/contract/prisma/client.ts'
import type { Aprobacion, ContenidoDeAprobacion } from '../../../generated/contract/types/index.ts'
import { randomBase32 } from '../../../platform/codes/codes.ts'
import { Problema } from '../../../platform/errors.ts'
import { seal, unsealIfKnown } from '../../../platform/sealing.ts'
import { HOUR_MS } from '../../../platform/time/units.ts'
import type { Deps } from '../../deps.ts'

/** Hours within which a request for approval can be decided. */
export const APROBACION_HOURS = 72

/** Kind of an approval; it decides which change the approval makes. */
export type TipoDeAprobacion =
  | 'invitar_persona'
  | 'cambiar_membresia'
  | 'quitar_membresia'
  | 'eliminar_persona'
  | 'restablecer_segundo_factor'
  | 'crear_llave'
  | 'rotar_llave'

/**
 * Reports whether only a third person may decide: neither the one who asks nor the one concerned. For other kinds, the
 * person concerned decides if nobody else can.
 */
export const needsThirdPersona = (type: TipoDeAprobacion) => type === 'restablecer_segundo_factor'

/**
 * Stored content of an approval. For a key it also has the digest of the key's secret (base64), and the hours for which
 * the key that it replaces stays valid. For an invitation it has the code that accepting will need.
 */
export type StoredAprobacionContent = ContenidoDeAprobacion & {
  secreto?: { hash: string; solapamiento_horas: number }
  codigo?: string
}

/** Row of `aprobacion`. The state of an expired approval stays `pendiente`. */
export type AprobacionRow = RowOf<
  aprobacion,
  { tipo: TipoDeAprobacion; estado: 'pendiente' | 'aprobada' | 'rechazada' | 'retirada' }
>

const OPEN = statement<
  Pick<AprobacionRow, 'id' | 'aprobacion' | 'tipo' | 'pide' | 'creado_en' | 'vence_en'> & { contenido: Uint8Array },
  AprobacionRow
>(
  'aprobaciones.open',
  'central',
  `insert into aprobacion (id, aprobacion, tipo, contenido, estado, pide, creado_en, vence_en)
   values (:id, :aprobacion, :tipo, :contenido, 'pendiente', :pide, :creado_en, :vence_en) returning *`,
)

/**
 * Writes an approval in the transaction of the request that needs it.
 * @param pide public code of the person or operator who asks
 */
export async function openAprobacion(
  query: Query,
  { secretos, newId, clock }: Pick<Deps, 'secretos' | 'newId' | 'clock'>,
  { tipo, contenido, pide }: { tipo: TipoDeAprobacion; contenido: StoredAprobacionContent; pide: string },
): Promise<AprobacionRow> {
  const { id } = newId()
  const creado_en = clock()
  const [row] = await query(OPEN, {
    id,
    aprobacion: `apr_${randomBase32(12)}`,
    tipo,
    contenido: seal(secretos, 'aprobaciones', id, Buffer.from(JSON.stringify(contenido))),
    pide,
    creado_en,
    vence_en: new Date(creado_en.getTime() + APROBACION_HOURS * HOUR_MS),
  })
  return row!
}

/**
 * Decrypts the stored content of an approval; null if it was erased, or if its master key no longer exists.
 * @throws Error if the row was altered
 */
export function readAprobacionContent(
  secrets: Deps['secretos'],
  { id, contenido }: Pick<AprobacionRow, 'id' | 'contenido'>,
): StoredAprobacionContent | null {
  const plaintext = contenido && unsealIfKnown(secrets, 'aprobaciones', id, contenido)
  return plaintext ? JSON.parse(plaintext.toString()) : null
}

/** Returns the content without its secrets, for answers. */
const visible = ({ secreto: _secreto, codigo: _code, ...content }: StoredAprobacionContent): ContenidoDeAprobacion =>
  content

const toOptionalIso = (instant: Date | null) => instant?.toISOString() ?? null

/** Returns an approval in the contract's form. */
export function presentAprobacion(
  { secretos, clock }: Pick<Deps, 'secretos' | 'clock'>,
  row: AprobacionRow,
): Aprobacion {
  const { aprobacion, tipo, pide, decide, razon, creado_en, vence_en, decidido_en } = row
  const isExpired = row.estado === 'pendiente' && vence_en <= clock()
  const content = isExpired ? null : readAprobacionContent(secretos, row)
  return {
    aprobacion,
    tipo,
    estado: isExpired ? 'vencida' : row.estado,
    contenido: content && visible(content),
    pide,
    decide,
    razon,
    creado_en: creado_en.toISOString(),
    vence_en: vence_en.toISOString(),
    decidido_en: toOptionalIso(decidido_en),
  }
}

/**
 * Finds an approval by its public identifier.
 * @throws Problema 404
 */
export async function requireAprobacion(db: Pick<Db, 'prisma'>, code: string): Promise<AprobacionRow> {
  const row = /^apr_[0-9A-Z]{12}$/.test(code)
    ? await db.prisma.aprobacion.findUnique({ where: { aprobacion: code } })
    : null
  if (!row) throw unknownAprobacion()
  return row as AprobacionRow
}

/** Returns the 404 for an identifier that names no approval. */
export const unknownAprobacion = () =>
  new Problema('aprobacion_desconocida', 'No hay ninguna aprobación con ese identificador.')

/** Returns the 409 for an approval that can no longer be approved, refused or withdrawn. */
export const closedAprobacion = (reason: string) =>
  new Problema('aprobacion_cerrada', `${reason} Si todavía hace falta, pídala otra vez.`)

const PENDING = statement<{ now: Date }, AprobacionRow>(
  'aprobaciones.pending',
  'central',
  `select * from aprobacion where estado = 'pendiente' and vence_en > :now order by id limit 100`,
)

/** Returns the approvals that can be decided now, oldest first, at most 100. */
export const readPendingAprobaciones = ({ db, clock }: Pick<Deps, 'db' | 'clock'>) =>
  db.query(PENDING, { now: clock() })

const ERASE = statement<{ pide: string; ids: readonly string[] }>(
  'aprobaciones.erase',
  'central',
  'delete from aprobacion where pide = :pide or id = any(:ids::uuid[])',
)
const OPEN_APROBACIONES = statement<object, Pick<AprobacionRow, 'id' | 'contenido'>>(
  'aprobaciones.openAprobaciones',
  'central',
  'select id, contenido from aprobacion where contenido is not null',
)

/** Deletes the approvals that a person asked for, and those about the person or one of the person's mail addresses. */
export async function eraseAprobaciones(
  query: Query,
  secrets: Deps['secretos'],
  { persona, addresses }: { persona: string; addresses: readonly string[] },
): Promise<void> {
  const openAprobaciones = await query(OPEN_APROBACIONES)
  const ownAprobaciones = openAprobaciones.filter((row) => {
    const content = readAprobacionContent(secrets, row)
    return content && (content.persona === persona || addresses.includes(content.correo ?? ''))
  })
  await query(ERASE, { pide: persona, ids: ownAprobaciones.map(({ id }) => id) })
}
