import { Problema } from '../../platform/errors.ts'
import { sinCarrera } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia, presentar } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { pedirOtraVez } from './reenvio.ts'
import { exigirAbierta } from './ubicacion.ts'

export const reenviarSolicitud: Handler<'reenviarSolicitud'> = async ({ path, identidad }, deps) => {
  const guia = await sinCarrera(async () => {
    const leida = await buscarGuia(deps.db, identidad, path.guia)
    exigirSinConfirmar(leida)
    return pedirOtraVez(deps, leida)
  })
  deps.avisarTrabajo()
  return { status: 202, body: presentar(guia) }
}

function exigirSinConfirmar(guia: FilaGuia) {
  if (guia.ubicacion_estado === 'confirmada') {
    const desde = guia.ubicacion_extra?.confirmado_en ?? guia.creado_en.toISOString()
    throw new Problema('ubicacion_ya_confirmada', `La ubicación está confirmada desde ${desde}; no hay nada que pedir.`)
  }
  exigirAbierta(guia)
}
