import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { base32AlAzar } from '../codigos/codigos.ts'
import type { archivo } from '../contrato/generado/prisma/client.ts'
import type { ArchivoDePrueba, Modo, TipoDeArchivo, TipoDeSubida } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import { noteOwners } from '../data/owners.ts'
import { type Consultar, enTransaccion, type Fila, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { noDisponible, Problema } from '../errores.ts'
import { deGuia } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { leerImagen } from '../imagenes/leerImagen.ts'
import { leerInstante } from '../tiempo/instante.ts'
import type { Disposicion } from './enlaces.ts'

/** A row of `archivo`; columns carry the contract's names. */
export type FilaArchivo = Fila<archivo, { modo: Modo; tipo: TipoDeArchivo }>

const PREFIJO = 'arch_'
/** 80 random bits. */
const nuevoCodigoDeArchivo = () => PREFIJO + base32AlAzar(16)

/** Whether a key of the storage may be a file's code that we made: a bucket may hold other people's files, too. */
export const esCodigoDeArchivo = (clave: string) => clave.startsWith(PREFIJO)

/** What is known of a file beside its name and its bytes. */
type DatosDeArchivo = Pick<
  FilaArchivo,
  'tipo' | 'mime' | 'ancho' | 'alto' | 'capturado_en' | 'lat' | 'lng' | 'autor' | 'usado_en'
>

const REGISTRAR = sentencia<
  DatosDeArchivo & Pick<FilaArchivo, 'archivo' | 'comercio_id' | 'bytes' | 'sha256'>,
  FilaArchivo
>(
  'archivos.registrar',
  `with i as (
     update archivo_indice set estado = 'listo' where archivo = :archivo and comercio_id = :comercio_id and estado = 'subiendo'
     returning archivo, comercio_id, modo, guia_id, creado_en
   ), a as (
     insert into archivo as n (comercio_id, modo, guia_id, archivo, tipo, mime, bytes, ancho, alto, sha256, capturado_en, lat,
       lng, autor, usado_en, creado_en)
     select comercio_id, modo, guia_id, archivo, :tipo, :mime, :bytes, :ancho, :alto, :sha256, :capturado_en::timestamptz,
       :lat::float8, :lng::float8, :autor, :usado_en::timestamptz, creado_en from i
     returning n.*
   )
   select * from a`,
)

/**
 * Pictures that one guide takes: more than a proof may name, and as many again for those that were lost or taken anew, for
 * each attempt and for three of them. Who needs no guide but its code can't fill the storage with it.
 */
const IMAGENES = { por_intento: 20, por_guia: 60 }

/** How long a reservation may take to become a file, in milliseconds: the storage answers within ten seconds. */
const EN_CAMINO = 60_000

type DeGuia = Pick<FilaArchivo, 'comercio_id' | 'modo' | 'guia_id'>

/** With those under way, and since the last failed attempt. What a storage that is away keeps from its end isn't counted. */
const CONTAR = sentencia<DeGuia & { desde: Date }, { por_guia: number; por_intento: number }>(
  'archivos.contar',
  `select count(*)::int as por_guia, count(*) filter (where a.creado_en > coalesce((
       select max(registrado_en) from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
         and tipo = 'guia.intento_fallido'), '-infinity'))::int as por_intento
   from (
     select creado_en from archivo where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
       and tipo in ('foto', 'firma') and autor is not null
     union all
     select creado_en from archivo_indice where estado = 'subiendo' and comercio_id = :comercio_id and modo = :modo
       and guia_id = :guia_id and creado_en > :desde) a`,
)

/** Of several uploads for one guide each counts those before it. */
const TURNO = sentencia<Pick<DeGuia, 'guia_id'>>(
  'archivos.turno',
  `select pg_advisory_xact_lock(hashtextextended(:guia_id::uuid::text, 0))`,
  { alcance: 'parte' },
)

const RESERVAR = sentencia<DeGuia & Pick<FilaArchivo, 'archivo' | 'creado_en'>>(
  'archivos.reservar',
  `insert into archivo_indice (archivo, comercio_id, modo, guia_id, estado, creado_en)
   values (:archivo, :comercio_id, :modo, :guia_id, 'subiendo', :creado_en)`,
)

/** @throws Problema 409 if the guide has as many pictures as it takes */
async function exigirCupo(consultar: Consultar, suya: DeGuia, ahora: Date): Promise<void> {
  const [cuenta] = await consultar(CONTAR, { ...suya, desde: new Date(ahora.getTime() - EN_CAMINO) })
  const lleno = (['por_guia', 'por_intento'] as const).find((cual) => cuenta![cual] >= IMAGENES[cual])
  if (!lleno) return
  const cuales = lleno === 'por_guia' ? 'La guía' : 'Este intento de entrega'
  throw new Problema('limite_de_imagenes', `${cuales} ya tiene ${IMAGENES[lleno]} imágenes. Use las que subió.`)
}

/** A file that is to be kept: its bytes, and what is known of them. */
export type ArchivoParaGuardar = DatosDeArchivo & { contenido: Buffer }

/**
 * Keeps a file of a guide: reserves its name, makes its bytes safe, then writes the row that says so; wherever a
 * crash ends it, either the row stands with its file, or the reservation tells the sweeper what to delete.
 */
export async function guardarArchivo(
  { db, almacen, reloj }: Pick<Deps, 'db' | 'almacen' | 'reloj'>,
  guia: Pick<FilaGuia, 'comercio_id' | 'modo' | 'id'>,
  { contenido, ...datos }: ArchivoParaGuardar,
): Promise<FilaArchivo> {
  const archivo = nuevoCodigoDeArchivo()
  const suya = deGuia(guia)
  const { comercio_id } = guia
  await noteOwners(db, [{ key: archivo, merchant: comercio_id }])
  const reservar = (consultar: Consultar) => consultar(RESERVAR, { ...suya, archivo, creado_en: reloj() })
  if (datos.autor === null) await reservar(db.consultar)
  else {
    await enTransaccion(db.de(comercio_id), async (consultar) => {
      await consultar(TURNO, suya)
      await exigirCupo(consultar, suya, reloj())
      await reservar(consultar)
    })
  }
  await almacen.guardar(archivo, contenido, datos.mime)
  const sha256 = createHash('sha256').update(contenido).digest()
  const [fila] = await db.consultar(REGISTRAR, { ...datos, archivo, comercio_id, bytes: contenido.length, sha256 })
  // It took so long that it was swept meanwhile.
  if (!fila) throw noDisponible('La subida tardó demasiado. Repítala.')
  return fila
}

/** A digest in hexadecimal, as the contract has it. */
export const enHexadecimal = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** A file's row as the contract's file of a proof, with a link that is good from now on for a while. */
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

/**
 * Receives an operator's or a courier's picture of a guide, and keeps it for the delivery that will name it.
 * @param permitir refuses who may not bring any
 * @param tomada when it was taken, as whoever brings it says; what the picture itself says counts for more
 */
export async function recibirImagen(
  { db, reloj, almacen, recepcion }: Pick<Deps, 'db' | 'reloj' | 'almacen' | 'recepcion'>,
  { autor, permitir }: { autor: string; permitir?: (guia: FilaGuia) => void },
  codigo: string,
  tipo: TipoDeSubida,
  contenido: Readable,
  tomada?: string,
): Promise<Respuesta<'subirArchivo'>> {
  const guia = await buscarGuia(db, 'todos', codigo)
  permitir?.(guia)
  // Before a byte is read; it is counted again when there is a picture to keep.
  await exigirCupo(db.consultar, deGuia(guia), reloj())
  const fila = await recepcion.recibir(contenido, async (ruta, enTurno) => {
    const imagen = await enTurno(() => leerImagen(ruta, tipo))
    return guardarArchivo({ db, almacen, reloj }, guia, {
      ...imagen,
      capturado_en: imagen.capturado_en ?? (tomada === undefined ? null : (leerInstante(tomada) ?? null)),
      tipo,
      autor,
      usado_en: null,
    })
  })
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
