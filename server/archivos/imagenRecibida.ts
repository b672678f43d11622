import type { Readable } from 'node:stream'
import type { TipoDeSubida } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import type { Deps } from '../deps.ts'
import { buscarGuia } from '../guias/guia.ts'
import { leerImagen } from '../imagenes/leerImagen.ts'
import { enHexadecimal, guardarArchivo } from './archivo.ts'

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
