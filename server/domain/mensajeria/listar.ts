import { paginate } from '../../api/lists/page.ts'
import type { Mensaje } from '../../generated/contract/types/index.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import { requireComercio } from '../comercios/comercio.ts'
import { isAwaitingDecision } from '../estados/decision.ts'
import type { Handler } from '../operation.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { requestEstadoOf } from '../records/guiaPresentation.ts'
import { isUnsendable } from '../records/locationRequest.ts'
import type { MensajeRow } from './row.ts'
import { mensajeTextOf } from './texts.ts'

export const listarMensajes: Handler<'listarMensajes'> = async (
  { query, ...caller },
  { db, cursors, bitacora, settings },
) => {
  const guiaRow = await findGuia(db, 'todos', query.guia)
  const { comercio_id, modo, id: guia_id, guia, comercio } = guiaRow
  const [{ nombre }, zona] = [await requireComercio(db, comercio), timeZoneOf(guiaRow, settings.timeZone)]
  const page = await paginate(cursors, { operacion: 'listarMensajes', dueno: 'operador', filters: { guia } }, query, {
    read: async (after, take) =>
      db.prisma.mensaje.findMany({
        where: { comercio_id, modo, guia_id, numero: { gt: Number(after?.[0] ?? 0) } },
        orderBy: { numero: 'asc' },
        take,
      }),
    positionOf: ({ numero }) => [numero],
    present: (row): Mensaje => ({
      mensaje: `men_${row.guia}_${row.numero}`,
      guia: row.guia,
      comercio,
      modo,
      canal: row.canal as Mensaje['canal'],
      tipo: row.tipo as Mensaje['tipo'],
      telefono: row.telefono,
      texto: mensajeTextOf({
        tipo: row.tipo as Mensaje['tipo'],
        vence_en: row.vence_en,
        brand: settings.brand.nombre,
        comercio: nombre,
        municipio: guiaRow.municipio,
        zona,
      }),
      estado: estadoVisible(guiaRow, row as MensajeRow),
      intentos: row.intentos,
      codigo: row.codigo,
      motivo: row.motivo,
      proveedor_id: row.proveedor_id,
      creado_en: row.creado_en.toISOString(),
      enviado_en: row.enviado_en?.toISOString() ?? null,
      entregado_en: row.entregado_en?.toISOString() ?? null,
      leido_en: row.leido_en?.toISOString() ?? null,
      vence_en: row.vence_en?.toISOString() ?? null,
    }),
  })
  const sobre = ['guia', guia] as const
  await bitacora.recordRead(caller, { accion: 'listarMensajes', sobre, de: { comercio_id, modo } })
  return { status: 200, body: page }
}

/**
 * Returns a message's state as the contract names it. A message that a process is sending at the moment counts as
 * pending.
 */
function estadoVisible(guia: GuiaRow, { canal, tipo, estado: guardado }: MensajeRow): Mensaje['estado'] {
  const estado = guardado === 'enviando' ? 'pendiente' : guardado
  if (tipo !== 'solicitud_decision') return requestEstadoOf(guia, { canal, estado })
  const nobodyAsks = estado === 'pendiente' && isUnsendable(guia.modo, canal) && !isAwaitingDecision(guia.decision)
  return nobodyAsks ? 'descartado' : estado
}
