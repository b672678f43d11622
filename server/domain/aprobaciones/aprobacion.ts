import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { aprobacion } from '../../generado/contrato/prisma/client.ts'
import type { Aprobacion, ContenidoDeAprobacion } from '../../generado/contrato/tipos/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema } from '../../platform/errors.ts'
import { seal, unsealIfKnown } from '../../platform/sealing.ts'
import type { Deps } from '../deps.ts'

/** Hours within which a request for approval can be decided. */
export const HORAS_DE_APROBACION = 72

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
export const soloDecideUnaTercera = (tipo: TipoDeAprobacion) => tipo === 'restablecer_segundo_factor'

/**
 * Stored content of an approval. For a key it also has the digest of the key's secret (base64), and the hours for which
 * the key that it replaces stays valid. For an invitation it has the code that accepting will need.
 */
export type ContenidoGuardado = ContenidoDeAprobacion & {
  secreto?: { hash: string; solapamiento_horas: number }
  codigo?: string
}

/** Row of `aprobacion`. The state of an expired approval stays `pendiente`. */
export type FilaAprobacion = RowOf<
  aprobacion,
  { tipo: TipoDeAprobacion; estado: 'pendiente' | 'aprobada' | 'rechazada' | 'retirada' }
>

const ABRIR = statement<
  Pick<FilaAprobacion, 'id' | 'aprobacion' | 'tipo' | 'pide' | 'creado_en' | 'vence_en'> & { contenido: Uint8Array },
  FilaAprobacion
>(
  'aprobaciones.abrir',
  `insert into aprobacion (id, aprobacion, tipo, contenido, estado, pide, creado_en, vence_en)
   values (:id, :aprobacion, :tipo, :contenido, 'pendiente', :pide, :creado_en, :vence_en) returning *`,
)

/**
 * Writes an approval in the transaction of the request that needs it.
 * @param pide public code of the person or operator who asks
 */
export async function abrirAprobacion(
  consultar: Query,
  { secretos, nuevoId, reloj }: Pick<Deps, 'secretos' | 'nuevoId' | 'reloj'>,
  { tipo, contenido, pide }: { tipo: TipoDeAprobacion; contenido: ContenidoGuardado; pide: string },
): Promise<FilaAprobacion> {
  const { id } = nuevoId()
  const creado_en = reloj()
  const [fila] = await consultar(ABRIR, {
    id,
    aprobacion: `apr_${randomBase32(12)}`,
    tipo,
    contenido: seal(secretos, 'aprobaciones', id, Buffer.from(JSON.stringify(contenido))),
    pide,
    creado_en,
    vence_en: new Date(creado_en.getTime() + HORAS_DE_APROBACION * 3_600_000),
  })
  return fila!
}

/**
 * Decrypts the stored content of an approval; null if it was erased, or if its master key no longer exists.
 * @throws Error if the row was altered
 */
export function leerContenido(
  secretos: Deps['secretos'],
  { id, contenido }: Pick<FilaAprobacion, 'id' | 'contenido'>,
): ContenidoGuardado | null {
  const claro = contenido && unsealIfKnown(secretos, 'aprobaciones', id, contenido)
  return claro ? JSON.parse(claro.toString()) : null
}

/** Returns the content without its secrets, for answers. */
const visible = ({ secreto: _secreto, codigo: _codigo, ...contenido }: ContenidoGuardado): ContenidoDeAprobacion =>
  contenido

const OPCIONAL = (instante: Date | null) => instante?.toISOString() ?? null

/** Returns an approval in the contract's form. */
export function presentarAprobacion(
  { secretos, reloj }: Pick<Deps, 'secretos' | 'reloj'>,
  fila: FilaAprobacion,
): Aprobacion {
  const { aprobacion, tipo, pide, decide, razon, creado_en, vence_en, decidido_en } = fila
  const vencida = fila.estado === 'pendiente' && vence_en <= reloj()
  const contenido = vencida ? null : leerContenido(secretos, fila)
  return {
    aprobacion,
    tipo,
    estado: vencida ? 'vencida' : fila.estado,
    contenido: contenido && visible(contenido),
    pide,
    decide,
    razon,
    creado_en: creado_en.toISOString(),
    vence_en: vence_en.toISOString(),
    decidido_en: OPCIONAL(decidido_en),
  }
}

/**
 * Finds an approval by its public identifier.
 * @throws Problema 404
 */
export async function exigirAprobacion(db: Pick<Db, 'prisma'>, codigo: string): Promise<FilaAprobacion> {
  const fila = /^apr_[0-9A-Z]{12}$/.test(codigo)
    ? await db.prisma.aprobacion.findUnique({ where: { aprobacion: codigo } })
    : null
  if (!fila) throw aprobacionDesconocida()
  return fila as FilaAprobacion
}

/** Returns the 404 for an identifier that names no approval. */
export const aprobacionDesconocida = () =>
  new Problema('aprobacion_desconocida', 'No hay ninguna aprobación con ese identificador.')

/** Returns the 409 for an approval that can no longer be approved, refused or withdrawn. */
export const aprobacionCerrada = (porQue: string) =>
  new Problema('aprobacion_cerrada', `${porQue} Si todavía hace falta, pídala otra vez.`)

const PENDIENTES = statement<{ ahora: Date }, FilaAprobacion>(
  'aprobaciones.pendientes',
  `select * from aprobacion where estado = 'pendiente' and vence_en > :ahora order by id limit 100`,
)

/** Returns the approvals that can be decided now, oldest first, at most 100. */
export const leerPendientes = ({ db, reloj }: Pick<Deps, 'db' | 'reloj'>) =>
  db.consultar(PENDIENTES, { ahora: reloj() })

const OLVIDAR = statement<{ pide: string; estas: readonly string[] }>(
  'aprobaciones.olvidar',
  'delete from aprobacion where pide = :pide or id = any(:estas::uuid[])',
)
const ABIERTAS = statement<object, Pick<FilaAprobacion, 'id' | 'contenido'>>(
  'aprobaciones.abiertas',
  'select id, contenido from aprobacion where contenido is not null',
)

/** Deletes the approvals that a person asked for, and those about the person's mail address. */
export async function olvidarAprobaciones(
  consultar: Query,
  secretos: Deps['secretos'],
  { persona, correo }: { persona: string; correo: string },
): Promise<void> {
  const abiertas = await consultar(ABIERTAS)
  const suyas = abiertas.filter((fila) => leerContenido(secretos, fila)?.correo === correo)
  await consultar(OLVIDAR, { pide: persona, estas: suyas.map(({ id }) => id) })
}
