import { statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import { timeZoneOf } from '../../domain/catalogo/timeZone.ts'
import type { Deps } from '../../domain/deps.ts'
import { VALE } from '../../domain/pruebasEntrega/prueba.ts'
import type { GuiaRow } from '../../domain/records/guiaFields.ts'
import type { Estado, Modo } from '../../generated/contract/types/index.ts'

/**
 * All data of a guide that the verification page may show. Other columns are not read, so the page cannot reveal them.
 */
export interface Entrega {
  guia: string
  modo: Modo
  estado: Estado
  /** IANA time zone in which the page shows the delivery's time. */
  zona: string
  entregado_en: Date | null
  /**
   * State of the PDF: never made (`sin_prueba`), deleted after its retention period (`retencion`), deleted at the
   * person's request (`peticion`), in preparation (`pendiente`), or available (`lista`).
   */
  prueba: 'sin_prueba' | 'retencion' | 'peticion' | 'pendiente' | 'lista'
  /** Deliveries with a proof that were undone, newest first. */
  undoneEntregas: { entregado_en: Date; rectificada_en: Date }[]
}

const READ = statement<
  Pick<Entrega, 'guia'>,
  Omit<Entrega, 'zona' | 'undoneEntregas'> &
    Pick<GuiaRow, 'departamento' | 'municipio'> & {
      undoneEntregas: Record<keyof Entrega['undoneEntregas'][number], string>[]
    }
>(
  'verificacion.read',
  'part',
  `select g.guia, g.modo, g.estado, g.departamento, g.municipio,
     coalesce(p.entregado_en, case when g.estado = 'entregado' then g.estado_en end) as entregado_en,
     case when p.guia_id is null then coalesce(b.motivo, 'sin_prueba') when p.pdf is null then 'pendiente' else 'lista' end
       as prueba,
     coalesce((
       select json_agg(json_build_object('entregado_en', r.entregado_en, 'rectificada_en', r.rectificada_en)
         order by r.secuencia desc)
       from prueba_entrega r where r.comercio_id = g.comercio_id and r.modo = g.modo and r.guia_id = g.id
         and r.rectificada_en is not null), '[]') as "undoneEntregas"
   from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   left join prueba_entrega p on p.comercio_id = g.comercio_id and p.modo = g.modo and p.guia_id = g.id and ${VALE}
   left join prueba_borrada b on b.comercio_id = g.comercio_id and b.modo = g.modo and b.guia_id = g.id
   where i.guia = :guia`,
)

/** Reads the data that the verification page shows for a guide's code; undefined if no guide has the code. */
export async function readEntrega(
  { db, settings }: Pick<Deps, 'db' | 'settings'>,
  code: string,
): Promise<Entrega | undefined> {
  const [row] = (await (await dbOfKey(db, code))?.query(READ, { guia: code })) ?? []
  if (!row) return undefined
  const { departamento, municipio, ...entrega } = row
  const undoneEntregas = row.undoneEntregas.map((entry) => ({
    entregado_en: new Date(entry.entregado_en),
    rectificada_en: new Date(entry.rectificada_en),
  }))
  return { ...entrega, undoneEntregas, zona: timeZoneOf({ departamento, municipio }, settings.timeZone) }
}
