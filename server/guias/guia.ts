import { menorId, normalizarCodigoDeGuia } from '../codigos/codigos.ts'
import type { guia } from '../contrato/generado/prisma/client.ts'
import type {
  Advertencia,
  CanalDeMensaje,
  Estado,
  EstadoDeMensaje,
  Guia,
  Modo,
  Ubicacion,
} from '../contrato/generado/tipos/index.ts'
import { whereIs } from '../data/owners.ts'
import { conTextos, type Db, type EnJson, type Fila, sentencia, sentenciaDe } from '../db.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import { esFinal } from '../estados/estados.ts'
import type { Cursores } from '../listas/cursor.ts'
import { type Paginacion, paginar } from '../listas/pagina.ts'
import { leerTelefono } from '../telefonos/telefono.ts'
import { iso, leerInstante } from '../tiempo/instante.ts'
import { type AdvertenciaGuardada, presentarAdvertencias } from './advertencias.ts'

/** How the request for the place to the recipient goes; instants are texts, as JSON keeps them. */
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
  /** The link with which the place was confirmed, unless that is the guide's own `maps_url`. */
  enlace?: string
  precision_m?: number
  referencia?: string
  distancia_km?: number
  confirmado_en?: string
  solicitud?: Solicitud
}

/** A row of `guia`; columns carry the contract's names. */
export type FilaGuia = Fila<
  guia,
  {
    modo: Modo
    estado: Estado
    recogida: Guia['recogida']
    ubicacion_estado: Guia['ubicacion']['estado']
    ubicacion_origen: Guia['ubicacion']['origen']
    ubicacion_extra: UbicacionExtra | null
    advertencias: readonly AdvertenciaGuardada[]
  }
>

const MOSTRADAS = [
  ...(['guia', 'estado', 'modo', 'external_ref', 'telefono', 'destinatario', 'departamento', 'municipio'] as const),
  ...(['direccion', 'indicaciones', 'contenido', 'lat', 'lng', 'maps_url', 'recogida', 'ubicacion_estado'] as const),
  ...(['ubicacion_origen', 'ubicacion_lat', 'ubicacion_lng', 'ubicacion_extra', 'intentos'] as const),
  ...(['advertencias', 'secuencia', 'creado_en', 'actualizado_en', 'datos_borrados_en'] as const),
] as const

/** What the contract shows of a guide, its instants as texts. */
export type GuiaLeida = EnJson<Pick<FilaGuia, (typeof MOSTRADAS)[number]>>

/** SQL of the columns of {@link GuiaLeida} of `g`. */
export const COLUMNAS_DE_GUIA = conTextos(MOSTRADAS, 'g.')

/** Returns a row of `guia` as the contract's guide of today, with what follows from the state of its request. */
export const presentar = (fila: FilaGuia | GuiaLeida): Guia => presentarGuardada(conDeducido(fila))

/**
 * Returns a row of `guia` as the contract's guide, of what is stored alone: a webhook's body is made again from the picture
 * of its event, and must be the same whatever a later version deduces.
 */
export function presentarGuardada(fila: FilaGuia | GuiaLeida): Guia {
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
    recogida: presentarRecogida(fila.recogida),
    ubicacion: presentarUbicacion(fila),
    intentos: fila.intentos,
    advertencias: presentarAdvertencias(fila),
    secuencia: fila.secuencia,
    creado_en: iso(fila.creado_en),
    actualizado_en: iso(fila.actualizado_en),
    datos_borrados_en: fila.datos_borrados_en && iso(fila.datos_borrados_en),
  }
}

/**
 * Reports whether a request for the place has no way out: the mailbox is for test guides, so a live one waits there until
 * the service has messaging (`mensajeria/retomar.ts`).
 */
export const sinSalida = (modo: Modo, canal: CanalDeMensaje) => modo === 'live' && canal === 'buzon'
/** SQL of {@link sinSalida}. */
export const esSinSalida = (modo: string, canal: string) => `(${modo} = 'live' and ${canal} = 'buzon')`
/**
 * SQL of the instant at which a new request is due. One without a way out is due at the end of the index that the feeder
 * reads, where no round comes to it.
 */
export const venceAlCrear = (modo: string, canal: string, ahora: string) =>
  `case when ${esSinSalida(modo, canal)} then '9999-12-31T00:00:00Z'::timestamptz else ${ahora} end`

/** Reports whether the answer to a request for the place still matters to the guide. */
const esperaLugar = ({ estado, ubicacion_estado }: Pick<GuiaLeida, 'estado' | 'ubicacion_estado'>) =>
  ubicacion_estado !== 'confirmada' && !esFinal(estado)

/**
 * Returns a request's state as it is told. No worker looks at a request without a way out, so none drops it when its guide
 * stops needing the answer.
 */
export const estadoDeSolicitud = <E extends string>(
  guia: Pick<GuiaLeida, 'modo' | 'estado' | 'ubicacion_estado'>,
  { canal, estado }: { canal: CanalDeMensaje; estado: E },
): E | 'descartado' =>
  estado === 'pendiente' && sinSalida(guia.modo, canal) && !esperaLugar(guia) ? 'descartado' : estado

const SIN_MENSAJERIA: AdvertenciaGuardada = { codigo: 'sin_mensajeria', campo: '/ubicacion' }

/**
 * Returns the row with the state of its request as it is told, and warned of if the guide waits for a recipient who is not
 * asked. A request that an earlier version put into the mailbox, as sent, reached nobody either.
 */
function conDeducido<F extends FilaGuia | GuiaLeida>(fila: F): F {
  const { solicitud } = fila.ubicacion_extra ?? {}
  if (!solicitud || !sinSalida(fila.modo, solicitud.canal)) return fila
  const estado = estadoDeSolicitud(fila, solicitud)
  const nadiePregunta = (estado === 'pendiente' || estado === 'enviado') && esperaLugar(fila)
  return {
    ...fila,
    ubicacion_extra: { ...fila.ubicacion_extra, solicitud: { ...solicitud, estado } },
    advertencias: nadiePregunta ? [...fila.advertencias, SIN_MENSAJERIA] : fila.advertencias,
  }
}

/** Returns a guide's warnings: those kept in its row, and the one that follows from the state of its request. */
export const advertenciasDe = (fila: FilaGuia | GuiaLeida): Advertencia[] => presentarAdvertencias(conDeducido(fila))

/** A pickup with its members in one order: jsonb has an order of its own, and a body that is made again must be the same. */
const presentarRecogida = ({ nombre, lat, lng, maps_url }: Guia['recogida']): Guia['recogida'] => ({
  nombre,
  lat,
  lng,
  maps_url,
})

/** The place of a guide's row as the contract has it. */
function presentarUbicacion(fila: FilaGuia | GuiaLeida): Ubicacion {
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
    confirmado_en: confirmada ? (confirmado_en ?? iso(fila.creado_en)) : null,
    solicitud: solicitud
      ? {
          canal: solicitud.canal,
          estado: solicitud.estado,
          numero: solicitud.numero,
          creado_en: iso(solicitud.creado_en),
          enviado_en: instante(solicitud.enviado_en),
          entregado_en: instante(solicitud.entregado_en),
          leido_en: instante(solicitud.leido_en),
          vence_en: instante(solicitud.vence_en),
          motivo: solicitud.motivo ?? null,
        }
      : null,
  }
}

const instante = (texto: string | undefined) => (texto === undefined ? null : iso(texto))

/** Whose guides are meant: one merchant's of one mode, or anybody's (the operator's). */
export type Ambito = { comercioId: string; modo: Modo } | 'todos'

/** An {@link Ambito} as a statement's parameters; null is everybody's. */
export interface AmbitoEnFilas {
  comercio_id: string | null
  modo: Modo | null
}

export const enFilas = (ambito: Ambito): AmbitoEnFilas =>
  ambito === 'todos' ? { comercio_id: null, modo: null } : { comercio_id: ambito.comercioId, modo: ambito.modo }

const BUSCAR = sentencia<{ guia: string } & AmbitoEnFilas, FilaGuia & { comercio: string }>(
  'guias.buscar',
  `select g.*, c.comercio from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = :guia and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))`,
)

/**
 * Says that there is no such guide; unknown, malformed and another merchant's are the same answer.
 * @throws Problema 404
 */
export function desconocida(ambito: Ambito): never {
  const donde = ambito === 'todos' ? '' : ' en el modo de esta llave'
  throw new Problema('guia_desconocida', `No hay ninguna guía con ese identificador${donde}.`)
}

/** The guide's code that a person typed, in its one form. @throws Problema 404 when it can't be one */
export const exigirCodigo = (ambito: Ambito, codigo: string): string =>
  normalizarCodigoDeGuia(codigo) ?? desconocida(ambito)

/** The guide that `codigo` names, as typed by a person, and whose it is. @throws Problema 404 */
export async function buscarGuia(db: Db, ambito: Ambito, codigo: string): Promise<FilaGuia & { comercio: string }> {
  const guia = exigirCodigo(ambito, codigo)
  const donde = ambito === 'todos' ? await whereIs(db, guia) : db
  const [fila] = (await donde?.consultar(BUSCAR, { guia, ...enFilas(ambito) })) ?? []
  return fila ?? desconocida(ambito)
}

/** The filters of a list of guides, which add up. */
export interface Filtros extends Paginacion {
  comercioId?: string
  modo?: Modo
  estado?: readonly Estado[]
  external_ref?: string
  telefono?: string
  creado_desde?: string
  creado_hasta?: string
}

type FilaDeLista = GuiaLeida & Pick<FilaGuia, 'id' | 'custodio'> & { comercio: string }

/**
 * A page of guides, newest first. The id is a UUIDv7 of the creation's instant, so one keyset on the id serves the order,
 * the cursor and both date filters, at the same cost at any depth. With `estado`, each state is read from its own index
 * range and the ranges are merged: a rare state is found without walking over the others.
 */
export function buscarPagina<Dato>(
  { db, cursores }: { db: Pick<Db, 'consultar'>; cursores: Cursores },
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

/** With more filters than this a list is planned anew each time (0.1 ms more): together they make 1,536 statements. */
const FILTROS_COMUNES = 1

function leer(
  db: Pick<Db, 'consultar'>,
  filtros: Filtros,
  antesDe: string | undefined,
  cuantas: number,
): Promise<FilaDeLista[]> {
  const { comercioId, modo, external_ref, telefono, creado_desde, creado_hasta, estado } = filtros
  const [condiciones, valores] = filtrar({
    'comercio_id = :comercio_id': comercioId,
    'modo = :modo': modo,
    'external_ref = :external_ref': external_ref?.normalize('NFC'),
    'telefono = :telefono': telefono === undefined ? undefined : e164(telefono),
    'id >= :desde': creado_desde && menorId(leerInstante(creado_desde)!),
    'id < :hasta': creado_hasta && menorId(leerInstante(creado_hasta)!),
    'id < :antes_de': antesDe,
  })
  const pagina = (mas: string[]) =>
    `(select * from guia where ${[...condiciones, ...mas].join(' and ') || 'true'} order by id desc limit :limite)`
  // One branch a state, each with its own constant: the planner then reads each from its range of the index.
  const ramas = estado?.map((_uno, i) => pagina([`estado = :estado_${i}`])) ?? [pagina([])]
  const guias =
    ramas.length === 1 ? ramas[0] : `select * from (${ramas.join(' union all ')}) x order by id desc limit :limite`
  const estados = Object.fromEntries((estado ?? []).map((uno, i) => [`estado_${i}`, uno]))
  const dados = [external_ref, telefono, creado_desde, creado_hasta, ...(estado ?? [])]
  return db.consultar(
    sentenciaDe<Record<string, unknown>, FilaDeLista>(
      `select ${COLUMNAS_DE_GUIA}, g.id, g.custodio, c.comercio from (${guias}) g join comercio c on c.id = g.comercio_id order by g.id desc`,
      dados.filter((dado) => dado !== undefined).length <= FILTROS_COMUNES,
    ),
    { ...valores, ...estados, limite: cuantas },
  )
}

/** Conditions whose value is given, and the values by the names of their parameters. */
function filtrar(condiciones: Readonly<Record<string, unknown>>): [string[], Record<string, unknown>] {
  const dadas = Object.entries(condiciones).filter(([, valor]) => valor !== undefined)
  return [
    dadas.map(([texto]) => texto),
    Object.fromEntries(dadas.map(([texto, valor]) => [texto.split(':')[1]!, valor])),
  ]
}

function e164(texto: string): string {
  const telefono = leerTelefono(texto)
  if ('error' in telefono)
    throw problemaDeFallas('parametro_invalido', [
      { campo: 'telefono', codigo: 'formato_invalido', mensaje: telefono.error },
    ])
  return telefono.e164
}
