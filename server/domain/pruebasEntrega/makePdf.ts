import { hash, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { JobInsert } from 'pg-boss'
import { type Db, statement } from '../../data/db.ts'
import { queryReachableParts, runInEachPart } from '../../data/partQueries.ts'
import type { HeldJob } from '../../data/queue/job.ts'
import { fromJob, toJob } from '../../data/queue/jobRows.ts'
import type { ClavePublica } from '../../generated/contract/types/index.ts'
import { unavailable, wasNotStored } from '../../platform/errors.ts'
import { prepareImage } from '../../platform/images/prepareImage.ts'
import { saveArchivo } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { buildManifest, newSalt, signManifest } from './manifiesto.ts'
import { collectData, type DocumentRow, type ReadArchivo } from './pdfData.ts'
import {
  ENTREGA_REPARTIDOR,
  type PruebaKey,
  type PruebaRow,
  type PruebaWithRepartidor,
  readArchivos,
} from './prueba.ts'

type PdfDeps = Pick<Deps, 'db' | 'log' | 'clock' | 'secretos' | 'store' | 'settings' | 'threads' | 'maps'>

/**
 * Owner of proofs in the queue of the threads. Proofs take turns with merchants' labels like one more merchant, so a
 * flood of labels does not delay them.
 */
const THREADS_OWNER = 'pruebas'
const FOUR_HOURS_MS = 14_400_000
/**
 * Waits of a proof after each failure, in milliseconds: about 25 hours in all. After the last wait a proof is retried
 * every four hours, without limit, so that proofs survive a long storage outage.
 */
const RETRY_DELAYS_MS = [5_000, 60_000, 600_000, 3_600_000, ...Array<number>(6).fill(FOUR_HOURS_MS)]
/**
 * Maximum proofs in the queue. The maximum exceeds what a worker claims at a time, because otherwise a dead worker's
 * proofs could fill the queue.
 */
const MAX_QUEUED = 64

const PENDING = statement<{ now: Date; count: number }, Pick<PruebaRow, 'id' | 'comercio_id'>>(
  'pruebas.pending',
  'part',
  'select id, comercio_id from prueba_entrega where pdf is null and proximo_en <= :now order by proximo_en limit :count',
)

/** Returns the proofs whose PDF is due, as jobs. */
export const readPendingPruebas = async (
  { db, clock }: Pick<PdfDeps, 'db' | 'clock'>,
  count: number,
): Promise<JobInsert[]> =>
  (
    await queryReachableParts(db, ({ query }) => query(PENDING, { now: clock(), count: Math.min(count, MAX_QUEUED) }))
  ).map(toJob)

/** Limits the wait of each proof to the delay that follows its last failure. */
const BRING_FORWARD = statement<{ now: Date; delays: number[] }>(
  'pruebas.bringForward',
  'part',
  `update prueba_entrega set proximo_en = least(proximo_en, :now::timestamptz + interval '1 ms'
     * case when intentos = 0 then 0 else (:delays::int[])[least(intentos, array_length(:delays::int[], 1))] end)
   where pdf is null and proximo_en > :now`,
)

/** Brings forward proofs that were scheduled before the clock was set back. */
export const bringPruebasForward = ({ db, clock }: Pick<PdfDeps, 'db' | 'clock'>) =>
  runInEachPart(db, ({ query }) => query(BRING_FORWARD, { now: clock(), delays: RETRY_DELAYS_MS }))

const READ = statement<Pick<PruebaRow, 'id' | 'comercio_id'>, PruebaWithRepartidor & Pick<GuiaRow, 'guia'>>(
  'pruebas.read',
  'merchant',
  `select p.*, g.guia, ${ENTREGA_REPARTIDOR} from prueba_entrega p
   join guia g on g.comercio_id = p.comercio_id and g.modo = p.modo and g.id = p.guia_id where p.id = :id
     and p.comercio_id = :comercio_id and p.pdf is null`,
)
const GUIA = statement<PruebaKey, Omit<DocumentRow, 'prueba'>>(
  'pruebas.guia',
  'merchant',
  `select g.*, c.nombre as comercio_name from guia g join comercio c on c.id = g.comercio_id
   where g.comercio_id = :comercio_id and g.modo = :modo and g.id = :guia_id`,
)
/** Postpones a proof. A job's id can be used only once, so the row gets a new id for the next job. */
const POSTPONE = statement<PruebaKey & Pick<PruebaRow, 'id' | 'proximo_en'> & { next: string }>(
  'pruebas.postpone',
  'merchant',
  `update prueba_entrega set id = :next, intentos = intentos + 1, proximo_en = :proximo_en
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and id = :id and pdf is null`,
)
/** Stores the public key of a manifest, before the manifest itself is stored. */
const STORE_KEY = statement<{ kid: string; jwk: ClavePublica; now: Date }>(
  'pruebas.storeKey',
  'central',
  'insert into clave_publica (kid, jwk, creado_en) values (:kid, :jwk::jsonb, :now) on conflict (kid) do nothing',
)
/**
 * Stores a proof's PDF and manifest, once. A second process changes no row, and the sweeper deletes that process's
 * unused file.
 */
const FINISH = statement<
  PruebaKey & Pick<PruebaRow, 'secuencia'> & { pdf: string; manifiesto: string; sal: string; now: Date }
>(
  'pruebas.finish',
  'merchant',
  `with p as (
     update prueba_entrega set pdf = :pdf, manifiesto = :manifiesto, sal = :sal
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia and pdf is null and exists (
       select 1 from archivo a where a.comercio_id = :comercio_id and a.modo = :modo and a.guia_id = :guia_id
         and a.archivo = :pdf)
     returning comercio_id, modo, guia_id, pdf
   )
   update archivo a set usado_en = :now from p
   where a.comercio_id = p.comercio_id and a.modo = p.modo and a.guia_id = p.guia_id and a.archivo = p.pdf
   returning 1`,
)

/**
 * Creates the documents of these proofs and signs their manifests. A proof that fails is postponed and does not delay
 * the others. If the database accepts no writes, all proofs fail, and none is postponed.
 */
export async function makePdfs(deps: PdfDeps, jobs: readonly HeldJob[]): Promise<void> {
  for (const job of jobs) {
    if (job.signal?.aborted) continue
    const [prueba] = await deps.db.query(READ, fromJob(job))
    if (!prueba) continue
    try {
      await makePdf(deps, prueba)
    } catch (err) {
      if (wasNotStored(err)) throw err
      const delay = RETRY_DELAYS_MS[prueba.intentos] ?? FOUR_HOURS_MS
      const { guia, intentos } = prueba
      deps.log.warn({ err, guia, intentos: intentos + 1, espera: delay }, 'proof without its PDF')
      await deps.db.query(POSTPONE, {
        ...prueba,
        next: randomUUID(),
        proximo_en: new Date(deps.clock().getTime() + delay),
      })
    }
  }
}

/**
 * Creates the PDF and the signed manifest of a proof.
 * @returns false if another process created them meanwhile
 */
export async function makePdf(deps: PdfDeps, prueba: PruebaWithRepartidor): Promise<boolean> {
  const { db, clock, secretos, settings, threads } = deps
  const { comercio_id, modo, guia_id, secuencia } = prueba
  const guiaKey = { comercio_id, modo, guia_id }
  const [row] = await db.query(GUIA, guiaKey)
  const guia: DocumentRow = { ...row!, prueba }
  const fotos: ReadArchivo[] = []
  // Photos are read one after the other, because ten of 40 megapixels at once would not fit into a small container.
  for (const foto of await readRowsOf(db, guia, prueba.fotos))
    fotos.push(await read(deps, prueba, foto, { side: fotoSide(prueba.fotos.length), quality: 78 }))
  const [firmaRow] = await readRowsOf(db, guia, prueba.firma === null ? [] : [prueba.firma])
  const firma = firmaRow && (await read(deps, prueba, firmaRow, SIGNATURE_IMAGE))
  const locationMap = await drawLocationMap(prueba, deps)
  const contenido = await threads.run(
    THREADS_OWNER,
    'prueba',
    await collectData(db, guia, fotos, firma, locationMap, settings),
  )
  const pdf = await saveArchivo(deps, guia, { ...PDF_ARCHIVO, contenido })
  const now = clock()
  const sal = newSalt()
  const archivos = [...fotos.map((foto) => foto.row), ...(firmaRow ? [firmaRow] : []), pdf]
  const manifiesto = buildManifest(settings.publicUrl, guia, prueba, archivos, sal, now)
  const { jws, publicKey } = await signManifest(secretos, manifiesto)
  await db.query(STORE_KEY, { kid: publicKey.kid, jwk: publicKey, now })
  const finishedRows = await db.query(FINISH, {
    ...guiaKey,
    secuencia,
    pdf: pdf.archivo,
    manifiesto: jws,
    sal,
    now,
  })
  return finishedRows.length > 0
}

/** Returns a map of the handover position, or null. */
async function drawLocationMap({ lat, lng }: PruebaRow, { maps, settings: { tiles } }: PdfDeps) {
  if (!maps || !tiles || lat === null || lng === null) return null
  const image = await maps.draw({ lat, lng })
  return image && { image, attribution: tiles.attribution }
}

const PDF_ARCHIVO = {
  tipo: 'pdf',
  mime: 'application/pdf',
  ancho: null,
  alto: null,
  capturado_en: null,
  lat: null,
  lng: null,
  autor: null,
  // The file counts as unused until the proof names it, so that the sweeper deletes it after a crash.
  usado_en: null,
} as const

/** Returns the rows of a proof's files, in the order of `archivos`. Every file exists, because the proof keeps it. */
async function readRowsOf(db: Db, guia: GuiaRow, archivos: readonly string[]) {
  const rows = await readArchivos(db, guia, archivos)
  return archivos.map((archivo) => rows.get(archivo)!)
}

const fotoSide = (count: number) => (count <= 2 ? 1_400 : count <= 4 ? 1_000 : 720)
const SIGNATURE_IMAGE = { side: 900, quality: 92 }

/**
 * Reads a picture as the document shows it. If the storage does not return the picture within the waits of `RETRY_DELAYS_MS`,
 * the document is made without the picture.
 */
async function read(
  { store, log }: PdfDeps,
  prueba: PruebaRow,
  row: ReadArchivo['row'],
  { side, quality }: { side: number; quality: number },
): Promise<ReadArchivo> {
  try {
    const content = await buffer(await store.read(row.archivo))
    if (!hash('sha256', content, 'buffer').equals(row.sha256))
      throw unavailable('The bytes of the file do not match the stored digest.')
    return { row, image: await prepareImage(content, side, quality) }
  } catch (err) {
    if (prueba.intentos < RETRY_DELAYS_MS.length) throw err
    log.warn({ err, archivo: row.archivo }, 'picture left out of its PDF')
    return { row, image: undefined }
  }
}
