import { enHexadecimal, type FilaArchivo } from '../archivos/archivo.ts'
import type { RecibidoPor } from '../contrato/generado/tipos/index.ts'
import {
  DESCRIPCIONES_DE_ESTADO,
  DESCRIPCIONES_DE_EVENTO,
  DESCRIPCIONES_DE_MOTIVO,
} from '../contrato/generado/vocabulario.ts'
import { type Db, sentencia } from '../db.ts'
import type { Ajustes } from '../deps.ts'
import type { FilaEvento } from '../eventos/evento.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { zonaDe } from '../tiempo/zona.ts'
import type { FilaPrueba, LlaveDePrueba } from './prueba.ts'

/** What the document of a proof says, as plain data: whoever draws it reads nothing else. Instants are RFC 3339. */
export interface DatosDePrueba {
  /** The name of the courier company, whose document this is. */
  empresa: string
  comercio: string
  modo: 'live' | 'test'
  guia: string
  external_ref: string | null
  /** The guide's state in words: «Entregado». */
  estado: string
  entregado_en: string
  /** When the delivery was registered with its proof; it is the document's own date. */
  registrado_en: string
  /** The IANA zone in which times are told: «America/Guatemala». */
  zona: string
  url_verificacion: string
  recogida: { nombre: string | null; lat: number | null; lng: number | null }
  destinatario: {
    nombre: string | null
    /** Whole; the document shows its last four digits. */
    telefono: string
    departamento: string
    municipio: string
    direccion: string | null
  }
  contenido: string | null
  recibio: { nombre: string | null; documento: string | null; relacion: string | null }
  /** Where the parcel was handed over, and how far that is from the confirmed place. */
  posicion: { lat: number; lng: number; precision_m: number | null; distancia_m: number | null } | null
  /** What happened to the parcel, oldest first. */
  historial: Hito[]
  fotos: Archivo[]
  firma: Archivo | null
}

/** An event as the document tells it. */
export interface Hito {
  ocurrido_en: string
  /** The event in words: «Paquete en ruta de entrega». */
  descripcion: string
  lugar: string | null
  lat: number | null
  lng: number | null
}

/** A photo or the signature, as the document shows it. */
export interface Archivo {
  /** The name under which the file is listed among the digests. */
  nombre: string
  bytes: Buffer
  /** The digest of the file as it is kept, in hexadecimal. */
  sha256: string
  capturado_en: string | null
}

/** A guide's row, with its merchant's name and its proof. */
export type FilaDeDocumento = FilaGuia & { comercio_nombre: string; prueba: FilaPrueba }

/** How many events of a guide are read, the newest: far more than two pages hold. */
const EVENTOS = 2_000

/**
 * The events up to the delivery: what is scanned later isn't part of the document, nor is what couriers and merchant tell
 * each other.
 */
const HISTORIAL = sentencia<LlaveDePrueba & Pick<FilaPrueba, 'secuencia'>, EventoContado>(
  'pruebas.historial',
  `select tipo, estado, motivo, lat, lng, ocurrido_en, datos from evento
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia <= :secuencia
     and tipo not in ('guia.nota', 'guia.escaneo_tardio')
   order by secuencia desc limit ${EVENTOS}`,
)

type EventoContado = Pick<FilaEvento, 'tipo' | 'estado' | 'motivo' | 'lat' | 'lng' | 'ocurrido_en' | 'datos'>

/** A stored file and its bytes, which are undefined where they can't be read. */
export interface ArchivoLeido {
  fila: FilaArchivo
  contenido: Buffer | undefined
}

/** Reads from rows everything that a guide's document says; nothing of it depends on when it is asked. */
export async function reunirDatos(
  db: Db,
  guia: FilaDeDocumento,
  fotos: readonly ArchivoLeido[],
  firma: ArchivoLeido | undefined,
  { nombreDeEmpresa, urlPublica, zonaHoraria }: Pick<Ajustes, 'nombreDeEmpresa' | 'urlPublica' | 'zonaHoraria'>,
): Promise<DatosDePrueba> {
  const { modo, prueba, recogida, destinatario, telefono, departamento, municipio, direccion } = guia
  const eventos = await db.consultar(HISTORIAL, prueba)
  const { lat, lng, precision_m, distancia_m } = prueba
  return {
    empresa: nombreDeEmpresa,
    comercio: guia.comercio_nombre,
    modo,
    guia: guia.guia,
    external_ref: guia.external_ref,
    estado: DESCRIPCIONES_DE_ESTADO.entregado,
    entregado_en: prueba.entregado_en.toISOString(),
    registrado_en: prueba.registrado_en.toISOString(),
    zona: zonaDe(guia, zonaHoraria),
    url_verificacion: `${urlPublica}/verificar/${guia.guia}`,
    recogida: { nombre: recogida.nombre, lat: recogida.lat, lng: recogida.lng },
    destinatario: { nombre: destinatario, telefono, departamento, municipio, direccion },
    contenido: guia.contenido,
    recibio: { ...prueba.recibido_por, relacion: relacionEnPalabras(prueba.recibido_por) },
    posicion: lat === null || lng === null ? null : { lat, lng, precision_m, distancia_m },
    historial: eventos.reverse().map(enPalabras),
    fotos: fotos.map((foto, i) => presentar(foto, `Foto ${i + 1}`)),
    firma: firma ? presentar(firma, 'Firma') : null,
  }
}

const presentar = ({ fila, contenido }: ArchivoLeido, nombre: string): Archivo => ({
  nombre: `${nombre} · ${fila.archivo}`,
  // What isn't there can't be shown; the document says so, and its digest stays.
  bytes: contenido ?? Buffer.alloc(0),
  sha256: enHexadecimal(fila.sha256),
  capturado_en: fila.capturado_en?.toISOString() ?? null,
})

const DESCRIPCIONES: Readonly<Record<string, string>> = {
  ...DESCRIPCIONES_DE_EVENTO,
  ...Object.fromEntries(Object.entries(DESCRIPCIONES_DE_ESTADO).map(([estado, texto]) => [`guia.${estado}`, texto])),
}

/** Tells an event in the contract's words and not in the courier's, for a customer is to read it. */
function enPalabras({ tipo, motivo, lat, lng, ocurrido_en, datos }: EventoContado): Hito {
  const porque = motivo ? `: ${DESCRIPCIONES_DE_MOTIVO[motivo]}` : ''
  const tarde = datos?.tardio ? ' (se supo después)' : ''
  const descripcion = `${DESCRIPCIONES[tipo] ?? tipo}${porque}${tarde}`
  return { ocurrido_en: ocurrido_en.toISOString(), descripcion, lugar: null, lat, lng }
}

const RELACIONES: Readonly<Record<string, string>> = {
  destinatario: 'Es el destinatario',
  familiar: 'Familiar',
  companero: 'Compañero de trabajo',
  vigilante: 'Vigilante',
  vecino: 'Vecino',
  otro: 'Otra persona',
}

const relacionEnPalabras = ({ relacion }: RecibidoPor) => relacion && (RELACIONES[relacion] ?? relacion)
