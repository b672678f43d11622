/** What the proof of delivery says. Plain data: the caller maps its rows, the renderer reads nothing else. Instants are RFC 3339. */
export interface DatosDePrueba {
  /** The courier company, whose document this is. */
  mensajeria: string
  comercio: string
  modo: 'live' | 'test'
  guia: string
  external_ref: string | null
  /** The state in words: «Entregado». */
  estado: string
  entregado_en: string
  /** When the delivery was registered with its proof; the document's own date. */
  registrado_en: string
  /** IANA zone in which times are told: «America/Guatemala». */
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
  /** Where it was handed over, and how far from the confirmed place. */
  posicion: { lat: number; lng: number; precision_m: number | null; distancia_m: number | null } | null
  /** Oldest first. */
  historial: Hito[]
  fotos: Archivo[]
  firma: Archivo | null
}

export interface Hito {
  ocurrido_en: string
  /** In words: «Paquete en ruta de entrega». */
  descripcion: string
  lugar: string | null
  lat: number | null
  lng: number | null
}

export interface Archivo {
  /** As it is listed among the digests. */
  nombre: string
  bytes: Buffer
  /** Hexadecimal, of the file as it is kept. */
  sha256: string
  capturado_en: string | null
}
