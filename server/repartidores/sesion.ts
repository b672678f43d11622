import { hash, randomBytes } from 'node:crypto'
import type { Sesion } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'

/** A session that a token stands for, and whose it is. */
export interface FilaSesion {
  hash: Uint8Array
  repartidor_id: string
  repartidor: string
  nombre: string
  vence_en: Date
}

/** How long a session lasts, in milliseconds: a working day. */
export const DURACION = 12 * 3_600_000

/** A new session's token of 256 bits, known to the courier's browser alone; what is kept is its digest. */
export const nuevoToken = () => randomBytes(32).toString('base64url')
/** The digest under which a session is kept. */
export const hashDe = (token: string) => hash('sha256', token, 'buffer')

/** Finds a session, unless its code has been renewed or taken away: such sessions stay in the table, and are nobody's. */
const BUSCAR = sentencia(
  'sesiones.buscar',
  `select s.hash, s.repartidor_id, s.vence_en, r.repartidor, r.nombre from sesion_repartidor s
   join repartidor r on r.id = s.repartidor_id and r.version = s.version where s.hash = $1`,
)

/** The session that a token stands for, whether or not it has ended. */
export async function buscarSesion(db: Db, token: string): Promise<FilaSesion | undefined> {
  const [fila] = await db.consultar<FilaSesion>(BUSCAR, [hashDe(token)])
  return fila
}

/** A session as the contract has it. */
export const presentarSesion = ({
  repartidor,
  nombre,
  vence_en,
}: Omit<FilaSesion, 'hash' | 'repartidor_id'>): Sesion => ({
  repartidor,
  nombre,
  vence_en: vence_en.toISOString(),
})

const LIMPIAR = sentencia('sesiones.limpiar', 'delete from sesion_repartidor where vence_en <= $1')

/** Deletes the sessions that have ended. */
export async function limpiarSesiones({ db, reloj }: Pick<Deps, 'db' | 'reloj'>): Promise<void> {
  await db.consultar(LIMPIAR, [reloj()])
}
