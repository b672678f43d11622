import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Identities } from '../../api/http/identity.ts'
import { normalizeRange, type RangeFault } from '../../api/http/network.ts'
import { pickColumns } from '../../data/columns.ts'
import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { llave } from '../../generado/contrato/prisma/client.ts'
import type {
  Alcance,
  AlcanceDeOperacion,
  Llave,
  LlaveCreada,
  LlaveCualquiera,
  LlaveCualquieraCreada,
  LlaveDeOperador,
  LlaveDeOperadorCreada,
  Modo,
  Pais,
} from '../../generado/contrato/tipos/index.ts'
import { ALCANCES, ALCANCES_DE_OPERACION } from '../../generado/contrato/vocabulario.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readInstant } from '../../platform/time/instant.ts'
import {
  CAMPOS_DE_LLAVE,
  DECIBLES_DE_LLAVE,
  HEREDADOS_DE_LLAVE,
  type HeredadoDeLlave,
  type MostradoDeLlave,
  NUEVOS_DE_LLAVE,
  type NuevoDeLlave,
} from './campos.ts'

/** Kind of a key: `oper` for an operator's key, else the mode of a merchant's key. */
export type TipoDeLlave = Modo | 'oper'

/**
 * Columns of a key's row that depend on the owner. `DeComercio`: the owner is a merchant. `DeOperador`: the owner is an
 * operator.
 */
interface DeComercio {
  tipo: Modo
  comercio_id: string
  operador_id: null
  alcances: Alcance[]
}
interface DeOperador {
  tipo: 'oper'
  comercio_id: null
  operador_id: string
  alcances: AlcanceDeOperacion[]
}

/** Row of `llave`, with the public identifier of the key's owner: com_… here, op_… in `FilaDeOperador`. */
type FilaDeComercio = RowOf<llave, DeComercio> & { dueno: string }
type FilaDeOperador = RowOf<llave, DeOperador> & { dueno: string }
/** Row of `llave`, with the public identifier of the key's owner (com_… or op_…). */
export type FilaLlave = FilaDeComercio | FilaDeOperador

/** Row of a key with the columns of its owner that requests need. The settings of an operator are null. */
export type FilaConDueno = FilaLlave & {
  nombre: string
  pais: Pais | null
  estricto: boolean | null
  ritmo_solicitudes: number | null
  ritmo_guias: number | null
}

const ID = 12
const SECRETO = 52
const SUMA = 6
const FORMA = new RegExp(
  `^guia_(live|test|oper)_([0-9A-HJKMNP-TV-Z]{${ID}})([0-9A-HJKMNP-TV-Z]{${SECRETO}})([0-9A-HJKMNP-TV-Z]{${SUMA}})$`,
)

/**
 * Returns the checksum of a key's text. The checksum shows, without a database query, whether a key was copied whole.
 */
export const suma = (texto: string) => randomBase32(SUMA, (bytes) => hash('sha256', texto, 'buffer').subarray(0, bytes))

const hashDe = (secreto: string) => hash('sha256', secreto, 'buffer')

/** Id, hash and text of a new key. */
interface LlaveNueva {
  id: string
  hash: Uint8Array<ArrayBuffer>
  llave: string
}

/**
 * Creates a new key: `guia_<tipo>_` + id (12) + secret (52 characters, 260 bits) + checksum (6). Also returns the hash
 * of the secret; the secret itself is not stored.
 */
export function nuevaLlave(tipo: TipoDeLlave): LlaveNueva {
  const id = randomBase32(ID, randomBytes)
  const secreto = randomBase32(SECRETO, randomBytes)
  const cuerpo = `guia_${tipo}_${id}${secreto}`
  return { id, hash: new Uint8Array(hashDe(secreto)), llave: cuerpo + suma(cuerpo) }
}

/** Parts of a presented key. */
interface Presentada {
  tipo: TipoDeLlave
  id: string
  secreto: string
}

/** Splits a presented key into its parts; undefined if the text cannot be a key. */
export function leerLlave(texto: string): Presentada | undefined {
  const [, tipo, id, secreto, final] = FORMA.exec(texto) ?? []
  if (!tipo || !id || !secreto || suma(texto.slice(0, -SUMA)) !== final) return undefined
  return { tipo: tipo as TipoDeLlave, id, secreto }
}

/** Reports whether a secret belongs to a key. Compares in constant time. */
const esSuyo = (fila: Pick<FilaLlave, 'hash'>, secreto: string) => timingSafeEqual(hashDe(secreto), fila.hash)

/** Reports whether a key is valid now, that is, neither revoked nor expired. */
export const estaVigente = ({ vence_en, revocado_en }: Pick<FilaLlave, 'vence_en' | 'revocado_en'>, ahora: Date) =>
  revocado_en === null && (vence_en === null || vence_en > ahora)

/**
 * SQL that selects keys with the columns of their owners. The revocation of an operator also revokes the operator's
 * keys.
 */
const CON_DUENO = `select ${Object.keys(CAMPOS_DE_LLAVE)
  .map((nombre) => (nombre === 'revocado_en' ? 'coalesce(l.revocado_en, o.revocado_en) as revocado_en' : `l.${nombre}`))
  .join(', ')},
     coalesce(c.comercio, o.operador) as dueno, coalesce(c.nombre, o.nombre) as nombre, c.pais, c.estricto,
     c.ritmo_solicitudes, c.ritmo_guias
   from llave l
   left join comercio c on c.id = l.comercio_id left join operador o on o.id = l.operador_id`

const BUSCAR = statement<Pick<FilaLlave, 'id'>, FilaConDueno>('llaves.buscar', `${CON_DUENO} where l.id = :id`)

/**
 * Separate from `BUSCAR`, because PostgreSQL plans the statement anew for each list of ids. A single key avoids that
 * cost.
 */
const BUSCAR_VARIAS = statement<{ ids: readonly string[] }, FilaConDueno>(
  'llaves.buscarVarias',
  `${CON_DUENO} where l.id = any(:ids::text[])`,
)

/**
 * Returns the key with that id and its owner, even if the key is no longer valid; undefined if the key does not exist.
 */
export async function buscarLlave(db: Pick<Db, 'consultar'>, id: string): Promise<FilaConDueno | undefined> {
  const [fila] = await db.consultar(BUSCAR, { id })
  return fila
}

/** Returns the keys with those ids and their owners, by id, even if a key is no longer valid. */
export async function buscarLlaves(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, FilaConDueno>> {
  const [id] = ids
  const filas = ids.length === 1 ? await db.consultar(BUSCAR, { id: id! }) : await db.consultar(BUSCAR_VARIAS, { ids })
  return new Map(filas.map((fila) => [fila.id, fila]))
}

/** Reports whether a presented key has the kind and the secret of a row. */
export const esLaPresentada = (fila: Pick<FilaLlave, 'tipo' | 'hash'>, { tipo, secreto }: Presentada): boolean =>
  fila.tipo === tipo && esSuyo(fila, secreto)

const MARCAR = statement<{ ids: readonly string[] }>(
  'llaves.marcarDemostracion',
  'update llave set demostracion = true where id = any(:ids::text[]) and not demostracion',
)

/** Marks keys as demonstration keys; texts that are not keys are skipped. */
export const marcarLlavesDeDemostracion = (db: Pick<Db, 'consultar'>, textos: readonly string[]) =>
  db.consultar(MARCAR, { ids: textos.flatMap((texto) => leerLlave(texto)?.id ?? []) })

const PREFIJO = 'llave_'
const PUBLICO = new RegExp(`^${PREFIJO}([0-9A-Z]{${ID}})$`)

const SEMANA = 7 * 86_400_000

/** Reports whether a valid key expires within seven days. */
export const vencePronto = (vence_en: Date | null, ahora: Date) =>
  vence_en !== null && vence_en.getTime() - ahora.getTime() <= SEMANA

/**
 * Returns the key, a merchant's or an operator's, that a public id (`llave_…`) names.
 * @throws Problema 404
 */
export async function exigirLlave(db: Pick<Db, 'consultar'>, publico: string): Promise<FilaConDueno> {
  const [, id] = PUBLICO.exec(publico) ?? []
  const fila = id ? await buscarLlave(db, id) : undefined
  if (!fila) throw new Problema('llave_desconocida', 'No hay ninguna llave con ese identificador.')
  return fila
}

const presentarComun = (fila: Pick<llave, MostradoDeLlave>) => ({
  redes: fila.redes,
  creado_en: fila.creado_en.toISOString(),
  vence_en: fila.vence_en?.toISOString() ?? null,
  revocado_en: fila.revocado_en?.toISOString() ?? null,
  usado_en: fila.usado_en?.toISOString() ?? null,
})

/** Returns a merchant's key in the form of the contract, without its hash. */
export const presentarLlave = (fila: Pick<FilaDeComercio, MostradoDeLlave | 'dueno'>): Llave => ({
  id: PREFIJO + fila.id,
  comercio: fila.dueno,
  modo: fila.tipo,
  alcances: fila.alcances,
  ...presentarComun(fila),
})

/** Returns an operator's key in the form of the contract, without its hash. */
export const presentarLlaveDeOperador = (fila: Pick<FilaDeOperador, MostradoDeLlave | 'dueno'>): LlaveDeOperador => ({
  id: PREFIJO + fila.id,
  operador: fila.dueno,
  alcances: fila.alcances,
  ...presentarComun(fila),
})

/** Returns a key of either kind in the form of the contract, without its hash. */
export const presentarCualquiera = (fila: FilaLlave): LlaveCualquiera =>
  fila.tipo === 'oper' ? presentarLlaveDeOperador(fila) : presentarLlave(fila)

/** Options of a new key. The defaults are all scopes, no expiry and any network. */
interface Opciones<A> {
  alcances?: readonly A[] | undefined
  vence_en?: Date | null
  /** Networks in canonical form; empty: any network. */
  redes?: string[]
}

const GUARDAR = statement<Pick<FilaLlave, NuevoDeLlave>>(
  'llaves.guardar',
  `insert into llave (${NUEVOS_DE_LLAVE.join(', ')}) values (${NUEVOS_DE_LLAVE.map((nombre) => `:${nombre}`).join(', ')})`,
  { alcance: 'todo' },
)

/**
 * Inserts a new key.
 * @returns the row, and the whole key, which is stored nowhere
 */
async function guardar<F extends FilaLlave>(
  { consultar }: Pick<Db, 'consultar'>,
  creado_en: Date,
  de: Pick<F, HeredadoDeLlave | 'dueno'>,
  { llave, ...nueva }: LlaveNueva = nuevaLlave(de.tipo),
) {
  const fila = { ...de, ...nueva, creado_en, revocado_en: null, usado_en: null, demostracion: false } as unknown as F
  await consultar(GUARDAR, fila)
  return { fila, llave }
}

/** Creates a merchant's key. The whole key appears only in this result. */
export async function guardarLlave(
  db: Pick<Db, 'consultar'>,
  ahora: Date,
  de: Opciones<Alcance> & { comercioId: string; comercio: string; modo: Modo },
): Promise<LlaveCreada> {
  const { fila, llave } = await guardar<FilaDeComercio>(db, ahora, {
    tipo: de.modo,
    comercio_id: de.comercioId,
    operador_id: null,
    dueno: de.comercio,
    alcances: [...(de.alcances ?? ALCANCES)],
    vence_en: de.vence_en ?? null,
    redes: de.redes ?? [],
  })
  return { ...presentarLlave(fila), llave }
}

/**
 * Creates an operator's key. The whole key appears only in this result.
 * @param nueva key that was made before; by default a new one
 */
export async function guardarLlaveDeOperador(
  db: Pick<Db, 'consultar'>,
  ahora: Date,
  de: Opciones<AlcanceDeOperacion> & { operadorId: string; operador: string },
  nueva?: LlaveNueva,
): Promise<LlaveDeOperadorCreada> {
  const suya = {
    tipo: 'oper' as const,
    comercio_id: null,
    operador_id: de.operadorId,
    dueno: de.operador,
    alcances: [...(de.alcances ?? ALCANCES_DE_OPERACION)],
    vence_en: de.vence_en ?? null,
    redes: de.redes ?? [],
  }
  const { fila, llave } = await guardar<FilaDeOperador>(db, ahora, suya, nueva)
  return { ...presentarLlaveDeOperador(fila), llave }
}

/** Creates a key with the owner, scopes, networks and expiry of an existing key. */
export async function guardarOtra(
  db: Pick<Db, 'consultar'>,
  ahora: Date,
  vieja: FilaLlave,
): Promise<LlaveCualquieraCreada> {
  const de = pickColumns(vieja, [...HEREDADOS_DE_LLAVE, 'dueno'])
  const { fila, llave } = await guardar<FilaLlave>(db, ahora, de)
  return { ...presentarCualquiera(fila), llave }
}

const VENCER = statement<{ id: string; vence_en: Date }>(
  'llaves.vencer',
  'update llave set vence_en = :vence_en where id = :id and (vence_en is null or vence_en > :vence_en)',
)

/** Lets a rotated key end after the overlap, unless it ends before. */
export async function vencerLlave(
  consultar: Query,
  { id, vence_en }: Pick<FilaLlave, 'id' | 'vence_en'>,
  fin: Date,
): Promise<{ vence_en: Date }> {
  await consultar(VENCER, { id, vence_en: fin })
  return { vence_en: vence_en && vence_en < fin ? vence_en : fin }
}

/** Returns the end of the overlap of a rotated key and its successor. */
export const finDelSolapamiento = (ahora: Date, horas: number) => new Date(ahora.getTime() + horas * 3_600_000)

/** Returns the public identifier of a key. */
export const llavePublica = (id: string) => PREFIJO + id

/** Returns the merchant and mode to which an audit line about a key belongs; empty for an operator's key. */
export const enBitacora = ({ tipo, comercio_id }: Pick<FilaLlave, 'tipo' | 'comercio_id'>) =>
  tipo === 'oper' || comercio_id === null ? {} : { de: { comercio_id, modo: tipo } }
/** Returns the values of an audit line that say what a key may do. */
export const loQuePuede = (llave: LlaveCualquiera) => pickColumns(llave, DECIBLES_DE_LLAVE)

/** Returns Prisma's conditions for the keys of an owner, newest first, after a position. */
export const masRecientes = (
  de: { comercio_id: string } | { operador_id: string },
  despues: readonly (string | number)[] | undefined,
) => {
  const [creado_en, id] = despues ? [new Date(despues[0]!), String(despues[1])] : []
  return {
    where: despues
      ? { ...de, OR: [{ creado_en: { lt: creado_en! } }, { creado_en: creado_en!, id: { lt: id! } }] }
      : de,
    orderBy: [{ creado_en: 'desc' as const }, { id: 'desc' as const }],
  }
}
/** Returns the position of a key in the list of {@link masRecientes}. */
export const posicionDeLlave = ({ creado_en, id }: Pick<llave, 'creado_en' | 'id'>) => [creado_en.getTime(), id]

/**
 * Parses the expiry of a new key from the request; null if the key never expires.
 * @throws Problema 422 if the expiry is not in the future
 */
export function leerVencimiento(vence_en: string | undefined, ahora: Date): Date | null {
  const fin = vence_en === undefined ? null : readInstant(vence_en)!
  if (!fin || fin > ahora) return fin
  throw problemOfFaults('validacion', [
    { campo: '/vence_en', codigo: 'fuera_de_rango', mensaje: 'debe estar en el futuro; omítalo si la llave no vence' },
  ])
}

/**
 * Returns the networks of a new key in canonical form, each once.
 * @throws Problema 422 that names the texts that are not networks
 */
export const leerRedes = (redes: readonly string[] = []): string[] => {
  const leidas = redes.map(normalizeRange)
  const fallas = leidas.flatMap((leida, i) => ('falla' in leida ? [fallaDeRed(i, leida.falla)] : []))
  if (fallas.length > 0) throw problemOfFaults('validacion', fallas)
  return [...new Set(leidas.flatMap((leida) => ('red' in leida ? [leida.red] : [])))]
}

const MENSAJES: Readonly<Record<RangeFault, string>> = {
  no_es_red: 'no es una red: escriba una como 203.0.113.0/24 o 2001:db8::/48, o una dirección',
  prefijo_de_ipv4:
    'es una dirección IPv4 escrita como IPv6 y su prefijo debe ser de 96 a 128: escriba la red como IPv4, por ejemplo 203.0.113.0/24',
}
const fallaDeRed = (i: number, falla: RangeFault) => ({
  campo: `/redes/${i}`,
  codigo: 'formato_invalido' as const,
  mensaje: MENSAJES[falla],
})

/**
 * Requires that the caller's key has all scopes of the key whose text the caller is about to get. Otherwise the caller
 * could do more with that key than with its own. The console has all scopes.
 * @throws Problema 403 that names the missing scopes
 */
export function exigirAlcancesPropios(
  { alcances }: Pick<Identities['llaveDeOperacion'], 'alcances'>,
  pedidos: readonly AlcanceDeOperacion[],
  remedio: string,
): void {
  const faltan = pedidos.filter((pedido) => !alcances.includes(pedido))
  if (faltan.length === 0) return
  const cuales = `${faltan.length === 1 ? 'el alcance' : 'los alcances'} ${LISTA.format(faltan)}`
  throw new Problema('alcance_insuficiente', `Esta llave no tiene ${cuales} y no puede darlos a otra. ${remedio}`)
}
const LISTA = new Intl.ListFormat('es')

/**
 * SQL of the common table expression `administran`: the valid keys with scope `administrar`. It locks the keys in a
 * fixed order, so that of two concurrent revocations the second sees the first. A statement that revokes starts with
 * it. `duradera` is true for keys that neither expire nor are bound to networks.
 */
export const ADMINISTRAN = `administran as (
  select l.id, l.operador_id, l.vence_en is null and l.redes = '{}' as duradera from llave l join operador o on o.id = l.operador_id
  where 'administrar' = any(l.alcances) and l.revocado_en is null and o.revocado_en is null
    and (l.vence_en is null or l.vence_en > :ahora)
  order by l.id for update)`

/**
 * SQL condition that a revocation leaves enough keys with scope `administrar`. At least one must remain. If a revoked
 * key neither expires nor is bound to networks, a remaining key must have the same properties. Otherwise a later expiry
 * or a move to another office could lock out all operators, which a revocation must not do.
 * @param estas SQL condition for the revoked keys
 */
export const quedaOtra = (estas: string) => `(not exists (select from administran where ${estas})
  or exists (select from administran where not (${estas})
    and (duradera or not exists (select from administran where ${estas} and duradera))))`

/** Returns the problem for a request that would lock all operators out of their API. */
export const ultimaLlave = () =>
  new Problema(
    'ultima_llave',
    'Es la última llave vigente con el alcance administrar, o la última de ellas que ni vence ni está limitada a unas redes. Cree antes otra igual.',
  )
