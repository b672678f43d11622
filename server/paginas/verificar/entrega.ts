import type { Estado, Modo } from '../../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../../db.ts'

/** All that the page may say of a guide: what isn't read can't get out. */
export interface Entrega {
  guia: string
  modo: Modo
  estado: Estado
  /** For their time zone. */
  departamento: string
  municipio: string
  entregado_en: Date | null
  /** Of its PDF: there is none, it is being made, it is there. */
  prueba: 'sin_prueba' | 'pendiente' | 'lista'
}

const LEER = sentencia(
  'verificacion.leer',
  `select g.guia, g.modo, g.estado, g.departamento, g.municipio,
     coalesce(p.entregado_en, case when g.estado = 'entregado' then g.estado_en end) as entregado_en,
     case when p.guia_id is null then 'sin_prueba' when p.pdf is null then 'pendiente' else 'lista' end as prueba
   from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   left join prueba_entrega p on p.comercio_id = g.comercio_id and p.modo = g.modo and p.guia_id = g.id
   where i.guia = $1`,
)

export async function leerEntrega(db: Db, codigo: string): Promise<Entrega | undefined> {
  const [fila] = await db.consultar<Entrega>(LEER, [codigo])
  return fila
}
