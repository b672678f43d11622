import { exigirCancelable } from '../estados/estados.ts'
import { darPaso, sinCarrera } from '../eventos/evento.ts'
import type { Handler } from '../operation.ts'
import { buscarGuia, presentar } from './guia.ts'

export const cancelarGuia: Handler<'cancelarGuia'> = async (
  { path, body, identidad },
  { db, reloj, avisarTrabajo, ajustes },
) => {
  const guia = await sinCarrera(async () => {
    const leida = await buscarGuia(db, identidad, path.guia)
    if (leida.estado === 'cancelado') return leida
    exigirCancelable(leida.estado)
    const ahora = reloj()
    const paso = await darPaso({ db, avisarTrabajo }, leida, {
      tipo: 'guia.cancelado',
      estado: 'cancelado',
      ocurrido_en: ahora,
      registrado_en: ahora,
      descripcion: body?.descripcion ?? null,
      autor: identidad.comercio,
    })
    return paso?.guia
  })
  return { status: 200, body: presentar(ajustes, guia) }
}
