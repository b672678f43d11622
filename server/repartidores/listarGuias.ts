import { normalizarCodigoDeGuia } from '../codigos/codigos.ts'
import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { presentarGuia } from './guia.ts'

const BUSCAR_VARIAS = sentencia<{ guias: readonly string[] }, FilaGuia>(
  'repartidores.guias',
  `select g.* from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   where i.guia = any(:guias::text[])`,
)

/** Lists the guides that a courier asks for, each once, however often and in however many spellings. */
export const listarGuiasDeReparto: Handler<'listarGuiasDeReparto'> = async (
  { query: { guia: pedidas }, identidad },
  { db, ajustes, limites },
) => {
  const codigos = new Set(pedidas.flatMap((escrita) => normalizarCodigoDeGuia(escrita) ?? []))
  const filas = await db.consultar(BUSCAR_VARIAS, { guias: [...codigos] })
  const porCodigo = new Map(filas.map((fila) => [fila.guia, fila]))
  limites.contarDesconocidas(identidad, codigos.size - porCodigo.size)
  return {
    status: 200,
    body: {
      datos: [...codigos].flatMap((codigo) => {
        const fila = porCodigo.get(codigo)
        return fila ? [presentarGuia(fila, ajustes.zonaHoraria)] : []
      }),
      desconocidas: pedidas.filter((escrita) => !porCodigo.has(normalizarCodigoDeGuia(escrita) ?? '')),
    },
  }
}
