import { type Db, statement } from '../../data/db.ts'
import type { EvidenciaDePrueba } from '../../generated/contract/types/index.ts'
import {
  DESCRIPCIONES_DE_FALTA,
  DESCRIPCIONES_DE_MOTIVO,
  DESCRIPCIONES_DE_SIN_FIRMA,
} from '../../generated/contract/vocabulary.ts'
import { forDocuments } from '../../platform/brand/brand.ts'
import type { PreparedImage } from '../../platform/images/prepareImage.ts'
import { type ArchivoRow, toHex } from '../archivos/archivo.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import type { ServiceSettings } from '../deps.ts'
import { EVENT_WORDS, GUIA_STATE_WORDS, IS_STEP } from '../estados/estados.ts'
import type { EventoRow } from '../eventos/evento.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import type { Archivo, Milestone, PruebaData } from './pdfContent.ts'
import { type PruebaKey, type PruebaRow, type PruebaWithRepartidor, relationInWords } from './prueba.ts'

/** Row of a guide with its merchant's name and its proof. */
export type DocumentRow = GuiaRow & { comercio_name: string; prueba: PruebaWithRepartidor }

/** Maximum events that are read of a guide, newest first: far more than two pages hold. */
const MAX_EVENTOS = 2_000

/** Reads the steps of the parcel up to the delivery. */
const HISTORY = statement<PruebaKey & Pick<PruebaRow, 'secuencia'>, ToldEvento>(
  'pruebas.history',
  'merchant',
  `select tipo, estado, motivo, lat, lng, ocurrido_en, datos from evento
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia <= :secuencia
     and ${IS_STEP}
   order by secuencia desc limit ${MAX_EVENTOS}`,
)

type ToldEvento = Pick<EventoRow, 'tipo' | 'estado' | 'motivo' | 'lat' | 'lng' | 'ocurrido_en' | 'datos'>

/** Stored file and its picture; the picture is undefined if it cannot be read or shown. */
export interface ReadArchivo {
  row: ArchivoRow
  image: PreparedImage | undefined
}

/** Collects all data of a guide's document from rows. The result does not depend on the time of reading. */
export async function collectData(
  db: Db,
  guia: DocumentRow,
  fotos: readonly ReadArchivo[],
  firma: ReadArchivo | undefined,
  locationMap: PruebaData['locationMap'],
  { brand, publicUrl, timeZone }: Pick<ServiceSettings, 'brand' | 'publicUrl' | 'timeZone'>,
): Promise<PruebaData> {
  const { modo, prueba, recogida, destinatario, telefono, departamento, municipio, direccion } = guia
  const eventos = await db.query(HISTORY, prueba)
  const { lat, lng, precision_m, distancia_m, distancia_avisada_m } = prueba
  return {
    brand: forDocuments(brand),
    comercio: guia.comercio_name,
    modo,
    guia: guia.guia,
    external_ref: guia.external_ref,
    estado: GUIA_STATE_WORDS.entregado,
    entregado_en: prueba.entregado_en.toISOString(),
    registrado_en: prueba.registrado_en.toISOString(),
    zona: timeZoneOf(guia, timeZone),
    verificationUrl: `${publicUrl}/verificar/${guia.guia}`,
    recogida: { nombre: recogida.nombre, lat: recogida.lat, lng: recogida.lng },
    destinatario: { nombre: destinatario, telefono, departamento, municipio, direccion },
    contenido: guia.contenido,
    repartidor: prueba.repartidor,
    receiver: { ...prueba.recibido_por, relacion: relationInWords(prueba.recibido_por) },
    posicion: lat === null || lng === null ? null : { lat, lng, precision_m, distancia_m, distancia_avisada_m },
    locationMap,
    historial: eventos.reverse().map(inWords),
    fotos: fotos.map((foto, i) => present(foto, `Foto ${i + 1}`)),
    firma: firma ? present(firma, 'Firma') : null,
    sin_firma: prueba.sin_firma && DESCRIPCIONES_DE_SIN_FIRMA[prueba.sin_firma],
    pagina_anterior: prueba.evidencia.pagina_anterior ? describeOutdatedPage(prueba.evidencia) : null,
  }
}

const present = ({ row, image }: ReadArchivo, name: string): Archivo => ({
  nombre: `${name} · ${row.archivo}`,
  image,
  sha256: toHex(row.sha256),
  capturado_en: row.capturado_en?.toISOString() ?? null,
})

/** Describes an event in the words of the tracking page and not in the courier's, because customers read the document. */
function inWords({ tipo, motivo, lat, lng, ocurrido_en, datos }: ToldEvento): Milestone {
  const reason = motivo ? `: ${DESCRIPCIONES_DE_MOTIVO[motivo]}` : ''
  const lateNote = datos?.tardio ? ' (se supo después)' : ''
  const descripcion = `${EVENT_WORDS[tipo] ?? tipo}${reason}${lateNote}`
  return { ocurrido_en: ocurrido_en.toISOString(), descripcion, lugar: null, lat, lng }
}

/** Describes a delivery made with an outdated page that did not know which evidence the merchant needs. */
function describeOutdatedPage({ faltas }: EvidenciaDePrueba): string {
  const missingWords = faltas.map((missing) => DESCRIPCIONES_DE_FALTA[missing]).join(', ') || 'nada'
  return `Se entregó con una página que aún no conocía lo que pide el comercio; falta: ${missingWords}`
}
