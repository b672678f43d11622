import type { DocumentBrand } from '../../platform/brand/brand.ts'
import type { PreparedImage } from '../../platform/images/prepareImage.ts'

/**
 * Content of a proof's document, as plain data for a worker thread; drawing reads nothing else. Instants are RFC 3339.
 */
export interface PruebaData {
  /** Brand of the courier company, which issues the document. */
  brand: DocumentBrand
  comercio: string
  modo: 'live' | 'test'
  guia: string
  external_ref: string | null
  /** The guide's state in words, for example «Entregado». */
  estado: string
  entregado_en: string
  /** Instant at which the delivery was registered with its proof; also the document's own date. */
  registrado_en: string
  /** IANA time zone of the times in the document, for example «America/Guatemala». */
  zona: string
  verificationUrl: string
  recogida: { nombre: string | null; lat: number | null; lng: number | null }
  destinatario: {
    nombre: string | null
    /** Full telephone; the document shows its last four digits. */
    telefono: string | null
    departamento: string
    municipio: string
    direccion: string | null
  }
  contenido: string | null
  /** Courier who handed the parcel over; null if no courier did. */
  repartidor: { repartidor: string; nombre: string } | null
  receiver: {
    nombre: string | null
    /** Full number; the document shows at most its last four digits or letters. */
    documento: string | null
    relacion: string | null
  }
  /** Position where the parcel was handed over, and its distance to the confirmed location. */
  posicion: {
    lat: number
    lng: number
    precision_m: number | null
    distancia_m: number | null
    distancia_avisada_m: number | null
  } | null
  /** Map with the position of the handover in its middle; null if the document has no map. */
  locationMap: { image: PreparedImage; attribution: string } | null
  /** Events of the parcel, oldest first. */
  historial: Milestone[]
  fotos: Archivo[]
  firma: Archivo | null
  /** Reason why the receiver did not sign, in words; null if none was given. */
  sin_firma: string | null
  /**
   * Sentence about a delivery made with an outdated page that did not know the merchant's evidence policy; null for any
   * other delivery.
   */
  pagina_anterior: string | null
}

/** Event as the document shows it. */
export interface Milestone {
  ocurrido_en: string
  /** Event in words, for example «En ruta de entrega». */
  descripcion: string
  lugar: string | null
  lat: number | null
  lng: number | null
}

/** Photo or signature, as the document shows it. */
export interface Archivo {
  /** Name of the file in the table of digests. */
  nombre: string
  /** Undefined if the picture cannot be shown. The document then says so, but still lists the digest. */
  image: PreparedImage | undefined
  /** SHA-256 digest of the stored file, in hexadecimal. */
  sha256: string
  capturado_en: string | null
}
