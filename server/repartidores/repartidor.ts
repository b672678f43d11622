import { createHmac, hash, randomBytes } from 'node:crypto'
import { base32AlAzar, normalizarBase32 } from '../codigos/codigos.ts'
import type { repartidor, sesion_repartidor } from '../contrato/generado/prisma/client.ts'
import type { QuienReparte, Repartidor, RepartidorConCodigo, Sesion } from '../contrato/generado/tipos/index.ts'
import { type Consultar, type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema } from '../errores.ts'
import type { Secretos, Subclave } from '../secretos.ts'

/** A courier as the contract has him; never his code. */
export const presentarRepartidor = (fila: repartidor): Repartidor => ({
  repartidor: fila.repartidor,
  nombre: fila.nombre,
  telefono: fila.telefono,
  activo: fila.codigo_hash !== null,
  creado_en: fila.creado_en.toISOString(),
})

/** The part of a courier that is public. */
export const presentarQuien = ({ repartidor, nombre }: QuienReparte): QuienReparte => ({ repartidor, nombre })

/**
 * The length of a code, 50 bits: short enough for a thumb and unlike a guide's; it will do because sign-ins are limited
 * and its digest has a key.
 */
const LARGO = 10

const huella = ({ clave }: Subclave, codigo: string) =>
  new Uint8Array(createHmac('sha256', clave).update(codigo).digest())

/** Makes a courier's new code, and the digest that is kept of it. */
export function nuevoCodigo(secretos: Secretos) {
  const codigo = base32AlAzar(LARGO, randomBytes)
  return {
    codigo: `${codigo.slice(0, LARGO / 2)}-${codigo.slice(LARGO / 2)}`,
    codigo_hash: huella(secretos.presente('repartidores'), codigo),
  }
}

/** The digests as which a typed code may be kept, one by each master key, the present one's first. */
export const huellasDe = (secretos: Secretos, tecleado: string) =>
  secretos.todas('repartidores').map((subclave) => huella(subclave, normalizarBase32(tecleado)))

const EN_USO = sentencia<{ huellas: readonly Uint8Array[] }, { en_uso: boolean }>(
  'repartidores.enUso',
  'select exists (select from repartidor where codigo_hash = any(:huellas::bytea[])) as en_uso',
)

/** Whether some courier signs in with that code. */
export async function estaEnUso({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, codigo: string): Promise<boolean> {
  const [fila] = await db.consultar(EN_USO, { huellas: huellasDe(secretos, codigo) })
  return fila!.en_uso
}

/** The courier with that public identifier; null if there is none. */
export const buscarRepartidor = (db: Db, codigo: string): Promise<repartidor | null> =>
  db.prisma.repartidor.findUnique({ where: { repartidor: codigo } })

const QUIENES = sentencia<{ repartidores: readonly string[] }, QuienReparte>(
  'repartidores.quienes',
  'select repartidor, nombre from repartidor where repartidor = any(:repartidores::text[])',
)

/** The couriers with these public identifiers, by them, as they are called now. */
export async function leerQuienes(db: Db, codigos: readonly string[]): Promise<Map<string, QuienReparte>> {
  if (codigos.length === 0) return new Map()
  const filas = await db.consultar(QUIENES, { repartidores: [...new Set(codigos)] })
  return new Map(filas.map((fila) => [fila.repartidor, fila]))
}

const GUARDAR = sentencia<
  Pick<repartidor, 'id' | 'repartidor' | 'nombre' | 'telefono' | 'codigo_hash' | 'creado_en'>,
  repartidor
>(
  'repartidores.guardar',
  `insert into repartidor (id, repartidor, nombre, telefono, codigo_hash, creado_en)
   values (:id, :repartidor, :nombre, :telefono, :codigo_hash, :creado_en) returning *`,
)

const MARCAR = sentencia<{ huellas: readonly Uint8Array[] }>(
  'repartidores.marcarDemostracion',
  'update repartidor set demostracion = true where codigo_hash = any(:huellas::bytea[]) and not demostracion',
)

/** Marks the courier who signs in with that code as made for a first try, as long as the code isn't renewed. */
export const marcarCodigoDeDemostracion = ({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, codigo: string) =>
  db.consultar(MARCAR, { huellas: huellasDe(secretos, codigo) })

/** Creates a courier; the answer is the only place where his code ever stands. */
export async function guardarRepartidor(
  { db, nuevoId, secretos }: Pick<Deps, 'nuevoId' | 'secretos'> & { db: Pick<Db, 'consultar'> },
  { nombre, telefono = null }: { nombre: string; telefono?: string | null },
): Promise<RepartidorConCodigo> {
  const { codigo, codigo_hash } = nuevoCodigo(secretos)
  const nuevo = { ...nuevoId(), repartidor: `rep_${base32AlAzar(12)}`, nombre, telefono, codigo_hash }
  const [fila] = await db.consultar(GUARDAR, nuevo)
  return { ...presentarRepartidor(fila!), codigo }
}

const PONER_CODIGO = sentencia<Pick<repartidor, 'repartidor' | 'codigo_hash'>, repartidor>(
  'repartidores.ponerCodigo',
  `update repartidor set codigo_hash = :codigo_hash::bytea, version = version + 1, demostracion = false
   where repartidor = :repartidor returning *`,
)

/**
 * Puts another code, or none, in the place of a courier's; with the version that it raises, the sessions of the old one end
 * at once. @throws Problema 404
 */
export async function ponerCodigo(
  consultar: Consultar,
  de: Pick<repartidor, 'repartidor' | 'codigo_hash'>,
): Promise<repartidor> {
  const [fila] = await consultar(PONER_CODIGO, de)
  return fila ?? desconocido()
}

function desconocido(): never {
  throw new Problema('repartidor_desconocido', 'No hay ningún repartidor con ese identificador.')
}

/** A session that a token stands for, and whose it is. */
export type FilaSesion = Pick<sesion_repartidor, 'hash' | 'repartidor_id' | 'vence_en'> &
  Pick<repartidor, 'repartidor' | 'nombre' | 'demostracion'>

/** How long a session lasts, in milliseconds: a working day. */
export const DURACION_DE_SESION = 12 * 3_600_000

/** Makes a new session's token of 256 bits, which only the courier's browser knows. */
export const nuevoToken = () => randomBytes(32).toString('base64url')

/** Whether a text can be a session's token. */
export const esToken = (texto: string) => /^[\w-]{43}$/.test(texto)

/** The digest under which a session's token is kept. */
export const hashDeToken = (token: string) => hash('sha256', token, 'buffer')

/** SQL of sessions, but those whose code has been renewed or taken away: these stay in the table, and are nobody's. */
const DE_SESION = `select s.hash, s.repartidor_id, s.vence_en, r.repartidor, r.nombre, r.demostracion from sesion_repartidor s
   join repartidor r on r.id = s.repartidor_id and r.version = s.version`

const BUSCAR = sentencia<{ hash: Buffer }, FilaSesion>('sesiones.buscar', `${DE_SESION} where s.hash = :hash`)

/** A statement apart, as that of several keys. */
const BUSCAR_VARIAS = sentencia<{ hashes: readonly Buffer[] }, FilaSesion>(
  'sesiones.buscarVarias',
  `${DE_SESION} where s.hash = any(:hashes::bytea[])`,
)

/** The digest of a session's token, as a text. */
export const huellaDeToken = (token: string) => hashDeToken(token).toString('base64')

/** The sessions whose tokens have those digests, by digest, whether or not they have ended. */
export async function buscarSesiones(db: Db, huellas: readonly string[]): Promise<ReadonlyMap<string, FilaSesion>> {
  const hashes = huellas.map((huella) => Buffer.from(huella, 'base64'))
  const [hash] = hashes
  const filas =
    hashes.length === 1 ? await db.consultar(BUSCAR, { hash: hash! }) : await db.consultar(BUSCAR_VARIAS, { hashes })
  return new Map(filas.map((fila) => [Buffer.from(fila.hash).toString('base64'), fila]))
}

/** A session as the contract has it. */
export const presentarSesion = ({
  repartidor,
  nombre,
  vence_en,
}: Omit<FilaSesion, 'hash' | 'repartidor_id' | 'demostracion'>): Sesion => ({
  repartidor,
  nombre,
  vence_en: vence_en.toISOString(),
})

const LIMPIAR = sentencia<{ ahora: Date }>('sesiones.limpiar', 'delete from sesion_repartidor where vence_en <= :ahora')

/** Deletes the sessions that have ended. */
export async function limpiarSesiones({ db, reloj }: Pick<Deps, 'db' | 'reloj'>): Promise<void> {
  await db.consultar(LIMPIAR, { ahora: reloj() })
}
