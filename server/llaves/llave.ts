import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { base32AlAzar } from '../codigos/codigos.ts'
import type { llave } from '../contrato/generado/prisma/client.ts'
import type { Alcance, Llave, Modo, Pais } from '../contrato/generado/tipos/index.ts'
import { ALCANCES } from '../contrato/generado/vocabulario.ts'
import { type Db, type Fila, sentencia } from '../db.ts'
import { Problema } from '../errores.ts'

/** The kind of a key: `oper` keys are operators', the others a merchant's, of that mode. */
export type TipoDeLlave = Modo | 'oper'

/** A row of `llave`, and the public identifier (com_… or op_…) of whoever owns the key. */
export type FilaLlave = Fila<llave, { tipo: TipoDeLlave; alcances: Alcance[] }> & { dueno: string }

/** A key's row with what is needed of its owner; an operator has no settings. */
type FilaConDueno = FilaLlave & {
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

/** Says whether a key was copied whole, before anybody asks the database. */
export const suma = (texto: string) => base32AlAzar(SUMA, (bytes) => hash('sha256', texto, 'buffer').subarray(0, bytes))

const hashDe = (secreto: string) => hash('sha256', secreto, 'buffer')

/**
 * Makes a new key, `guia_<tipo>_` + id (12) + secret (52 characters, 260 bits) + checksum (6), and the hash that is
 * kept of it.
 */
export function nuevaLlave(tipo: TipoDeLlave): { id: string; hash: Uint8Array<ArrayBuffer>; llave: string } {
  const id = base32AlAzar(ID, randomBytes)
  const secreto = base32AlAzar(SECRETO, randomBytes)
  const cuerpo = `guia_${tipo}_${id}${secreto}`
  return { id, hash: new Uint8Array(hashDe(secreto)), llave: cuerpo + suma(cuerpo) }
}

/** Takes a presented key apart; undefined if it can't be a key. */
export function leerLlave(texto: string): { tipo: TipoDeLlave; id: string; secreto: string } | undefined {
  const [, tipo, id, secreto, final] = FORMA.exec(texto) ?? []
  if (!tipo || !id || !secreto || suma(texto.slice(0, -SUMA)) !== final) return undefined
  return { tipo: tipo as TipoDeLlave, id, secreto }
}

/** Whether a secret is a key's, compared in constant time. */
const esSuyo = (fila: Pick<FilaLlave, 'hash'>, secreto: string) => timingSafeEqual(hashDe(secreto), fila.hash)

/** Whether a key works now: it was neither revoked nor has it expired. */
export const estaVigente = ({ vence_en, revocado_en }: Pick<FilaLlave, 'vence_en' | 'revocado_en'>, ahora: Date) =>
  revocado_en === null && (vence_en === null || vence_en > ahora)

const BUSCAR = sentencia<Pick<FilaLlave, 'id'>, FilaConDueno>(
  'llaves.buscar',
  `select l.*, coalesce(c.comercio, o.operador) as dueno, coalesce(c.nombre, o.nombre) as nombre, c.pais, c.estricto,
     c.ritmo_solicitudes, c.ritmo_guias
   from llave l
   left join comercio c on c.id = l.comercio_id left join operador o on o.id = l.operador_id where l.id = :id`,
)

/** The key with that id, whether or not it still works, and whose it is. */
export async function buscarLlave(db: Db, id: string): Promise<FilaConDueno | undefined> {
  const [fila] = await db.consultar(BUSCAR, { id })
  return fila
}

/**
 * The key that a presented text is, whether or not it still works.
 * @returns undefined, without asking the database, if the text can't be a key
 */
export function buscarPorTexto(db: Db, texto: string): Promise<FilaConDueno | undefined> | undefined {
  const partes = leerLlave(texto)
  return (
    partes &&
    buscarLlave(db, partes.id).then((fila) =>
      fila && fila.tipo === partes.tipo && esSuyo(fila, partes.secreto) ? fila : undefined,
    )
  )
}

const PREFIJO = 'llave_'
const PUBLICO = new RegExp(`^${PREFIJO}([0-9A-Z]{${ID}})$`)

/** The merchant's key that a public id (`llave_…`) names. @throws Problema 404 */
export async function exigirLlave(db: Db, publico: string): Promise<FilaLlave & { tipo: Modo; comercio_id: string }> {
  const [, id] = PUBLICO.exec(publico) ?? []
  const fila = id ? await buscarLlave(db, id) : undefined
  if (!fila || !esDeComercio(fila))
    throw new Problema('llave_desconocida', 'No hay ninguna llave con ese identificador.')
  return fila
}

const esDeComercio = (fila: FilaLlave): fila is FilaLlave & { tipo: Modo; comercio_id: string } =>
  fila.comercio_id !== null && fila.tipo !== 'oper'

/** A merchant's key as the contract has it, without its hash. */
export const presentarLlave = (fila: Omit<FilaLlave, 'hash'> & { tipo: Modo }): Llave => ({
  id: PREFIJO + fila.id,
  comercio: fila.dueno,
  modo: fila.tipo,
  alcances: fila.alcances,
  creado_en: fila.creado_en.toISOString(),
  vence_en: fila.vence_en?.toISOString() ?? null,
  revocado_en: fila.revocado_en?.toISOString() ?? null,
})

interface LlaveDeComercio {
  comercioId: string
  /** com_… */
  comercio: string
  modo: Modo
  alcances?: readonly Alcance[] | undefined
  vence_en?: Date | null
}

/** Creates a merchant's key; the answer is the only place where the whole key ever stands. */
export async function guardarLlave(db: Db, ahora: Date, de: LlaveDeComercio) {
  const { id, hash, llave } = nuevaLlave(de.modo)
  const fila = {
    id,
    tipo: de.modo,
    comercio_id: de.comercioId,
    operador_id: null,
    hash,
    alcances: [...(de.alcances ?? ALCANCES)],
    creado_en: ahora,
    vence_en: de.vence_en ?? null,
    revocado_en: null,
  }
  await db.prisma.llave.create({ data: fila })
  return { ...presentarLlave({ ...fila, dueno: de.comercio }), llave }
}
