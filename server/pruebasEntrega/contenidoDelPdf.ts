import type { Imagen } from '../imagenes/prepararImagen.ts'
import type { MarcaDeDocumento } from '../marca/marca.ts'

/** What the document of a proof says, as plain data that goes to a thread: whoever draws it reads nothing else. Instants are RFC 3339. */
export interface DatosDePrueba {
  /** The courier company, whose document this is. */
  marca: MarcaDeDocumento
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
    telefono: string | null
    departamento: string
    municipio: string
    direccion: string | null
  }
  contenido: string | null
  /** The courier who handed the parcel over; null if it was none. */
  repartidor: { repartidor: string; nombre: string } | null
  recibio: { nombre: string | null; documento: string | null; relacion: string | null }
  /** Where the parcel was handed over, and how far that is from the confirmed place. */
  posicion: {
    lat: number
    lng: number
    precision_m: number | null
    distancia_m: number | null
    distancia_avisada_m: number | null
  } | null
  /** A map with that point in its middle; null: the document has none. */
  mapa: { imagen: Imagen; atribucion: string } | null
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
  /** Undefined where it can't be shown; the document says so, and its digest stays. */
  imagen: Imagen | undefined
  /** The digest of the file as it is kept, in hexadecimal. */
  sha256: string
  capturado_en: string | null
}
