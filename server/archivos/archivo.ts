import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { base32AlAzar } from '../codigos/codigos.ts'
import type { ArchivoDePrueba, TipoDeArchivo, TipoDeSubida } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { noDisponible } from '../errores.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { leerImagen } from '../imagenes/leerImagen.ts'
import type { Disposicion } from './enlaces.ts'

/** A row of `archivo`; columns carry the contract's names. */
export interface FilaArchivo {
  archivo: string
  tipo: TipoDeArchivo
  mime: string
  bytes: number
  ancho: number | null
  alto: number | null
  sha256: Uint8Array
  capturado_en: Date | null
  lat: number | null
  lng: number | null
  autor: string | null
  usado_en: Date | null
  creado_en: Date
}

const PREFIJO = 'arch_'
/** 80 random bits. */
const nuevoCodigoDeArchivo = () => PREFIJO + base32AlAzar(16)

/** Whether we may have given that name to a file: a bucket may hold other people's, too. */
export const esCodigoDeArchivo = (clave: string) => clave.startsWith(PREFIJO)

const RESERVAR = sentencia(
  'archivos.reservar',
  `insert into archivo_indice (archivo, comercio_id, modo, guia_id, estado, creado_en)
   values ($1, $2, $3, $4, 'subiendo', $5)`,
)
const REGISTRAR = sentencia(
  'archivos.registrar',
  `with i as (
     update archivo_indice set estado = 'listo' where archivo = $1 and estado = 'subiendo'
     returning archivo, comercio_id, modo, guia_id, creado_en
   )
   insert into archivo (comercio_id, modo, guia_id, archivo, tipo, mime, bytes, ancho, alto, sha256, capturado_en, lat, lng,
     autor, usado_en, creado_en)
   select comercio_id, modo, guia_id, archivo, $2, $3, $4, $5, $6, $7, $8::timestamptz, $9::float8, $10::float8, $11,
     $12::timestamptz, creado_en from i
   returning *`,
)

/** What is to be kept, and what is known of it. */
export type ArchivoParaGuardar = Omit<FilaArchivo, 'archivo' | 'bytes' | 'sha256' | 'creado_en'> & {
  contenido: Buffer
}

/**
 * Keeps a file of a guide: first its name is reserved, then the bytes are made safe, then the row says that they are. Where
 * a crash ends it, either the row is there and its file, too, or the reservation tells the sweeper what to delete.
 */
export async function guardarArchivo(
  { db, almacen, reloj }: Pick<Deps, 'db' | 'almacen' | 'reloj'>,
  guia: Pick<FilaGuia, 'comercio_id' | 'modo' | 'id'>,
  { contenido, tipo, mime, ancho, alto, capturado_en, lat, lng, autor, usado_en }: ArchivoParaGuardar,
): Promise<FilaArchivo> {
  const archivo = nuevoCodigoDeArchivo()
  await db.consultar(RESERVAR, [archivo, guia.comercio_id, guia.modo, guia.id, reloj()])
  await almacen.guardar(archivo, contenido, mime)
  const sha256 = createHash('sha256').update(contenido).digest()
  const valores = [archivo, tipo, mime, contenido.length, ancho, alto, sha256, capturado_en, lat, lng, autor, usado_en]
  const [fila] = await db.consultar<FilaArchivo>(REGISTRAR, valores)
  // It took so long that it was swept meanwhile.
  if (!fila) throw noDisponible('La subida tardó demasiado. Repítala.')
  return fila
}

export const enHexadecimal = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** A row → the contract's file of a proof, with a link that is good from now on for a while. */
export function presentarArchivo(
  { enlacesDeArchivos }: Pick<Deps, 'enlacesDeArchivos'>,
  { archivo, tipo, mime, bytes, ancho, alto, sha256, capturado_en }: FilaArchivo,
  disp: Disposicion = 'inline',
): ArchivoDePrueba {
  return {
    archivo,
    tipo,
    mime,
    ...enlacesDeArchivos.crear(archivo, disp),
    bytes,
    ancho,
    alto,
    sha256: enHexadecimal(sha256),
    capturado_en: capturado_en?.toISOString() ?? null,
  }
}

/** An operator's or a courier's picture of a guide, kept for the delivery that will name it. */
export async function recibirImagen(
  { db, reloj, almacen, recepcion }: Pick<Deps, 'db' | 'reloj' | 'almacen' | 'recepcion'>,
  autor: string,
  codigo: string,
  tipo: TipoDeSubida,
  contenido: Readable,
): Promise<Respuesta<'subirArchivo'>> {
  const guia = await buscarGuia(db, 'todos', codigo)
  const fila = await recepcion.recibir(contenido, async (ruta, enTurno) =>
    guardarArchivo({ db, almacen, reloj }, guia, {
      ...(await enTurno(() => leerImagen(ruta, tipo))),
      tipo,
      autor,
      usado_en: null,
    }),
  )
  const { archivo, mime, bytes, ancho, alto, sha256, capturado_en, lat, lng } = fila
  return {
    status: 201,
    body: {
      archivo,
      tipo,
      mime,
      bytes,
      ancho,
      alto,
      sha256: enHexadecimal(sha256),
      capturado_en: capturado_en?.toISOString() ?? null,
      lat,
      lng,
    },
  }
}
