import { type ColumnWith, columnsWith, pickColumns } from '../../data/columns.ts'
import { type InJson, type RowOf, withTexts } from '../../data/db.ts'
import type { guia } from '../../generated/contract/prisma/client.ts'
import type {
  CanalDeMensaje,
  Decision,
  Estado,
  EstadoDeMensaje,
  Guia,
  Metadatos,
  Modo,
} from '../../generated/contract/types/index.ts'
import type { StoredAdvertencia } from './advertencias.ts'

// One table of a guide's columns. Column lists, the statement that creates guides, digests, events' pictures, webhook
// bodies and the erasure of a person derive from it. A column of `guia` that the table lacks does not compile.

/** Status of the location request to the recipient. Instants are texts, because the status is stored as JSON. */
export interface StoredLocationRequest {
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
  solicitud?: StoredLocationRequest
}

/** Members of a place that every stored pickup has; null if unknown. */
type RecogidaPlaceMember = 'nombre' | 'lat' | 'lng' | 'maps_url'

/** Stored pickup. A member of the contact without a value is absent. */
export type StoredRecogida = Pick<Guia['recogida'], RecogidaPlaceMember> &
  Partial<Omit<Guia['recogida'], RecogidaPlaceMember>>

/** Row of `guia`; columns have the contract's names. */
export type GuiaRow = RowOf<
  guia,
  {
    modo: Modo
    estado: Estado
    recogida: StoredRecogida
    metadatos: Metadatos | null
    ubicacion_estado: Guia['ubicacion']['estado']
    ubicacion_origen: Guia['ubicacion']['origen']
    ubicacion_extra: UbicacionExtra | null
    decision: Decision | null
    advertencias: readonly StoredAdvertencia[]
  }
>

/** Properties of one column of `guia`, on which lists of columns depend. */
export interface Field {
  /** PostgreSQL type. */
  readonly tipo: 'uuid' | 'text' | 'float8' | 'jsonb' | 'timestamptz' | 'int4'
  /** Source of the column's value: the creation alone, the creation and later corrections, or the service. */
  readonly source: 'creacion' | 'correccion' | 'servicio'
  /** True if each new guide has a value of its own. Otherwise all new guides have the same value. */
  readonly nuevo?: true
  /**
   * True if the digest of a creation request contains the column: a repeated creation with another value is a conflict.
   */
  readonly digested?: true
  /** True if answers contain the column. */
  readonly shown?: true
  /**
   * Source of the column's value for the webhook body of an earlier event: the snapshot of the guide that the event
   * stores (`foto`), or a column of the event (`propio`). Undefined: the guide's row.
   */
  readonly inEvento?: 'foto' | 'propio'
  /**
   * True if erasing a person's data sets the column to null. `ubicacion_extra` is an exception that
   * `DELETE_GUIA_DATA` in personas/persona.ts handles.
   */
  readonly personal?: true
}

/** Columns by name. The columns that answers contain are in the order of the contract's `Guia`. */
export type Fields = Readonly<Record<string, Field>>

/** Columns of `guia`. */
export const CAMPOS = {
  comercio_id: { tipo: 'uuid', source: 'servicio', nuevo: true },
  id: { tipo: 'uuid', source: 'servicio', nuevo: true },
  huellas: { tipo: 'text', source: 'servicio', nuevo: true },
  custodio: { tipo: 'text', source: 'servicio' },
  estado_en: { tipo: 'timestamptz', source: 'servicio' },
  guia: { tipo: 'text', source: 'servicio', nuevo: true, shown: true },
  estado: { tipo: 'text', source: 'servicio', shown: true, inEvento: 'propio' },
  modo: { tipo: 'text', source: 'servicio', nuevo: true, shown: true },
  external_ref: { tipo: 'text', source: 'creacion', nuevo: true, shown: true },
  telefono: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  destinatario: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  departamento: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true },
  municipio: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true },
  direccion: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  indicaciones: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  contenido: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  lat: { tipo: 'float8', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  lng: { tipo: 'float8', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  maps_url: { tipo: 'text', source: 'correccion', nuevo: true, digested: true, shown: true, personal: true },
  recogida: { tipo: 'jsonb', source: 'correccion', nuevo: true, digested: true, shown: true },
  metadatos: { tipo: 'jsonb', source: 'creacion', nuevo: true, shown: true, personal: true },
  ubicacion_estado: { tipo: 'text', source: 'servicio', nuevo: true, shown: true, inEvento: 'foto' },
  ubicacion_origen: { tipo: 'text', source: 'servicio', nuevo: true, shown: true, inEvento: 'foto' },
  ubicacion_lat: {
    tipo: 'float8',
    source: 'servicio',
    nuevo: true,
    shown: true,
    inEvento: 'foto',
    personal: true,
  },
  ubicacion_lng: {
    tipo: 'float8',
    source: 'servicio',
    nuevo: true,
    shown: true,
    inEvento: 'foto',
    personal: true,
  },
  ubicacion_extra: { tipo: 'jsonb', source: 'servicio', nuevo: true, shown: true, inEvento: 'foto' },
  intentos: { tipo: 'int4', source: 'servicio', shown: true, inEvento: 'foto' },
  decision: { tipo: 'jsonb', source: 'servicio', shown: true, inEvento: 'foto' },
  decision_vence: { tipo: 'timestamptz', source: 'servicio' },
  advertencias: { tipo: 'jsonb', source: 'servicio', nuevo: true, shown: true, inEvento: 'foto' },
  secuencia: { tipo: 'int4', source: 'servicio', shown: true, inEvento: 'propio' },
  ultima_correccion: { tipo: 'int4', source: 'servicio' },
  etiqueta_en: { tipo: 'timestamptz', source: 'servicio' },
  creado_en: { tipo: 'timestamptz', source: 'servicio', nuevo: true, shown: true },
  actualizado_en: { tipo: 'timestamptz', source: 'servicio', shown: true, inEvento: 'propio' },
  datos_borrados_en: { tipo: 'timestamptz', source: 'servicio', shown: true },
} as const satisfies Readonly<Record<keyof GuiaRow, Field>>

/** Names of the columns whose properties include `P`. */
type ColumnWithProperty<P extends Partial<Field>> = ColumnWith<typeof CAMPOS, P>

/**
 * Computes the lists of columns that SQL statements and answers use, from the properties of each column. Takes the
 * table as a parameter, so that a test can add a column.
 */
export function derive(fields: Fields) {
  const newColumns = columnsWith(fields, { nuevo: true })
  const shownColumns = columnsWith(fields, { shown: true })
  const fotoColumns = columnsWith(fields, { inEvento: 'foto' })
  return {
    /** Columns to which the insertion of a guide gives a value of its own. All others start with the same value. */
    newColumns,
    /** SQL of the columns in `newColumns` with their types, for `json_to_recordset`. */
    recordset: newColumns.map((name) => `${name} ${fields[name]!.tipo}`).join(', '),
    /** Columns that the request's digest contains. */
    digestedColumns: columnsWith(fields, { digested: true }),
    /** Columns that answers contain. */
    shownColumns,
    /** Columns of the guide's row that webhook bodies need and the event does not store. */
    bodyColumns: shownColumns.filter((name) => fields[name]!.inEvento === undefined),
    /** Columns in the snapshot that each event stores. */
    fotoColumns,
    /** SQL assignments that erase a person's data. */
    erasures: columnsWith(fields, { personal: true })
      .map((name) => `${name} = null`)
      .join(', '),
    /** Columns that a correction may change. */
    correctableColumns: columnsWith(fields, { source: 'correccion' }),
  }
}

const DERIVED = derive(CAMPOS)

/** Columns whose values differ between new guides. */
export const NEW_GUIA_COLUMNS = DERIVED.newColumns as readonly ColumnWithProperty<{ nuevo: true }>[]
/** SQL of {@link NEW_GUIA_COLUMNS} with their types, for `json_to_recordset`. */
export const RECORDSET = DERIVED.recordset
/**
 * Columns from whose values the digests of a creation request are computed. The digests tell whether a repeated request
 * is the same.
 */
export const DIGESTED_COLUMNS = DERIVED.digestedColumns as readonly ColumnWithProperty<{ digested: true }>[]
/** Columns that answers contain. */
export const SHOWN_COLUMNS = DERIVED.shownColumns as readonly ColumnWithProperty<{ shown: true }>[]
/** Columns of the guide's row that webhook bodies need and the event does not store. */
export const BODY_COLUMNS = DERIVED.bodyColumns as readonly Exclude<
  ColumnWithProperty<{ shown: true }>,
  ColumnWithProperty<{ inEvento: 'foto' | 'propio' }>
>[]
/** Columns in the snapshot of a guide that each event stores. */
export const FOTO_COLUMNS = DERIVED.fotoColumns as readonly ColumnWithProperty<{ inEvento: 'foto' }>[]
/** SQL assignments that erase a person's data in a guide's row. */
export const ERASURES = DERIVED.erasures
/** Columns that a correction may change. */
export const CORRECTABLE_COLUMNS = DERIVED.correctableColumns as readonly ColumnWithProperty<{
  source: 'correccion'
}>[]

/** Returns the columns of a guide that a correction may change. */
export const pickCorrectable = (guia: GuiaRow) => pickColumns(guia, CORRECTABLE_COLUMNS)

/** Guide with the columns that answers contain. Instants are texts. */
export type GuiaInJson = InJson<Pick<GuiaRow, (typeof SHOWN_COLUMNS)[number]>>

/** SQL of the columns of {@link GuiaInJson} of `g`. */
export const GUIA_COLUMNS = withTexts(SHOWN_COLUMNS, 'g.')

/** Snapshot of a guide after an event: the changing columns that the event has no column of its own for. */
export type Foto = Pick<GuiaRow, (typeof FOTO_COLUMNS)[number]>

/**
 * SQL of the snapshot (`foto`) of a guide: its changing columns as JSON, which each event stores for the webhook body.
 * @param guia name of a row of `guia`
 * @param ownValues SQL by column, for columns whose value the row `guia` does not have yet
 */
export const fotoSql = (guia: string, ownValues: Partial<Record<keyof Foto, string>> = {}) =>
  `jsonb_build_object(${FOTO_COLUMNS.map((name) => `'${name}', ${ownValues[name] ?? `${guia}.${name}`}`).join(', ')})`

/** Returns the snapshot of a guide. */
export const fotoOf = (guia: GuiaRow): Foto => pickColumns(guia, FOTO_COLUMNS)

export const buildNewGuiaRow = (
  datos: GuiaData,
  ownValues: Pick<GuiaRow, 'comercio_id' | 'modo' | 'id' | 'guia' | 'huellas' | 'creado_en'>,
): GuiaRow => ({
  ...datos,
  ...ownValues,
  estado: 'aceptado',
  estado_en: ownValues.creado_en,
  custodio: null,
  datos_borrados_en: null,
  intentos: 0,
  decision: null,
  decision_vence: null,
  secuencia: 1,
  ultima_correccion: null,
  etiqueta_en: null,
  actualizado_en: ownValues.creado_en,
})

/** Columns that come from the request, and those that the service derives from it. */
export type GuiaData = Pick<
  GuiaRow,
  | ColumnWithProperty<{ source: 'creacion' | 'correccion' }>
  | 'ubicacion_estado'
  | 'ubicacion_origen'
  | 'ubicacion_lat'
  | 'ubicacion_lng'
  | 'ubicacion_extra'
  | 'advertencias'
>

/** Returns the key columns that select a guide's events. */
export const guiaKeyOf = ({ comercio_id, modo, id }: Pick<GuiaRow, 'comercio_id' | 'modo' | 'id'>) => ({
  comercio_id,
  modo,
  guia_id: id,
})
