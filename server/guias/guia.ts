import { normalizarCodigoDeGuia } from '../codigos/codigos.ts'
import type { Estado, Guia, GuiaIndividual, Modo } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import { Problema } from '../errores.ts'
import { leerEnlace } from '../mapas/enlaces.ts'
import { leerTelefono } from '../telefonos/telefono.ts'
import { presentarUbicacion, type UbicacionExtra } from '../ubicacion/ubicacion.ts'
import { type AdvertenciaGuardada, juzgarDestino, presentarAdvertencias } from './advertencias.ts'

/** A row of `guia`; columns carry the contract's names. */
export interface FilaGuia {
  comercio_id: string
  modo: Modo
  id: string
  guia: string
  external_ref: string | null
  huellas: Record<string, string> | null
  estado: Estado
  estado_en: Date
  telefono: string
  destinatario: string | null
  departamento: string
  municipio: string
  direccion: string | null
  indicaciones: string | null
  contenido: string | null
  lat: number | null
  lng: number | null
  maps_url: string | null
  recogida: Guia['recogida']
  ubicacion_estado: Guia['ubicacion']['estado']
  ubicacion_origen: Guia['ubicacion']['origen']
  ubicacion_lat: number | null
  ubicacion_lng: number | null
  ubicacion_extra: UbicacionExtra | null
  intentos: number
  advertencias: readonly AdvertenciaGuardada[]
  secuencia: number
  creado_en: Date
  actualizado_en: Date
}

/** The part of a row that the request decides. */
export type DatosDeGuia = Omit<
  FilaGuia,
  | 'comercio_id'
  | 'modo'
  | 'id'
  | 'guia'
  | 'huellas'
  | 'estado'
  | 'estado_en'
  | 'intentos'
  | 'secuencia'
  | 'creado_en'
  | 'actualizado_en'
>

const TELEFONO_DUDOSO: AdvertenciaGuardada = { codigo: 'telefono_dudoso', campo: '/telefono' }
const ENLACE_SIN_COORDENADAS: AdvertenciaGuardada = { codigo: 'enlace_sin_coordenadas', campo: '/maps_url' }

/** A valid request (its texts in NFC since they were read) → what is stored: E.164, the pickup resolved, the place read from coordinates or link. */
export function normalizar(cuerpo: GuiaIndividual): DatosDeGuia {
  const telefono = leerTelefono(cuerpo.telefono)
  if ('error' in telefono) throw new Error('telefono was not validated')
  const ubicacion = ubicar(cuerpo)
  const destino = juzgarDestino(cuerpo, ubicacion)
  return {
    external_ref: cuerpo.external_ref ?? null,
    telefono: telefono.e164,
    destinatario: cuerpo.destinatario ?? null,
    departamento: cuerpo.departamento,
    municipio: cuerpo.municipio,
    direccion: cuerpo.direccion ?? null,
    indicaciones: cuerpo.indicaciones ?? null,
    contenido: cuerpo.contenido ?? null,
    lat: cuerpo.lat ?? null,
    lng: cuerpo.lng ?? null,
    maps_url: cuerpo.maps_url ?? null,
    recogida: {
      nombre: cuerpo.recogida.nombre ?? null,
      lat: cuerpo.recogida.lat ?? null,
      lng: cuerpo.recogida.lng ?? null,
      maps_url: cuerpo.recogida.maps_url ?? null,
    },
    ...ubicacion,
    ubicacion_extra: destino.distancia_km === null ? null : { distancia_km: destino.distancia_km },
    advertencias: [
      ...(telefono.dudoso ? [TELEFONO_DUDOSO] : []),
      ...(ubicacion.ubicacion_origen === 'maps_url' && ubicacion.ubicacion_lat === null
        ? [ENLACE_SIN_COORDENADAS]
        : []),
      ...destino.advertencias,
    ],
  }
}

type Lugar = Pick<FilaGuia, 'ubicacion_estado' | 'ubicacion_origen' | 'ubicacion_lat' | 'ubicacion_lng'>

/** Coordinates win over a link; a link without coordinates still is the merchant's word for the place; neither: ask. */
function ubicar({ lat, lng, maps_url }: GuiaIndividual): Lugar {
  if (lat !== undefined && lng !== undefined) {
    return { ubicacion_estado: 'confirmada', ubicacion_origen: 'coordenadas', ubicacion_lat: lat, ubicacion_lng: lng }
  }
  if (maps_url === undefined) {
    return { ubicacion_estado: 'solicitada', ubicacion_origen: null, ubicacion_lat: null, ubicacion_lng: null }
  }
  const enlace = leerEnlace(maps_url)
  const leidas = enlace.tipo === 'coordenadas' ? enlace.coordenadas : undefined
  return {
    ubicacion_estado: 'confirmada',
    ubicacion_origen: 'maps_url',
    ubicacion_lat: leidas?.lat ?? null,
    ubicacion_lng: leidas?.lng ?? null,
  }
}

/** A row → the contract's guide. Rows never leave by another way. */
export function presentar(fila: FilaGuia): Guia {
  return {
    guia: fila.guia,
    estado: fila.estado,
    modo: fila.modo,
    external_ref: fila.external_ref,
    telefono: fila.telefono,
    destinatario: fila.destinatario,
    departamento: fila.departamento,
    municipio: fila.municipio,
    direccion: fila.direccion,
    indicaciones: fila.indicaciones,
    contenido: fila.contenido,
    lat: fila.lat,
    lng: fila.lng,
    maps_url: fila.maps_url,
    recogida: fila.recogida,
    ubicacion: presentarUbicacion(fila),
    intentos: fila.intentos,
    advertencias: presentarAdvertencias(fila),
    secuencia: fila.secuencia,
    creado_en: fila.creado_en.toISOString(),
    actualizado_en: fila.actualizado_en.toISOString(),
  }
}

/** Whose guides are meant: one merchant's of one mode, or anybody's (the operator's). */
export type Ambito = { comercioId: string; modo: Modo } | 'todos'

const BUSCAR = sentencia(
  'guias.buscar',
  `select g.*, c.comercio from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = $1 and ($2::uuid is null or (i.comercio_id = $2 and i.modo = $3))`,
)

/** @throws Problema 404: unknown, malformed and another merchant's are the same answer. */
export function desconocida(ambito: Ambito): never {
  const donde = ambito === 'todos' ? '' : ' en el modo de esta llave'
  throw new Problema('guia_desconocida', `No hay ninguna guía con ese identificador${donde}.`)
}

/** What a person typed → the code that may name a guide. @throws Problema 404 */
export const exigirCodigo = (ambito: Ambito, codigo: string): string =>
  normalizarCodigoDeGuia(codigo) ?? desconocida(ambito)

/** The guide that `codigo` names, as typed by a person, and whose it is. @throws Problema 404 */
export async function buscarGuia(db: Db, ambito: Ambito, codigo: string): Promise<FilaGuia & { comercio: string }> {
  const de = ambito === 'todos' ? [null, null] : [ambito.comercioId, ambito.modo]
  const [fila] = await db.consultar<FilaGuia & { comercio: string }>(BUSCAR, [exigirCodigo(ambito, codigo), ...de])
  return fila ?? desconocida(ambito)
}

export { juzgarDestino, LEJOS } from './advertencias.ts'
/** A page of guides, for the merchant's list and the operator's search. */
export { buscarPagina } from './lista.ts'
