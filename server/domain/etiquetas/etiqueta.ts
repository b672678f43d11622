import { type Db, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import type { ServiceSettings } from '../deps.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { type GuiaScope, type ScopeColumns, toScopeColumns } from '../records/guiaLookup.ts'
import { rastreoUrl } from '../records/guiaPresentation.ts'
import type { EtiquetaData } from './label.ts'

/**
 * Version of the drawing. Increment it whenever the same data is drawn differently, because the entity tags of labels
 * are made from the data.
 */
export const DRAW_VERSION = 6

/** Row of a guide with its merchant's name. */
export type EtiquetaRow = GuiaRow & { nombre: string }

const READ = statement<{ guias: readonly string[] } & ScopeColumns, EtiquetaRow>(
  'etiquetas.read',
  'part',
  `select g.*, c.nombre from unnest(:guias::text[]) with ordinality p(guia, n)
   join guia_indice i on i.guia = p.guia
     and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   order by p.n`,
)

/** Returns the guides for these codes, in input order; unknown codes are skipped. */
export async function readEtiquetas(db: Db, scope: GuiaScope, codes: readonly string[]): Promise<EtiquetaRow[]> {
  const read = ({ query }: Db, guias: readonly string[]) => query(READ, { guias, ...toScopeColumns(scope) })
  if (scope !== 'todos') return read(db.forComercio(scope.comercioId), codes)
  const rows = await askByKey(db, codes, read)
  return rows.sort((row, otherRow) => codes.indexOf(row.guia) - codes.indexOf(otherRow.guia))
}

/**
 * Records that labels of guides were made. A label with the guide's present data removes the warning about older
 * labels. If a correction came while the label was made, the guide gets the warning. Does nothing if the same link was
 * opened just before.
 */
const RECORD = statement<Pick<GuiaRow, 'comercio_id' | 'modo'> & { printed: string; now: Date }>(
  'etiquetas.record',
  'merchant',
  `update guia g set etiqueta_en = :now::timestamptz, advertencias =
     coalesce((select jsonb_agg(a order by n) from jsonb_array_elements(g.advertencias) with ordinality e(a, n)
       where a ->> 'codigo' <> 'etiqueta_desactualizada'), '[]')
     || case when x.ultima_correccion is distinct from g.ultima_correccion
       then '[{"codigo": "etiqueta_desactualizada", "campo": "/guia"}]' else '[]'::jsonb end
   from json_to_recordset(:printed::json) x(id uuid, ultima_correccion int)
   where g.comercio_id = :comercio_id and g.modo = :modo and g.id = x.id
     and (g.etiqueta_en is null or x.ultima_correccion is distinct from g.ultima_correccion
       or g.advertencias @> '[{"codigo": "etiqueta_desactualizada"}]')`,
)

/**
 * Records that labels with the data of these rows were made. Writes only for a guide's first label, and for the first
 * label after a correction of what labels show.
 */
export async function recordEtiquetas(db: Db, rows: readonly EtiquetaRow[], now: Date): Promise<void> {
  const printed = rows.filter(
    ({ etiqueta_en, advertencias }) =>
      etiqueta_en === null || advertencias.some(({ codigo }) => codigo === 'etiqueta_desactualizada'),
  )
  if (printed.length === 0) return
  const [{ comercio_id, modo }] = printed as [EtiquetaRow]
  const keys = printed.map(({ id, ultima_correccion }) => ({ id, ultima_correccion }))
  await db.query(RECORD, { comercio_id, modo, printed: JSON.stringify(keys), now })
}

/** Reports whether a guide gets no label: a courier does not collect a cancelled parcel. */
export const hasNoEtiqueta = ({ estado }: Pick<GuiaRow, 'estado'>) => estado === 'cancelado'

/** Explains a resolution that is given for another type than ZPL. */
export const DPI_WITHOUT_ZPL = 'vale solo con Accept: application/zpl; quítelo, o pida ese formato'

/** Joins guide codes into the name that a link uses. Codes contain no hyphens. */
export const joinCodes = (codes: readonly string[]) => codes.join('-')
/** Splits the name in a link into its guide codes; the inverse of {@link joinCodes}. */
export const splitCodes = (name: string) => name.split('-')

export function etiquetaDataOf(row: EtiquetaRow, settings: Pick<ServiceSettings, 'publicUrl'>): EtiquetaData {
  const { guia, modo, external_ref, contenido, recogida } = row
  return {
    comercio: row.nombre,
    modo,
    guia,
    external_ref,
    creado_en: row.creado_en.toISOString(),
    url_rastreo: rastreoUrl(settings, guia),
    recogida: {
      nombre: recogida.nombre,
      lat: recogida.lat,
      lng: recogida.lng,
      direccion: recogida.direccion ?? null,
      contacto: recogida.contacto ?? null,
      telefono: recogida.telefono ?? null,
      indicaciones: recogida.indicaciones ?? null,
    },
    destinatario: {
      nombre: row.destinatario,
      telefono: row.telefono,
      departamento: row.departamento,
      municipio: row.municipio,
      direccion: row.direccion,
      indicaciones: row.indicaciones,
    },
    contenido,
  }
}
