import { menorId, normalizarCodigoDeGuia } from '../codigos/codigos.ts'
import type {
  CanalDeMensaje,
  Estado,
  EstadoDeMensaje,
  Guia,
  Modo,
  Ubicacion,
} from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia, sentenciaDe } from '../db.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import { leerInstante } from '../formatos.ts'
import type { Cursores } from '../listas/cursor.ts'
import { type Paginacion, paginar } from '../listas/pagina.ts'
import { leerTelefono } from '../telefonos/telefono.ts'
import { type AdvertenciaGuardada, presentarAdvertencias } from './advertencias.ts'

/** How the request to the recipient goes; instants are texts, as JSON keeps them. */
interface Solicitud {
  numero: number
  canal: CanalDeMensaje
  estado: EstadoDeMensaje
  creado_en: string
  enviado_en?: string
  entregado_en?: string
  leido_en?: string
  vence_en?: string
  motivo?: string
}

/** What is known of a place besides its coordinates: `guia.ubicacion_extra`. */
interface UbicacionExtra {
  /** The link with which it was confirmed, unless that is the guide's own `maps_url`. */
  enlace?: string
  precision_m?: number
  referencia?: string
  distancia_km?: number
  confirmado_en?: string
  solicitud?: Solicitud
}

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

/** A guide's place → the contract's. */
export function presentarUbicacion(fila: FilaGuia): Ubicacion {
  const { enlace, precision_m, referencia, distancia_km, confirmado_en, solicitud } = fila.ubicacion_extra ?? {}
  const confirmada = fila.ubicacion_estado === 'confirmada'
  return {
    estado: fila.ubicacion_estado,
    origen: fila.ubicacion_origen,
    lat: fila.ubicacion_lat,
    lng: fila.ubicacion_lng,
    maps_url: enlace ?? (fila.ubicacion_origen === 'maps_url' ? fila.maps_url : null),
    precision_m: precision_m ?? null,
    referencia: referencia ?? null,
    distancia_km: distancia_km ?? null,
    confirmado_en: confirmada ? (confirmado_en ?? fila.creado_en.toISOString()) : null,
    solicitud: solicitud
      ? {
          canal: solicitud.canal,
          estado: solicitud.estado,
          numero: solicitud.numero,
          creado_en: instante(solicitud.creado_en)!,
          enviado_en: instante(solicitud.enviado_en),
          entregado_en: instante(solicitud.entregado_en),
          leido_en: instante(solicitud.leido_en),
          vence_en: instante(solicitud.vence_en),
          motivo: solicitud.motivo ?? null,
        }
      : null,
  }
}

/** PostgreSQL writes instants into JSON in its own form. */
const instante = (texto: string | undefined) => (texto === undefined ? null : new Date(texto).toISOString())

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

/** What a list of guides may be narrowed by; several add up. */
export interface Filtros extends Paginacion {
  comercioId?: string
  modo?: Modo
  estado?: readonly Estado[]
  external_ref?: string
  telefono?: string
  creado_desde?: string
  creado_hasta?: string
}

type FilaDeLista = FilaGuia & { comercio: string }

/**
 * A page of guides, newest first. The id is a UUIDv7 of the creation's instant, so one keyset on the id serves the order,
 * the cursor and both date filters, at the same cost at any depth. With `estado`, each state is read from its own index
 * range and the ranges are merged: a rare state is found without walking over the others.
 */
export function buscarPagina<Dato>(
  { db, cursores }: { db: Db; cursores: Cursores },
  quien: { operacion: string; dueno: string },
  filtros: Filtros,
  presentar: (fila: FilaDeLista) => Dato,
) {
  const { limite, cursor, estado, ...resto } = filtros
  const estados = estado && [...new Set(estado)].sort()
  const ambito = { ...quien, filtros: { ...resto, estado: estados } }
  return paginar(
    cursores,
    ambito,
    { ...(limite ? { limite } : {}), ...(cursor ? { cursor } : {}) },
    {
      leer: (despues, cuantas) =>
        leer(db, { ...resto, ...(estados ? { estado: estados } : {}) }, despues?.[0] as string | undefined, cuantas),
      posicion: ({ id }) => [id],
      presentar,
    },
  )
}

function leer(db: Db, filtros: Filtros, antesDe: string | undefined, cuantas: number): Promise<FilaDeLista[]> {
  const valores: unknown[] = []
  const $ = (valor: unknown) => `$${valores.push(valor)}`
  const condiciones: string[] = []
  if (filtros.comercioId) condiciones.push(`comercio_id = ${$(filtros.comercioId)}`)
  if (filtros.modo) condiciones.push(`modo = ${$(filtros.modo)}`)
  if (filtros.external_ref !== undefined) condiciones.push(`external_ref = ${$(filtros.external_ref.normalize('NFC'))}`)
  if (filtros.telefono !== undefined) condiciones.push(`telefono = ${$(e164(filtros.telefono))}`)
  if (filtros.creado_desde) condiciones.push(`id >= ${$(menorId(leerInstante(filtros.creado_desde)!))}`)
  if (filtros.creado_hasta) condiciones.push(`id < ${$(menorId(leerInstante(filtros.creado_hasta)!))}`)
  if (antesDe) condiciones.push(`id < ${$(antesDe)}`)
  const limite = $(cuantas)
  const pagina = (mas: string[]) =>
    `(select * from guia where ${[...condiciones, ...mas].join(' and ') || 'true'} order by id desc limit ${limite})`
  // One branch a state, each with its own constant: the planner then reads each from its range of the index.
  const ramas = filtros.estado?.map((estado) => pagina([`estado = ${$(estado)}`])) ?? [pagina([])]
  const guias =
    ramas.length === 1 ? ramas[0] : `select * from (${ramas.join(' union all ')}) x order by id desc limit ${limite}`
  const text = `select g.*, c.comercio from (${guias}) g join comercio c on c.id = g.comercio_id order by g.id desc`
  return db.consultar<FilaDeLista>(sentenciaDe(text), valores)
}

function e164(texto: string): string {
  const telefono = leerTelefono(texto)
  if ('error' in telefono)
    throw problemaDeFallas('parametro_invalido', [
      { campo: 'telefono', codigo: 'formato_invalido', mensaje: telefono.error },
    ])
  return telefono.e164
}
