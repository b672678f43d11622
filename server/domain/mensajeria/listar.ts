import { paginate } from '../../api/lists/page.ts'
import type { Mensaje } from '../../generado/contrato/tipos/index.ts'
import { zonaDe } from '../catalogo/zona.ts'
import { exigirComercio } from '../comercios/comercio.ts'
import { esperaDecision } from '../decisiones/decision.ts'
import { buscarGuia, estadoDeSolicitud, type FilaGuia, sinSalida } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import type { FilaMensaje } from './row.ts'
import { textoDe } from './texts.ts'

export const listarMensajes: Handler<'listarMensajes'> = async (
  { query, ...quien },
  { db, cursores, bitacora, ajustes },
) => {
  const leida = await buscarGuia(db, 'todos', query.guia)
  const { comercio_id, modo, id: guia_id, guia, comercio } = leida
  const [{ nombre }, zona] = [await exigirComercio(db, comercio), zonaDe(leida, ajustes.zonaHoraria)]
  const pagina = await paginate(
    cursores,
    { operacion: 'listarMensajes', dueno: 'operador', filtros: { guia } },
    query,
    {
      leer: async (despues, take) =>
        db.prisma.mensaje.findMany({
          where: { comercio_id, modo, guia_id, numero: { gt: Number(despues?.[0] ?? 0) } },
          orderBy: { numero: 'asc' },
          take,
        }),
      posicion: ({ numero }) => [numero],
      presentar: (fila): Mensaje => ({
        mensaje: `men_${fila.guia}_${fila.numero}`,
        guia: fila.guia,
        comercio,
        modo,
        canal: fila.canal as Mensaje['canal'],
        tipo: fila.tipo as Mensaje['tipo'],
        telefono: fila.telefono,
        texto: textoDe({
          tipo: fila.tipo as Mensaje['tipo'],
          vence_en: fila.vence_en,
          marca: ajustes.marca.nombre,
          comercio: nombre,
          municipio: leida.municipio,
          zona,
        }),
        estado: estadoVisible(leida, fila as FilaMensaje),
        intentos: fila.intentos,
        codigo: fila.codigo,
        motivo: fila.motivo,
        proveedor_id: fila.proveedor_id,
        creado_en: fila.creado_en.toISOString(),
        enviado_en: fila.enviado_en?.toISOString() ?? null,
        entregado_en: fila.entregado_en?.toISOString() ?? null,
        leido_en: fila.leido_en?.toISOString() ?? null,
        vence_en: fila.vence_en?.toISOString() ?? null,
      }),
    },
  )
  const sobre = ['guia', guia] as const
  await bitacora.consultada(quien, { accion: 'listarMensajes', sobre, de: { comercio_id, modo } })
  return { status: 200, body: pagina }
}

/**
 * Returns a message's state as the contract names it. A message that a process is sending at the moment counts as
 * pending.
 */
function estadoVisible(guia: FilaGuia, { canal, tipo, estado: guardado }: FilaMensaje): Mensaje['estado'] {
  const estado = guardado === 'enviando' ? 'pendiente' : guardado
  if (tipo !== 'solicitud_decision') return estadoDeSolicitud(guia, { canal, estado })
  const nadiePregunta = estado === 'pendiente' && sinSalida(guia.modo, canal) && !esperaDecision(guia.decision)
  return nadiePregunta ? 'descartado' : estado
}
