import { hash, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { JobInsert } from 'pg-boss'
import { type Db, statement } from '../../data/db.ts'
import type { HeldJob } from '../../data/queue/job.ts'
import { fromJob, toJob } from '../../data/queue/jobRows.ts'
import { askThoseThere, inEach } from '../../data/spread.ts'
import type { ClavePublica } from '../../generado/contrato/tipos/index.ts'
import { unavailable, wasNotStored } from '../../platform/errors.ts'
import { prepareImage } from '../../platform/images/prepareImage.ts'
import { guardarArchivo } from '../archivos/archivo.ts'
import type { Deps } from '../deps.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { type ArchivoLeido, type FilaDeDocumento, reunirDatos } from './datosDelPdf.ts'
import { firmarManifiesto, hacerManifiesto, nuevaSal } from './manifiesto.ts'
import { type FilaPrueba, type LlaveDePrueba, leerArchivos, type PruebaConQuien, QUIEN_ENTREGO } from './prueba.ts'

type DepsDePdf = Pick<Deps, 'db' | 'log' | 'reloj' | 'secretos' | 'almacen' | 'ajustes' | 'hilos' | 'mapas'>

/**
 * Owner of proofs in the queue of the threads. Proofs take turns with merchants' labels like one more merchant, so a
 * flood of labels does not delay them.
 */
const DUENO = 'pruebas'
const CUATRO_HORAS = 14_400_000
/**
 * Waits of a proof after each failure, in milliseconds: about 25 hours in all. After the last wait a proof is retried
 * every four hours, without limit, so that proofs survive a long storage outage.
 */
const ESPERAS = [5_000, 60_000, 600_000, 3_600_000, ...Array<number>(6).fill(CUATRO_HORAS)]
/**
 * Maximum proofs in the queue. The maximum exceeds what a worker claims at a time, because otherwise a dead worker's
 * proofs could fill the queue.
 */
const EN_COLA = 64

const PENDIENTES = statement<{ ahora: Date; cuantas: number }, Pick<FilaPrueba, 'id' | 'comercio_id'>>(
  'pruebas.pendientes',
  'select id, comercio_id from prueba_entrega where pdf is null and proximo_en <= :ahora order by proximo_en limit :cuantas',
  { alcance: 'parte' },
)

/** Returns the proofs whose PDF is due, as jobs. */
export const pruebasPendientes = async (
  { db, reloj }: Pick<DepsDePdf, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> =>
  (
    await askThoseThere(db, ({ consultar }) =>
      consultar(PENDIENTES, { ahora: reloj(), cuantas: Math.min(cuantas, EN_COLA) }),
    )
  ).map(toJob)

/** Limits the wait of each proof to the delay that follows its last failure. */
const ADELANTAR = statement<{ ahora: Date; esperas: number[] }>(
  'pruebas.adelantar',
  `update prueba_entrega set proximo_en = least(proximo_en, :ahora::timestamptz + interval '1 ms'
     * case when intentos = 0 then 0 else (:esperas::int[])[least(intentos, array_length(:esperas::int[], 1))] end)
   where pdf is null and proximo_en > :ahora`,
  { alcance: 'parte' },
)

/** Brings forward proofs that were scheduled before the clock was set back. */
export const adelantarPruebas = ({ db, reloj }: Pick<DepsDePdf, 'db' | 'reloj'>) =>
  inEach(db, ({ consultar }) => consultar(ADELANTAR, { ahora: reloj(), esperas: ESPERAS }))

const LEER = statement<Pick<FilaPrueba, 'id' | 'comercio_id'>, PruebaConQuien & Pick<FilaGuia, 'guia'>>(
  'pruebas.leer',
  `select p.*, g.guia, ${QUIEN_ENTREGO} from prueba_entrega p
   join guia g on g.comercio_id = p.comercio_id and g.modo = p.modo and g.id = p.guia_id where p.id = :id
     and p.comercio_id = :comercio_id and p.pdf is null`,
)
const GUIA = statement<LlaveDePrueba, Omit<FilaDeDocumento, 'prueba'>>(
  'pruebas.guia',
  `select g.*, c.nombre as comercio_nombre from guia g join comercio c on c.id = g.comercio_id
   where g.comercio_id = :comercio_id and g.modo = :modo and g.id = :guia_id`,
)
/** Postpones a proof. A job's id can be used only once, so the row gets a new id for the next job. */
const APLAZAR = statement<LlaveDePrueba & Pick<FilaPrueba, 'id' | 'proximo_en'> & { siguiente: string }>(
  'pruebas.aplazar',
  `update prueba_entrega set id = :siguiente, intentos = intentos + 1, proximo_en = :proximo_en
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and id = :id and pdf is null`,
)
/** Stores the public key of a manifest, before the manifest itself is stored. */
const GUARDAR_CLAVE = statement<{ kid: string; jwk: ClavePublica; ahora: Date }>(
  'pruebas.guardarClave',
  'insert into clave_publica (kid, jwk, creado_en) values (:kid, :jwk::jsonb, :ahora) on conflict (kid) do nothing',
)
/**
 * Stores a proof's PDF and manifest, once. A second process changes no row, and the sweeper deletes that process's
 * unused file.
 */
const TERMINAR = statement<
  LlaveDePrueba & Pick<FilaPrueba, 'secuencia'> & { pdf: string; manifiesto: string; sal: string; ahora: Date }
>(
  'pruebas.terminar',
  `with p as (
     update prueba_entrega set pdf = :pdf, manifiesto = :manifiesto, sal = :sal
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia and pdf is null and exists (
       select 1 from archivo a where a.comercio_id = :comercio_id and a.modo = :modo and a.guia_id = :guia_id
         and a.archivo = :pdf)
     returning comercio_id, modo, guia_id, pdf
   )
   update archivo a set usado_en = :ahora from p
   where a.comercio_id = p.comercio_id and a.modo = p.modo and a.guia_id = p.guia_id and a.archivo = p.pdf
   returning 1`,
)

/**
 * Creates the documents of these proofs and signs their manifests. A proof that fails is postponed and does not delay
 * the others. If the database accepts no writes, all proofs fail, and none is postponed.
 */
export async function hacerPdfs(deps: DepsDePdf, trabajos: readonly HeldJob[]): Promise<void> {
  for (const trabajo of trabajos) {
    if (trabajo.signal?.aborted) continue
    const [prueba] = await deps.db.consultar(LEER, fromJob(trabajo))
    if (!prueba) continue
    try {
      await hacerPdf(deps, prueba)
    } catch (err) {
      if (wasNotStored(err)) throw err
      const espera = ESPERAS[prueba.intentos] ?? CUATRO_HORAS
      const { guia, intentos } = prueba
      deps.log.warn({ err, guia, intentos: intentos + 1, espera }, 'proof without its PDF')
      await deps.db.consultar(APLAZAR, {
        ...prueba,
        siguiente: randomUUID(),
        proximo_en: new Date(deps.reloj().getTime() + espera),
      })
    }
  }
}

/**
 * Creates the PDF and the signed manifest of a proof.
 * @returns false if another process created them meanwhile
 */
export async function hacerPdf(deps: DepsDePdf, prueba: PruebaConQuien): Promise<boolean> {
  const { db, reloj, secretos, ajustes, hilos } = deps
  const { comercio_id, modo, guia_id, secuencia } = prueba
  const llave = { comercio_id, modo, guia_id }
  const [fila] = await db.consultar(GUIA, llave)
  const guia: FilaDeDocumento = { ...fila!, prueba }
  const fotos: ArchivoLeido[] = []
  // Photos are read one after the other, because ten of 40 megapixels at once would not fit into a small container.
  for (const foto of await filasDe(db, guia, prueba.fotos))
    fotos.push(await leer(deps, prueba, foto, { lado: ladoDeFotos(prueba.fotos.length), calidad: 78 }))
  const [filaDeFirma] = await filasDe(db, guia, prueba.firma === null ? [] : [prueba.firma])
  const firma = filaDeFirma && (await leer(deps, prueba, filaDeFirma, DE_FIRMA))
  const mapa = await mapaDe(prueba, deps)
  const contenido = await hilos.run(DUENO, 'prueba', await reunirDatos(db, guia, fotos, firma, mapa, ajustes))
  const pdf = await guardarArchivo(deps, guia, { ...SIN_IMAGEN, contenido })
  const ahora = reloj()
  const sal = nuevaSal()
  const archivos = [...fotos.map((foto) => foto.fila), ...(filaDeFirma ? [filaDeFirma] : []), pdf]
  const manifiesto = hacerManifiesto(ajustes.urlPublica, guia, prueba, archivos, sal, ahora)
  const { jws, publica } = await firmarManifiesto(secretos, manifiesto)
  await db.consultar(GUARDAR_CLAVE, { kid: publica.kid, jwk: publica, ahora })
  const hechas = await db.consultar(TERMINAR, {
    ...llave,
    secuencia,
    pdf: pdf.archivo,
    manifiesto: jws,
    sal,
    ahora,
  })
  return hechas.length > 0
}

/** Returns a map of the handover position, or null. */
async function mapaDe({ lat, lng }: FilaPrueba, { mapas, ajustes: { mosaicos } }: DepsDePdf) {
  if (!mapas || !mosaicos || lat === null || lng === null) return null
  const imagen = await mapas.draw({ lat, lng })
  return imagen && { imagen, atribucion: mosaicos.atribucion }
}

const SIN_IMAGEN = {
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
async function filasDe(db: Db, guia: FilaGuia, archivos: readonly string[]) {
  const filas = await leerArchivos(db, guia, archivos)
  return archivos.map((archivo) => filas.get(archivo)!)
}

const ladoDeFotos = (cuantas: number) => (cuantas <= 2 ? 1_400 : cuantas <= 4 ? 1_000 : 720)
const DE_FIRMA = { lado: 900, calidad: 92 }

/**
 * Reads a picture as the document shows it. If the storage does not return the picture within the waits of `ESPERAS`,
 * the document is made without the picture.
 */
async function leer(
  { almacen, log }: DepsDePdf,
  prueba: FilaPrueba,
  fila: ArchivoLeido['fila'],
  { lado, calidad }: { lado: number; calidad: number },
): Promise<ArchivoLeido> {
  try {
    const contenido = await buffer(await almacen.leer(fila.archivo))
    if (!hash('sha256', contenido, 'buffer').equals(fila.sha256))
      throw unavailable('The bytes of the file do not match the stored digest.')
    return { fila, imagen: await prepareImage(contenido, lado, calidad) }
  } catch (err) {
    if (prueba.intentos < ESPERAS.length) throw err
    log.warn({ err, archivo: fila.archivo }, 'picture left out of its PDF')
    return { fila, imagen: undefined }
  }
}
