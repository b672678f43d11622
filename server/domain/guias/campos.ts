import { type ColumnWith, columnsWith, pickColumns } from '../../data/columns.ts'
import { type InJson, type RowOf, withTexts } from '../../data/db.ts'
import type { guia } from '../../generado/contrato/prisma/client.ts'
import type {
  CanalDeMensaje,
  Decision,
  Estado,
  EstadoDeMensaje,
  Guia,
  Metadatos,
  Modo,
} from '../../generado/contrato/tipos/index.ts'
import type { AdvertenciaGuardada } from './advertencias.ts'

// One table of a guide's columns. Column lists, the statement that creates guides, digests, events' pictures, webhook
// bodies and the erasure of a person derive from it. A column of `guia` that the table lacks does not compile.

/** Status of the location request to the recipient. Instants are texts, because the status is stored as JSON. */
export interface SolicitudGuardada {
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

/** Additional data of a location, stored as JSON in `guia.ubicacion_extra`. */
export interface UbicacionExtra {
  /** Link with which the location was confirmed, unless it equals the guide's `maps_url`. */
  enlace?: string
  precision_m?: number
  referencia?: string
  distancia_km?: number
  confirmado_en?: string
  solicitud?: SolicitudGuardada
}

/** Members of a place that every stored pickup has; null if unknown. */
type LugarDeRecogida = 'nombre' | 'lat' | 'lng' | 'maps_url'

/** Stored pickup. A member of the contact without a value is absent. */
export type RecogidaGuardada = Pick<Guia['recogida'], LugarDeRecogida> &
  Partial<Omit<Guia['recogida'], LugarDeRecogida>>

/** Row of `guia`; columns have the contract's names. */
export type FilaGuia = RowOf<
  guia,
  {
    modo: Modo
    estado: Estado
    recogida: RecogidaGuardada
    metadatos: Metadatos | null
    ubicacion_estado: Guia['ubicacion']['estado']
    ubicacion_origen: Guia['ubicacion']['origen']
    ubicacion_extra: UbicacionExtra | null
    decision: Decision | null
    advertencias: readonly AdvertenciaGuardada[]
  }
>

/** Properties of one column of `guia`, on which lists of columns depend. */
export interface Campo {
  /** PostgreSQL type. */
  readonly tipo: 'uuid' | 'text' | 'float8' | 'jsonb' | 'timestamptz' | 'int4'
  /** Source of the column's value: the creation alone, the creation and later corrections, or the service. */
  readonly escribe: 'creacion' | 'correccion' | 'servicio'
  /** True if each new guide has a value of its own. Otherwise all new guides have the same value. */
  readonly nuevo?: true
  /**
   * True if the digest of a creation request contains the column: a repeated creation with another value is a conflict.
   */
  readonly digerido?: true
  /** True if answers contain the column. */
  readonly mostrado?: true
  /**
   * Source of the column's value for the webhook body of an earlier event: the snapshot of the guide that the event
   * stores (`foto`), or a column of the event (`propio`). Undefined: the guide's row.
   */
  readonly enEvento?: 'foto' | 'propio'
  /**
   * True if erasing a person's data sets the column to null. `ubicacion_extra` is an exception that `BORRAR` in
   * personas/persona.ts handles.
   */
  readonly personal?: true
}

/** Columns by name. The columns that answers contain are in the order of the contract's `Guia`. */
export type Campos = Readonly<Record<string, Campo>>

/** Columns of `guia`. */
export const CAMPOS = {
  comercio_id: { tipo: 'uuid', escribe: 'servicio', nuevo: true },
  id: { tipo: 'uuid', escribe: 'servicio', nuevo: true },
  huellas: { tipo: 'text', escribe: 'servicio', nuevo: true },
  custodio: { tipo: 'text', escribe: 'servicio' },
  estado_en: { tipo: 'timestamptz', escribe: 'servicio' },
  guia: { tipo: 'text', escribe: 'servicio', nuevo: true, mostrado: true },
  estado: { tipo: 'text', escribe: 'servicio', mostrado: true, enEvento: 'propio' },
  modo: { tipo: 'text', escribe: 'servicio', nuevo: true, mostrado: true },
  external_ref: { tipo: 'text', escribe: 'creacion', nuevo: true, mostrado: true },
  telefono: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  destinatario: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  departamento: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true },
  municipio: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true },
  direccion: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  indicaciones: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  contenido: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  lat: { tipo: 'float8', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  lng: { tipo: 'float8', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  maps_url: { tipo: 'text', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true, personal: true },
  recogida: { tipo: 'jsonb', escribe: 'correccion', nuevo: true, digerido: true, mostrado: true },
  metadatos: { tipo: 'jsonb', escribe: 'creacion', nuevo: true, mostrado: true, personal: true },
  ubicacion_estado: { tipo: 'text', escribe: 'servicio', nuevo: true, mostrado: true, enEvento: 'foto' },
  ubicacion_origen: { tipo: 'text', escribe: 'servicio', nuevo: true, mostrado: true, enEvento: 'foto' },
  ubicacion_lat: {
    tipo: 'float8',
    escribe: 'servicio',
    nuevo: true,
    mostrado: true,
    enEvento: 'foto',
    personal: true,
  },
  ubicacion_lng: {
    tipo: 'float8',
    escribe: 'servicio',
    nuevo: true,
    mostrado: true,
    enEvento: 'foto',
    personal: true,
  },
  ubicacion_extra: { tipo: 'jsonb', escribe: 'servicio', nuevo: true, mostrado: true, enEvento: 'foto' },
  intentos: { tipo: 'int4', escribe: 'servicio', mostrado: true, enEvento: 'foto' },
  decision: { tipo: 'jsonb', escribe: 'servicio', mostrado: true, enEvento: 'foto' },
  decision_vence: { tipo: 'timestamptz', escribe: 'servicio' },
  advertencias: { tipo: 'jsonb', escribe: 'servicio', nuevo: true, mostrado: true, enEvento: 'foto' },
  secuencia: { tipo: 'int4', escribe: 'servicio', mostrado: true, enEvento: 'propio' },
  ultima_correccion: { tipo: 'int4', escribe: 'servicio' },
  etiqueta_en: { tipo: 'timestamptz', escribe: 'servicio' },
  creado_en: { tipo: 'timestamptz', escribe: 'servicio', nuevo: true, mostrado: true },
  actualizado_en: { tipo: 'timestamptz', escribe: 'servicio', mostrado: true, enEvento: 'propio' },
  datos_borrados_en: { tipo: 'timestamptz', escribe: 'servicio', mostrado: true },
} as const satisfies Readonly<Record<keyof FilaGuia, Campo>>

/** Names of the columns whose properties include `P`. */
type ConPropiedad<P extends Partial<Campo>> = ColumnWith<typeof CAMPOS, P>

/** Lists of columns that derive from a table of columns. A test derives them from a table with an additional column. */
export function derivar(campos: Campos) {
  const nuevos = columnsWith(campos, { nuevo: true })
  const mostrados = columnsWith(campos, { mostrado: true })
  const enFoto = columnsWith(campos, { enEvento: 'foto' })
  return {
    /** Columns to which the insertion of a guide gives a value of its own. All others start with the same value. */
    nuevos,
    /** SQL of the columns in `nuevos` with their types, for `json_to_recordset`. */
    recordset: nuevos.map((nombre) => `${nombre} ${campos[nombre]!.tipo}`).join(', '),
    /** Columns that the request's digest contains. */
    digeridos: columnsWith(campos, { digerido: true }),
    /** Columns that answers contain. */
    mostrados,
    /** Columns of the guide's row that webhook bodies need and the event does not store. */
    deCuerpo: mostrados.filter((nombre) => campos[nombre]!.enEvento === undefined),
    /** Columns in the snapshot that each event stores. */
    enFoto,
    /** SQL assignments that erase a person's data. */
    borrados: columnsWith(campos, { personal: true })
      .map((nombre) => `${nombre} = null`)
      .join(', '),
    /** Columns that a correction may change. */
    corregibles: columnsWith(campos, { escribe: 'correccion' }),
  }
}

const DERIVADO = derivar(CAMPOS)

/** Columns whose values differ between new guides. */
export const NUEVOS = DERIVADO.nuevos as readonly ConPropiedad<{ nuevo: true }>[]
/** SQL of {@link NUEVOS} with their types, for `json_to_recordset`. */
export const RECORDSET = DERIVADO.recordset
/**
 * Columns from whose values the digests of a creation request are computed. The digests tell whether a repeated request
 * is the same.
 */
export const DIGERIDOS = DERIVADO.digeridos as readonly ConPropiedad<{ digerido: true }>[]
/** Columns that answers contain. */
export const MOSTRADOS = DERIVADO.mostrados as readonly ConPropiedad<{ mostrado: true }>[]
/** Columns of the guide's row that webhook bodies need and the event does not store. */
export const DE_CUERPO = DERIVADO.deCuerpo as readonly Exclude<
  ConPropiedad<{ mostrado: true }>,
  ConPropiedad<{ enEvento: 'foto' | 'propio' }>
>[]
/** Columns in the snapshot of a guide that each event stores. */
export const EN_FOTO = DERIVADO.enFoto as readonly ConPropiedad<{ enEvento: 'foto' }>[]
/** SQL assignments that erase a person's data in a guide's row. */
export const BORRADOS = DERIVADO.borrados
/** Columns that a correction may change. */
export const CORREGIBLES = DERIVADO.corregibles as readonly ConPropiedad<{ escribe: 'correccion' }>[]

/** Returns the columns of a guide that a correction may change. */
export const pickCorregibles = (guia: FilaGuia) => pickColumns(guia, CORREGIBLES)

/** Guide with the columns that answers contain. Instants are texts. */
export type GuiaLeida = InJson<Pick<FilaGuia, (typeof MOSTRADOS)[number]>>

/** SQL of the columns of {@link GuiaLeida} of `g`. */
export const COLUMNAS_DE_GUIA = withTexts(MOSTRADOS, 'g.')

/** Snapshot of a guide after an event: the changing columns that the event has no column of its own for. */
export type Foto = Pick<FilaGuia, (typeof EN_FOTO)[number]>

/**
 * SQL of the snapshot (`foto`) of a guide: its changing columns as JSON, which each event stores for the webhook body.
 * @param guia name of a row of `guia`
 * @param propios SQL by column, for columns whose value the row `guia` does not have yet
 */
export const fotoEnSql = (guia: string, propios: Partial<Record<keyof Foto, string>> = {}) =>
  `jsonb_build_object(${EN_FOTO.map((nombre) => `'${nombre}', ${propios[nombre] ?? `${guia}.${nombre}`}`).join(', ')})`

/** Returns the snapshot of a guide. */
export const fotoDe = (guia: FilaGuia): Foto => pickColumns(guia, EN_FOTO)

/** Returns the row of a new guide. */
export const guiaNueva = (
  datos: DatosDeGuia,
  propios: Pick<FilaGuia, 'comercio_id' | 'modo' | 'id' | 'guia' | 'huellas' | 'creado_en'>,
): FilaGuia => ({
  ...datos,
  ...propios,
  estado: 'aceptado',
  estado_en: propios.creado_en,
  custodio: null,
  datos_borrados_en: null,
  intentos: 0,
  decision: null,
  decision_vence: null,
  secuencia: 1,
  ultima_correccion: null,
  etiqueta_en: null,
  actualizado_en: propios.creado_en,
})

/** Columns that come from the request, and those that the service derives from it. */
export type DatosDeGuia = Pick<
  FilaGuia,
  | ConPropiedad<{ escribe: 'creacion' | 'correccion' }>
  | 'ubicacion_estado'
  | 'ubicacion_origen'
  | 'ubicacion_lat'
  | 'ubicacion_lng'
  | 'ubicacion_extra'
  | 'advertencias'
>
