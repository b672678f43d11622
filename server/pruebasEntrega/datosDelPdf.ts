import { enHexadecimal, type FilaArchivo } from '../archivos/archivo.ts'
import type { Estado, Motivo, RecibidoPor, TipoDeEvento } from '../contrato/generado/tipos/index.ts'
import {
  DESCRIPCIONES_DE_ESTADO,
  DESCRIPCIONES_DE_EVENTO,
  DESCRIPCIONES_DE_MOTIVO,
} from '../contrato/generado/vocabulario.ts'
import { type Db, sentencia } from '../db.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { zonaDe } from '../tiempo/zona.ts'
import type { FilaPrueba } from './prueba.ts'

/** What the document of a proof says, as plain data: whoever draws it reads nothing else. Instants are RFC 3339. */
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

/** A guide's row with what the document says beside it. */
export type FilaDeDocumento = FilaGuia & { comercio_nombre: string; prueba: FilaPrueba }

/** Of the newest ones: far more than two pages hold. */
const EVENTOS = 2_000

/** Up to the delivery and no further: what is scanned later is not part of it. What couriers and merchant tell each other isn't either. */
const HISTORIAL = sentencia(
  'pruebas.historial',
  `select tipo, estado, motivo, lat, lng, ocurrido_en, datos from evento
   where comercio_id = $1 and modo = $2 and guia_id = $3 and secuencia <= $4 and tipo not in ('guia.nota', 'guia.escaneo_tardio')
   order by secuencia desc limit ${EVENTOS}`,
)

interface EventoContado {
  tipo: TipoDeEvento
  estado: Estado
  motivo: Motivo | null
  lat: number | null
  lng: number | null
  ocurrido_en: Date
  datos: { tardio?: boolean } | null
}

/** A stored file, and its bytes: undefined where they can't be read. */
export interface ArchivoLeido {
  fila: FilaArchivo
  contenido: Buffer | undefined
}

/** Everything that the document says, from rows. Nothing in it depends on when it is asked. */
export async function reunirDatos(
  db: Db,
  guia: FilaDeDocumento,
  fotos: readonly ArchivoLeido[],
  firma: ArchivoLeido | undefined,
  { mensajeria, urlPublica, zonaHoraria }: { mensajeria: string; urlPublica: string; zonaHoraria: string | undefined },
): Promise<DatosDePrueba> {
  const { comercio_id, modo, id, prueba, recogida, destinatario, telefono, departamento, municipio, direccion } = guia
  const eventos = await db.consultar<EventoContado>(HISTORIAL, [comercio_id, modo, id, prueba.secuencia])
  const { lat, lng, precision_m, distancia_m } = prueba
  return {
    mensajeria,
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

/** The contract's words and not the courier's: a customer is to read them. */
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
