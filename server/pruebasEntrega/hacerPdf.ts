import { hash, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { JobInsert } from 'pg-boss'
import { guardarArchivo } from '../archivos/archivo.ts'
import { aTrabajo, deTrabajo } from '../cola/filas.ts'
import type { Tomado } from '../cola/trabajo.ts'
import type { ClavePublica } from '../contrato/generado/tipos/index.ts'
import { askThoseThere, inEach } from '../data/spread.ts'
import { type Db, sentencia } from '../db.ts'
import type { Ajustes, Deps } from '../deps.ts'
import { noDisponible, noGuardaba } from '../errores.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { prepararImagen } from '../imagenes/prepararImagen.ts'
import { componerMapa } from '../mapas/componerMapa.ts'
import { type ArchivoLeido, type FilaDeDocumento, reunirDatos } from './datosDelPdf.ts'
import { firmarManifiesto, hacerManifiesto, nuevaSal } from './manifiesto.ts'
import { type FilaPrueba, type LlaveDePrueba, leerArchivos, type PruebaConQuien, QUIEN_ENTREGO } from './prueba.ts'

type DepsDePdf = Pick<Deps, 'db' | 'log' | 'reloj' | 'secretos' | 'almacen' | 'ajustes' | 'hilos'>

/** Proofs take turns with merchants' labels as if they were one more merchant's: no flood of labels keeps them waiting. */
const DUENO = 'pruebas'
const CUATRO_HORAS = 14_400_000
/**
 * How long a proof waits after each failure, in milliseconds: a good day in all. Afterwards it goes on as at the end, for as
 * long as it takes, so that a storage that was away for long finds nobody asleep.
 */
const ESPERAS = [5_000, 60_000, 600_000, 3_600_000, ...Array<number>(6).fill(CUATRO_HORAS)]
/** Proofs in the queue at most. More than a worker claims at a time, or a dead worker's proofs would be all that is in it. */
const EN_COLA = 64

const PENDIENTES = sentencia<{ ahora: Date; cuantas: number }, Pick<FilaPrueba, 'id' | 'comercio_id'>>(
  'pruebas.pendientes',
  'select id, comercio_id from prueba_entrega where pdf is null and proximo_en <= :ahora order by proximo_en limit :cuantas',
  { alcance: 'parte' },
)

/** The proofs whose PDF is due, as jobs. */
export const pruebasPendientes = async (
  { db, reloj }: Pick<DepsDePdf, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> =>
  (
    await askThoseThere(db, ({ consultar }) =>
      consultar(PENDIENTES, { ahora: reloj(), cuantas: Math.min(cuantas, EN_COLA) }),
    )
  ).map(aTrabajo)

/** No proof waits for longer than its last failure asks for. */
const ADELANTAR = sentencia<{ ahora: Date; esperas: number[] }>(
  'pruebas.adelantar',
  `update prueba_entrega set proximo_en = least(proximo_en, :ahora::timestamptz + interval '1 ms'
     * case when intentos = 0 then 0 else (:esperas::int[])[least(intentos, array_length(:esperas::int[], 1))] end)
   where pdf is null and proximo_en > :ahora`,
  { alcance: 'parte' },
)

/** Brings forward what a clock that has stepped back since put off. */
export const adelantarPruebas = ({ db, reloj }: Pick<DepsDePdf, 'db' | 'reloj'>) =>
  inEach(db, ({ consultar }) => consultar(ADELANTAR, { ahora: reloj(), esperas: ESPERAS }))

const LEER = sentencia<Pick<FilaPrueba, 'id' | 'comercio_id'>, PruebaConQuien & Pick<FilaGuia, 'guia'>>(
  'pruebas.leer',
  `select p.*, g.guia, ${QUIEN_ENTREGO} from prueba_entrega p
   join guia g on g.comercio_id = p.comercio_id and g.modo = p.modo and g.id = p.guia_id where p.id = :id
     and p.comercio_id = :comercio_id and p.pdf is null`,
)
const GUIA = sentencia<LlaveDePrueba, Omit<FilaDeDocumento, 'prueba'>>(
  'pruebas.guia',
  `select g.*, c.nombre as comercio_nombre from guia g join comercio c on c.id = g.comercio_id
   where g.comercio_id = :comercio_id and g.modo = :modo and g.id = :guia_id`,
)
/** Puts a proof off; a job's id is used up with the job, so the next time has another. */
const APLAZAR = sentencia<LlaveDePrueba & Pick<FilaPrueba, 'id' | 'proximo_en'> & { siguiente: string }>(
  'pruebas.aplazar',
  `update prueba_entrega set id = :siguiente, intentos = intentos + 1, proximo_en = :proximo_en
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and id = :id and pdf is null`,
)
/** Keeps the public key of a manifest, before anything is signed with it. */
const GUARDAR_CLAVE = sentencia<{ kid: string; jwk: ClavePublica; ahora: Date }>(
  'pruebas.guardarClave',
  'insert into clave_publica (kid, jwk, creado_en) values (:kid, :jwk::jsonb, :ahora) on conflict (kid) do nothing',
)
/**
 * Gives a proof its PDF and its manifest, once: whoever comes second changes no row, and his file stays unused, for the
 * sweeper.
 */
const TERMINAR = sentencia<LlaveDePrueba & { pdf: string; manifiesto: string; sal: string; ahora: Date }>(
  'pruebas.terminar',
  `with p as (
     update prueba_entrega set pdf = :pdf, manifiesto = :manifiesto, sal = :sal
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and pdf is null and exists (
       select 1 from archivo a where a.comercio_id = :comercio_id and a.modo = :modo and a.guia_id = :guia_id
         and a.archivo = :pdf)
     returning comercio_id, modo, guia_id, pdf
   )
   update archivo a set usado_en = :ahora from p
   where a.comercio_id = p.comercio_id and a.modo = p.modo and a.guia_id = p.guia_id and a.archivo = p.pdf
   returning 1`,
)

/**
 * Makes the documents of these proofs and signs their manifests. A proof that fails is put off and delays no other; a database
 * that takes no writes fails all of them, and is no reason to put one off.
 */
export async function hacerPdfs(deps: DepsDePdf, trabajos: readonly Tomado[]): Promise<void> {
  for (const trabajo of trabajos) {
    if (trabajo.signal?.aborted) continue
    const [prueba] = await deps.db.consultar(LEER, deTrabajo(trabajo))
    if (!prueba) continue
    try {
      await hacerPdf(deps, prueba)
    } catch (err) {
      if (noGuardaba(err)) throw err
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

/** Makes the PDF and the signed manifest of a proof; false if somebody else had made them meanwhile. */
export async function hacerPdf(deps: DepsDePdf, prueba: PruebaConQuien): Promise<boolean> {
  const { db, reloj, secretos, ajustes, hilos } = deps
  const { comercio_id, modo, guia_id } = prueba
  const llave = { comercio_id, modo, guia_id }
  const [fila] = await db.consultar(GUIA, llave)
  const guia: FilaDeDocumento = { ...fila!, prueba }
  const fotos: ArchivoLeido[] = []
  // One after the other, for ten of 40 megapixels at once would not fit into a small container.
  for (const foto of await filasDe(db, guia, prueba.fotos))
    fotos.push(await leer(deps, prueba, foto, { lado: ladoDeFotos(prueba.fotos.length), calidad: 78 }))
  const [filaDeFirma] = await filasDe(db, guia, prueba.firma === null ? [] : [prueba.firma])
  const firma = filaDeFirma && (await leer(deps, prueba, filaDeFirma, DE_FIRMA))
  const mapa = await mapaDe(prueba, ajustes)
  const contenido = await hilos.hacer(DUENO, 'prueba', await reunirDatos(db, guia, fotos, firma, mapa, ajustes))
  const pdf = await guardarArchivo(deps, guia, { ...SIN_IMAGEN, contenido })
  const ahora = reloj()
  const sal = nuevaSal()
  const archivos = [...fotos.map((foto) => foto.fila), ...(filaDeFirma ? [filaDeFirma] : []), pdf]
  const manifiesto = hacerManifiesto(ajustes.urlPublica, guia, prueba, archivos, sal, ahora)
  const { jws, publica } = await firmarManifiesto(secretos, manifiesto)
  await db.consultar(GUARDAR_CLAVE, { kid: publica.kid, jwk: publica, ahora })
  const hechas = await db.consultar(TERMINAR, {
    ...llave,
    pdf: pdf.archivo,
    manifiesto: jws,
    sal,
    ahora,
  })
  return hechas.length > 0
}

/** The map of where the parcel was handed over: only of tiles that the operator chose, for nobody else's are meant for that. */
async function mapaDe({ lat, lng }: FilaPrueba, { mosaicos }: Pick<Ajustes, 'mosaicos'>) {
  if (!mosaicos?.propios || lat === null || lng === null) return null
  const imagen = await componerMapa(mosaicos.url, { lat, lng })
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
  // Until the proof names the file, nobody does: a crash from here on leaves it to the sweeper.
  usado_en: null,
} as const

/** The rows of a proof's files, in the order of their names; each is there, for the proof holds it. */
async function filasDe(db: Db, guia: FilaGuia, archivos: readonly string[]) {
  const filas = await leerArchivos(db, guia, archivos)
  return archivos.map((archivo) => filas.get(archivo)!)
}

const ladoDeFotos = (cuantas: number) => (cuantas <= 2 ? 1_400 : cuantas <= 4 ? 1_000 : 720)
const DE_FIRMA = { lado: 900, calidad: 92 }

/** Reads a picture as the document shows it; the storage gets a day to give it out, and after that the document goes without it. */
async function leer(
  { almacen, log }: DepsDePdf,
  prueba: FilaPrueba,
  fila: ArchivoLeido['fila'],
  { lado, calidad }: { lado: number; calidad: number },
): Promise<ArchivoLeido> {
  try {
    const contenido = await buffer(await almacen.leer(fila.archivo))
    if (!hash('sha256', contenido, 'buffer').equals(fila.sha256))
      throw noDisponible('These are not the bytes that were kept.')
    return { fila, imagen: await prepararImagen(contenido, lado, calidad) }
  } catch (err) {
    if (prueba.intentos < ESPERAS.length) throw err
    log.warn({ err, archivo: fila.archivo }, 'picture left out of its PDF')
    return { fila, imagen: undefined }
  }
}
