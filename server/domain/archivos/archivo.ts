import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { DeclaredResponse } from '../../api/contract/handler.ts'
import { inTransaction, type Query, type RowOf, statement } from '../../data/db.ts'
import { saveOwners } from '../../data/owners.ts'
import type { archivo } from '../../generated/contract/prisma/client.ts'
import type { ArchivoDePrueba, Modo, TipoDeArchivo, TipoDeSubida } from '../../generated/contract/types/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema, unavailable } from '../../platform/errors.ts'
import { readImage } from '../../platform/images/readImage.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import type { Disposition } from './links.ts'

/** Row of table `archivo`. The columns have the contract's names. */
export type ArchivoRow = RowOf<archivo, { modo: Modo; tipo: TipoDeArchivo }>

const PREFIX = 'arch_'
/** Creates a file code with 80 random bits. */
const newArchivoCode = () => PREFIX + randomBase32(16)

/** Reports whether a storage key is a file code of this service. A bucket may also hold files of other programs. */
export const isArchivoCode = (key: string) => key.startsWith(PREFIX)

/** Data of a file except its code, its guide and the values computed from its bytes. */
type ArchivoData = Pick<
  ArchivoRow,
  'tipo' | 'mime' | 'ancho' | 'alto' | 'capturado_en' | 'lat' | 'lng' | 'autor' | 'usado_en'
>

const REGISTER = statement<ArchivoData & Pick<ArchivoRow, 'archivo' | 'comercio_id' | 'bytes' | 'sha256'>, ArchivoRow>(
  'archivos.register',
  'merchant',
  `with i as (
     update archivo_indice set estado = 'listo' where archivo = :archivo and comercio_id = :comercio_id and estado = 'subiendo'
     returning archivo, comercio_id, modo, guia_id, creado_en
   ), a as (
     insert into archivo as n (comercio_id, modo, guia_id, archivo, tipo, mime, bytes, ancho, alto, sha256, capturado_en, lat,
       lng, autor, usado_en, creado_en)
     select comercio_id, modo, guia_id, archivo, :tipo, :mime, :bytes, :ancho, :alto, :sha256, :capturado_en::timestamptz,
       :lat::float8, :lng::float8, :autor, :usado_en::timestamptz, creado_en from i
     returning n.*
   )
   select * from a`,
)

/**
 * Maximum number of pictures per delivery attempt and per guide. The maximum per attempt is about twice what a proof
 * can name (10 photos and a signature), because pictures get lost or are taken again. A guide allows three such
 * attempts. Couriers and operators may upload with only the guide's code, so this limit keeps a client from filling the
 * storage.
 */
const MAX_IMAGES = { per_intento: 20, per_guia: 60 }

/**
 * Age in milliseconds after which an unfinished reservation no longer counts. The storage answers within ten seconds.
 */
const UPLOAD_TIMEOUT_MS = MINUTE_MS

type GuiaKey = Pick<ArchivoRow, 'comercio_id' | 'modo' | 'guia_id'>

/**
 * Counts the pictures of a guide: all of them (`per_guia`), and those since the last failed attempt (`per_intento`).
 * Includes uploads in progress. Excludes older reservations, which an unavailable storage may have left unfinished.
 */
const COUNT = statement<GuiaKey & { desde: Date }, { per_guia: number; per_intento: number }>(
  'archivos.count',
  'merchant',
  `select count(*)::int as per_guia, count(*) filter (where a.creado_en > coalesce((
       select max(registrado_en) from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
         and tipo = 'guia.intento_fallido'), '-infinity'))::int as per_intento
   from (
     select creado_en from archivo where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo in ('foto', 'firma') and autor is not null
     union all
     select creado_en from archivo_indice where estado = 'subiendo' and comercio_id = :comercio_id and modo = :modo
       and guia_id = :guia_id and creado_en > :desde) a`,
)

/** Locks the guide until the transaction ends. Concurrent uploads of one guide then count each other. */
const TURN = statement<Pick<GuiaKey, 'guia_id'>>(
  'archivos.turn',
  'part',
  `select pg_advisory_xact_lock(hashtextextended(:guia_id::uuid::text, 0))`,
)

const RESERVE = statement<GuiaKey & Pick<ArchivoRow, 'archivo' | 'creado_en'>>(
  'archivos.reserve',
  'merchant',
  `insert into archivo_indice (archivo, comercio_id, modo, guia_id, estado, creado_en)
   values (:archivo, :comercio_id, :modo, :guia_id, 'subiendo', :creado_en)`,
)

/**
 * Requires that the guide can take another picture.
 * @throws Problema 409 if the guide or the attempt has its maximum of pictures
 */
async function requireImageQuota(query: Query, guiaKey: GuiaKey, now: Date): Promise<void> {
  const [cuenta] = await query(COUNT, { ...guiaKey, desde: new Date(now.getTime() - UPLOAD_TIMEOUT_MS) })
  const exceeded = (['per_guia', 'per_intento'] as const).find((bound) => cuenta![bound] >= MAX_IMAGES[bound])
  if (!exceeded) return
  const subject = exceeded === 'per_guia' ? 'La guía' : 'Este intento de entrega'
  throw new Problema('limite_de_imagenes', `${subject} ya tiene ${MAX_IMAGES[exceeded]} imágenes. Use las que subió.`)
}

/** File to store: its bytes and its data. */
export type ArchivoToSave = ArchivoData & { contenido: Buffer }

/**
 * Stores a file of a guide in three steps: reserves the code, stores the bytes durably, inserts the row. A crash never
 * leaves a row without its bytes. A reservation without a row tells the sweeper which file to delete.
 * @throws Problema 409 if the guide has its maximum of pictures; 503 if the storage is unavailable or the upload takes
 * too long
 */
export async function saveArchivo(
  { db, store, clock }: Pick<Deps, 'db' | 'store' | 'clock'>,
  guia: Pick<GuiaRow, 'comercio_id' | 'modo' | 'id'>,
  { contenido, ...datos }: ArchivoToSave,
): Promise<ArchivoRow> {
  const archivo = newArchivoCode()
  const guiaKey = guiaKeyOf(guia)
  const { comercio_id } = guia
  await saveOwners(db, [{ key: archivo, merchant: comercio_id }])
  const reserve = (query: Query) => query(RESERVE, { ...guiaKey, archivo, creado_en: clock() })
  if (datos.autor === null) await reserve(db.query)
  else {
    await inTransaction(db.forComercio(comercio_id), async (query) => {
      await query(TURN, guiaKey)
      await requireImageQuota(query, guiaKey, clock())
      await reserve(query)
    })
  }
  await store.save(archivo, contenido, datos.mime)
  const sha256 = createHash('sha256').update(contenido).digest()
  const [row] = await db.query(REGISTER, { ...datos, archivo, comercio_id, bytes: contenido.length, sha256 })
  // No row: the upload took so long that the sweeper has marked its reservation for deletion.
  if (!row) throw unavailable('La subida tardó demasiado. Repítala.')
  return row
}

/** Converts a digest to hexadecimal, the format in the contract. */
export const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Converts a file row to the contract's `ArchivoDePrueba`, with a new signed link that expires. */
export function presentArchivo(
  { archivoLinks }: Pick<Deps, 'archivoLinks'>,
  { archivo, tipo, mime, bytes, ancho, alto, sha256, capturado_en }: ArchivoRow,
  disp: Disposition = 'inline',
): ArchivoDePrueba {
  return {
    archivo,
    tipo,
    mime,
    ...archivoLinks.create(archivo, disp),
    bytes,
    ancho,
    alto,
    sha256: toHex(sha256),
    capturado_en: capturado_en?.toISOString() ?? null,
  }
}

/**
 * Receives a picture of a guide from an operator or courier. Stores the picture for the delivery that later names it.
 * @param authorize throws if the author may not upload pictures of this guide
 * @param tomada time of capture that the client states; the time in the picture's EXIF data takes precedence
 */
export async function receiveImage(
  { db, clock, store, reception }: Pick<Deps, 'db' | 'clock' | 'store' | 'reception'>,
  { autor, authorize }: { autor: string; authorize?: (guia: GuiaRow) => Promise<void> },
  code: string,
  tipo: TipoDeSubida,
  content: Readable,
  tomada?: string,
): Promise<DeclaredResponse<'subirArchivo'>> {
  const guia = await findGuia(db, 'todos', code)
  await authorize?.(guia)
  // Rejects a full guide before the body is read. `saveArchivo` counts again under a lock.
  await requireImageQuota(db.query, guiaKeyOf(guia), clock())
  const row = await reception.receive(content, async (path, inTurn) => {
    const image = await inTurn(() => readImage(path, tipo))
    return saveArchivo({ db, store, clock }, guia, {
      ...image,
      capturado_en: image.capturado_en ?? (tomada === undefined ? null : (readInstant(tomada) ?? null)),
      tipo,
      autor,
      usado_en: null,
    })
  })
  const { archivo, mime, bytes, ancho, alto, sha256, capturado_en, lat, lng } = row
  return {
    status: 201,
    body: {
      archivo,
      tipo,
      mime,
      bytes,
      ancho,
      alto,
      sha256: toHex(sha256),
      capturado_en: capturado_en?.toISOString() ?? null,
      lat,
      lng,
    },
  }
}
