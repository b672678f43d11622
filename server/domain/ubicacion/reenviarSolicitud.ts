import { Problema } from '../../platform/errors.ts'
import { sinCarrera } from '../eventos/evento.ts'
import { buscarGuia, type FilaGuia, presentar } from '../guias/guia.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { pedirOtraVez } from './reenvio.ts'
import { exigirAbierta } from './ubicacion.ts'

export const reenviarSolicitud: Handler<'reenviarSolicitud'> = async (entrada, deps) => {
  const { path, identidad } = entrada
  const { hecho: guia, headers } = await unaVez(deps, 'reenviarSolicitud', entrada, {
    async hacer(recordar) {
      const guia = await sinCarrera(async () => {
        const leida = await buscarGuia(deps.db, identidad, path.guia)
        exigirSinConfirmar(leida)
        return pedirOtraVez(deps, leida, { alFinal: (consultar) => recordar(consultar, leida.guia) })
      })
      deps.avisarTrabajo()
      return guia
    },
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 202, headers, body: presentar(deps.ajustes, guia) }
}

function exigirSinConfirmar(guia: FilaGuia) {
  if (guia.ubicacion_estado === 'confirmada') {
    const desde = guia.ubicacion_extra?.confirmado_en ?? guia.creado_en.toISOString()
    throw new Problema('ubicacion_ya_confirmada', `La ubicación está confirmada desde ${desde}; no hay nada que pedir.`)
  }
  exigirAbierta(guia)
}
