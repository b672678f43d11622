import { centreOf } from '../catalogo/catalogo.ts'
import type { GuiaRow } from '../records/guiaFields.ts'

/** Data of a parcel that are shown to any client with one of the recipient's links. */
export interface ShownParcel {
  guia: string
  /** Name of the merchant who sends the parcel. */
  comercio: string
  /** Contents of the parcel, as the merchant describes them. */
  contenido: string | null
  /** Recipient's name; the page shows only the first word. */
  destinatario: string | null
  departamento: string
  municipio: string
  direccion: string | null
  /** Centre of the declared municipality; null if the catalogue does not know it. */
  centre: { lat: number; lng: number } | null
}

type Row = Pick<GuiaRow, Exclude<keyof ShownParcel, 'comercio' | 'centre'>> & { comercio: string }

/** Returns the shown data of a guide's row. */
export const shownParcel = (row: Row): ShownParcel => ({
  guia: row.guia,
  comercio: row.comercio,
  contenido: row.contenido,
  destinatario: row.destinatario,
  departamento: row.departamento,
  municipio: row.municipio,
  direccion: row.direccion,
  centre: centreOf(row.departamento, row.municipio) ?? null,
})
