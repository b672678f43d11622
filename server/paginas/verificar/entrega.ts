import type { Estado, Modo } from '../../contrato/generado/tipos/index.ts'
import { whereIs } from '../../data/owners.ts'
import { sentencia } from '../../db.ts'
import type { Deps } from '../../deps.ts'
import type { FilaGuia } from '../../guias/guia.ts'
import { zonaDe } from '../../tiempo/zona.ts'

/** All that the verification page may say of a guide: what isn't read can't get out. */
export interface Entrega {
  guia: string
  modo: Modo
  estado: Estado
  /** The IANA zone in which the delivery's time is told. */
  zona: string
  entregado_en: Date | null
  /** Whether there is a PDF: none, deleted when its time was over or because its person asked for it, being made, there. */
  prueba: 'sin_prueba' | 'retencion' | 'peticion' | 'pendiente' | 'lista'
}

const LEER = sentencia<Pick<Entrega, 'guia'>, Omit<Entrega, 'zona'> & Pick<FilaGuia, 'departamento' | 'municipio'>>(
  'verificacion.leer',
  `select g.guia, g.modo, g.estado, g.departamento, g.municipio,
     coalesce(p.entregado_en, case when g.estado = 'entregado' then g.estado_en end) as entregado_en,
     case when p.guia_id is null then coalesce(b.motivo, 'sin_prueba') when p.pdf is null then 'pendiente' else 'lista' end
       as prueba
   from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   left join prueba_entrega p on p.comercio_id = g.comercio_id and p.modo = g.modo and p.guia_id = g.id
   left join prueba_borrada b on b.comercio_id = g.comercio_id and b.modo = g.modo and b.guia_id = g.id
   where i.guia = :guia`,
  { alcance: 'parte' },
)

/** Reads what the verification page says of the guide that a code names, if there is one. */
export async function leerEntrega(
  { db, ajustes }: Pick<Deps, 'db' | 'ajustes'>,
  codigo: string,
): Promise<Entrega | undefined> {
  const [fila] = (await (await whereIs(db, codigo))?.consultar(LEER, { guia: codigo })) ?? []
  if (!fila) return undefined
  const { departamento, municipio, ...entrega } = fila
  return { ...entrega, zona: zonaDe({ departamento, municipio }, ajustes.zonaHoraria) }
}
