import type { OperationId } from '../../api/contract/contract.ts'
import { type Query, type RowOf, statement } from '../../data/db.ts'
import type { clave_idempotencia } from '../../generado/contrato/prisma/client.ts'
import type { Modo } from '../../generado/contrato/tipos/index.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { Problema } from '../../platform/errors.ts'
import { digest, type Secrets } from '../../platform/secrets.ts'
import type { Deps } from '../deps.ts'

/** Returns the content of a request as one text, independent of the order of its members. */
export const contenidoDe = (solicitud: object): string =>
  JSON.stringify(solicitud, (_clave, valor) =>
    valor !== null && typeof valor === 'object' && !Array.isArray(valor)
      ? Object.fromEntries(Object.entries(valor).sort(([a], [b]) => (a < b ? -1 : 1)))
      : valor,
  )

/**
 * Returns the digest of a content, prefixed with the id of the key that made it. With this id, a repeated request still
 * matches after a change of the master key.
 */
export function huellaDeContenido(secretos: Secrets, contenido: string): string {
  const presente = secretos.presente('huellas')
  return `${presente.kid}:${digest(presente, contenido)}`
}

/** Returns true if the digest belongs to exactly this content. */
export function esElMismo(secretos: Secrets, huella: string | null, contenido: string): boolean {
  const [kid = '', primera] = huella?.split(':') ?? []
  const subclave = secretos.de('huellas', kid)
  return subclave !== undefined && digest(subclave, contenido) === primera
}

/** Row of `clave_idempotencia`. */
type FilaClave = RowOf<clave_idempotencia, { modo: Modo }>
type Clave = Pick<FilaClave, 'comercio_id' | 'modo' | 'operacion' | 'idempotencia'>
type Recuerdo = Pick<FilaClave, 'huella' | 'identificador'>

/** Returns the parameters of a path with a guide's code in its canonical form, because any spelling means the same guide. */
function conCodigoCanonico(path: unknown): unknown {
  const { guia, ...demas } = (path ?? {}) as { guia?: string }
  return guia === undefined ? path : { ...demas, guia: normalizeGuideCode(guia) ?? guia }
}

/** Time in milliseconds that a key is kept. Afterwards the key is free. */
export const VIGENCIA_DE_CLAVE = 24 * 3_600_000

const BUSCAR = statement<Clave & { desde: Date }, Recuerdo>(
  'idempotencia.buscar',
  `select huella, identificador from clave_idempotencia where comercio_id = :comercio_id and modo = :modo
     and operacion = :operacion and idempotencia = :idempotencia and creado_en > :desde`,
)

/**
 * Stores a key, or takes over the row of an expired key. Waits for another transaction with the same key, and returns
 * no row if that transaction stored the key.
 */
const RECORDAR = statement<FilaClave & { desde: Date }>(
  'idempotencia.recordar',
  `insert into clave_idempotencia as c (comercio_id, modo, operacion, idempotencia, huella, identificador, creado_en)
   values (:comercio_id, :modo, :operacion, :idempotencia, :huella, :identificador, :creado_en)
   on conflict (comercio_id, modo, operacion, idempotencia) do update
     set huella = excluded.huella, identificador = excluded.identificador, creado_en = excluded.creado_en
     where c.creado_en <= :desde
   returning 1`,
)

/** Input of an operation that takes `idempotencia`. */
interface Solicitud {
  identidad: { comercioId: string; modo: Modo }
  path?: unknown
  body?: { idempotencia?: string | undefined } | undefined
}

/**
 * Stores the key of the request in the transaction of its effect. Does nothing for a request without a key.
 * @param identificador identifier of the result, from which the answer to a repetition is built
 * @throws if an equal request has stored the key meanwhile; the transaction then rolls back
 */
export type Recordar = (consultar: Query, identificador: string) => Promise<void>

/** Error: another transaction has stored the key, so the transaction of this request must roll back. */
class ClaveTomada extends Error {}

interface Pasos<T> {
  /** Does what the request asks for. Calls `recordar` in the transaction of the effect, after its other statements. */
  hacer: (recordar: Recordar) => Promise<T>
  /** Reads the result of the first request; undefined if it no longer exists. */
  releer: (identificador: string) => Promise<T | undefined>
}

/** Result of a request, and the header that marks a repetition. */
interface UnaVez<T> {
  hecho: T
  headers: { 'Idempotent-Replayed'?: 'true' }
}

/**
 * Executes a request at most once for each key. The key and the effect commit in one transaction, so a process that
 * dies leaves both or neither. A request that fails does not use up its key.
 * @throws Problema 409 if the key belongs to another request, or if the result no longer exists
 */
export async function unaVez<T>(
  { db, reloj, secretos }: Pick<Deps, 'db' | 'reloj' | 'secretos'>,
  operacion: OperationId,
  { identidad, path, body: { idempotencia, ...body } = {} }: Solicitud,
  { hacer, releer }: Pasos<T>,
): Promise<UnaVez<T>> {
  if (idempotencia === undefined) return { hecho: await hacer(async () => {}), headers: {} }
  const creado_en = reloj()
  const desde = new Date(creado_en.getTime() - VIGENCIA_DE_CLAVE)
  const clave: Clave = { comercio_id: identidad.comercioId, modo: identidad.modo, operacion, idempotencia }
  const contenido = contenidoDe({ path: conCodigoCanonico(path), body })

  async function repetir(): Promise<UnaVez<T> | undefined> {
    const [anterior] = await db.consultar(BUSCAR, { ...clave, desde })
    if (!anterior) return undefined
    if (!esElMismo(secretos, anterior.huella, contenido))
      throw conflicto(`${idempotencia} ya se usó en esta operación con otros datos`)
    const hecho = await releer(anterior.identificador)
    if (hecho === undefined) throw conflicto(`${idempotencia} ya hizo lo que se pidió, y lo que creó ya no existe`)
    return { hecho, headers: { 'Idempotent-Replayed': 'true' } }
  }

  const repetida = await repetir()
  if (repetida) return repetida
  try {
    const hecho = await hacer(async (consultar, identificador) => {
      const fila = { ...clave, huella: huellaDeContenido(secretos, contenido), identificador, creado_en }
      if ((await consultar(RECORDAR, { ...fila, desde })).length === 0) throw new ClaveTomada('the key is taken')
    })
    return { hecho, headers: {} }
  } catch (error) {
    // If an equal request runs at the same time, the operation may fail with its own conflict, such as a repeated
    // address.
    const otra = error instanceof Problema || error instanceof ClaveTomada ? await repetir() : undefined
    if (otra) return otra
    throw error
  }
}

const conflicto = (porQue: string) =>
  new Problema('idempotencia_en_conflicto', `La clave ${porQue}. Use una clave nueva para cada cosa distinta.`)
