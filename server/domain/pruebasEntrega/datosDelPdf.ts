import { type Db, statement } from '../../data/db.ts'
import type { EvidenciaDePrueba } from '../../generado/contrato/tipos/index.ts'
import {
  DESCRIPCIONES_DE_FALTA,
  DESCRIPCIONES_DE_MOTIVO,
  DESCRIPCIONES_DE_SIN_FIRMA,
} from '../../generado/contrato/vocabulario.ts'
import { forDocuments } from '../../platform/brand/brand.ts'
import type { PreparedImage } from '../../platform/images/prepareImage.ts'
import { enHexadecimal, type FilaArchivo } from '../archivos/archivo.ts'
import { zonaDe } from '../catalogo/zona.ts'
import type { ServiceSettings } from '../deps.ts'
import { EVENT_WORDS, PALABRAS } from '../estados/estados.ts'
import type { FilaEvento } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { Archivo, DatosDePrueba, Hito } from './contenidoDelPdf.ts'
import { type FilaPrueba, type LlaveDePrueba, type PruebaConQuien, relacionEnPalabras } from './prueba.ts'

/** Row of a guide with its merchant's name and its proof. */
export type FilaDeDocumento = FilaGuia & { comercio_nombre: string; prueba: PruebaConQuien }

/** Maximum events that are read of a guide, newest first: far more than two pages hold. */
const EVENTOS = 2_000

/** Reads the events up to the delivery. Excludes later scans, and notes between couriers and merchant. */
const HISTORIAL = statement<LlaveDePrueba & Pick<FilaPrueba, 'secuencia'>, EventoContado>(
  'pruebas.historial',
  `select tipo, estado, motivo, lat, lng, ocurrido_en, datos from evento
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia <= :secuencia
     and tipo not in ('guia.nota', 'guia.escaneo_tardio')
   order by secuencia desc limit ${EVENTOS}`,
)

type EventoContado = Pick<FilaEvento, 'tipo' | 'estado' | 'motivo' | 'lat' | 'lng' | 'ocurrido_en' | 'datos'>

/** Stored file and its picture; the picture is undefined if it cannot be read or shown. */
export interface ArchivoLeido {
  fila: FilaArchivo
  imagen: PreparedImage | undefined
}

/** Collects all data of a guide's document from rows. The result does not depend on the time of reading. */
export async function reunirDatos(
  db: Db,
  guia: FilaDeDocumento,
  fotos: readonly ArchivoLeido[],
  firma: ArchivoLeido | undefined,
  mapa: DatosDePrueba['mapa'],
  { marca, urlPublica, zonaHoraria }: Pick<ServiceSettings, 'marca' | 'urlPublica' | 'zonaHoraria'>,
): Promise<DatosDePrueba> {
  const { modo, prueba, recogida, destinatario, telefono, departamento, municipio, direccion } = guia
  const eventos = await db.consultar(HISTORIAL, prueba)
  const { lat, lng, precision_m, distancia_m, distancia_avisada_m } = prueba
  return {
    marca: forDocuments(marca),
    comercio: guia.comercio_nombre,
    modo,
    guia: guia.guia,
    external_ref: guia.external_ref,
    estado: PALABRAS.entregado,
    entregado_en: prueba.entregado_en.toISOString(),
    registrado_en: prueba.registrado_en.toISOString(),
    zona: zonaDe(guia, zonaHoraria),
    url_verificacion: `${urlPublica}/verificar/${guia.guia}`,
    recogida: { nombre: recogida.nombre, lat: recogida.lat, lng: recogida.lng },
    destinatario: { nombre: destinatario, telefono, departamento, municipio, direccion },
    contenido: guia.contenido,
    repartidor: prueba.repartidor,
    recibio: { ...prueba.recibido_por, relacion: relacionEnPalabras(prueba.recibido_por) },
    posicion: lat === null || lng === null ? null : { lat, lng, precision_m, distancia_m, distancia_avisada_m },
    mapa,
    historial: eventos.reverse().map(enPalabras),
    fotos: fotos.map((foto, i) => presentar(foto, `Foto ${i + 1}`)),
    firma: firma ? presentar(firma, 'Firma') : null,
    sin_firma: prueba.sin_firma && DESCRIPCIONES_DE_SIN_FIRMA[prueba.sin_firma],
    pagina_anterior: prueba.evidencia.pagina_anterior ? dichoDeAnterior(prueba.evidencia) : null,
  }
}

const presentar = ({ fila, imagen }: ArchivoLeido, nombre: string): Archivo => ({
  nombre: `${nombre} · ${fila.archivo}`,
  imagen,
  sha256: enHexadecimal(fila.sha256),
  capturado_en: fila.capturado_en?.toISOString() ?? null,
})

/** Describes an event in the words of the tracking page and not in the courier's, because customers read the document. */
function enPalabras({ tipo, motivo, lat, lng, ocurrido_en, datos }: EventoContado): Hito {
  const porque = motivo ? `: ${DESCRIPCIONES_DE_MOTIVO[motivo]}` : ''
  const tarde = datos?.tardio ? ' (se supo después)' : ''
  const descripcion = `${EVENT_WORDS[tipo] ?? tipo}${porque}${tarde}`
  return { ocurrido_en: ocurrido_en.toISOString(), descripcion, lugar: null, lat, lng }
}

/** Describes a delivery made with an outdated page that did not know which evidence the merchant needs. */
function dichoDeAnterior({ faltas }: EvidenciaDePrueba): string {
  const dichas = faltas.map((falta) => DESCRIPCIONES_DE_FALTA[falta]).join(', ') || 'nada'
  return `Se entregó con una página que aún no conocía lo que pide el comercio; falta: ${dichas}`
}
