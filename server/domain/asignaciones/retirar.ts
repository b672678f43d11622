import { inTransaction, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import type { Dia, Modo } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { codigosDe, presentarResultados, type Veredicto } from './asignacion.ts'

interface Vista {
  comercio_id: string
  modo: Modo
  guia: string
  /** Courier of the deleted assignment; null if no assignment was deleted. */
  repartidor: string | null
  fecha: Dia | null
  /** True if the guide stays assigned, because it is assigned to another courier than the request names. */
  de_otro: boolean
}

/** Deletes the assignments of guides. If `repartidor` names a courier, deletes only that courier's assignments. */
const RETIRAR = statement<{ guias: readonly string[]; repartidor: string | null }, Vista>(
  'asignaciones.retirar',
  `with d as (
     delete from asignacion a using guia_indice i where i.guia = any(:guias::text[])
       and a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.id
       and (:repartidor::text is null or a.repartidor = :repartidor)
     returning a.comercio_id, a.modo, a.guia_id, a.repartidor, a.fecha
   )
   select i.comercio_id, i.modo, i.guia, d.repartidor, d.fecha::text as fecha,
     d.guia_id is null and exists (
       select from asignacion a where a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.id
         and a.repartidor <> :repartidor) as de_otro
   from guia_indice i left join d on d.comercio_id = i.comercio_id and d.modo = i.modo and d.guia_id = i.id
   where i.guia = any(:guias::text[])`,
  { alcance: 'parte' },
)

const deOtro = () =>
  new Problema('carrera_perdida', 'La guía ya está asignada a otro repartidor. Vea a quién antes de retirarla.')

/** Removes the assignments of guides, in one transaction for each part of the data. */
export const retirarAsignaciones: Handler<'retirarAsignaciones'> = async ({ body, ...quien }, deps) => {
  const { db, bitacora } = deps
  const { repartidor = null } = body
  const vistas = await askByKey(db, codigosDe(body.guias), (parte, guias) =>
    inTransaction(parte, async (consultar) => {
      const vistas = await consultar(RETIRAR, { guias, repartidor })
      const retiradas = vistas.filter((una) => una.repartidor !== null)
      await bitacora.anotarVarias(
        consultar,
        quien,
        retiradas.map(({ comercio_id, modo, guia, repartidor, fecha }) => ({
          accion: 'retirarAsignaciones',
          sobre: ['guia', guia],
          de: { comercio_id, modo },
          antes: { repartidor, fecha },
          despues: { repartidor: null, fecha: null },
        })),
      )
      return vistas
    }),
  )
  const veredictos = new Map<string, Veredicto>(
    vistas.map((una) => [una.guia, una.de_otro ? deOtro() : { repetida: una.repartidor === null }]),
  )
  return {
    status: 200,
    body: { resultados: presentarResultados(deps, quien.idSolicitud, body.guias, veredictos) },
  }
}
