import type { Handler } from '../operation.ts'
import { reenviarSolicitudDe } from '../ubicacion/ubicacion.ts'
import { unaVezPorOperador } from './unaVez.ts'

export const reenviarSolicitudPorOperador: Handler<'reenviarSolicitudPorOperador'> = async (entrada, deps) => {
  const { path } = entrada
  const accion = 'reenviarSolicitudPorOperador'
  const respuesta = await unaVezPorOperador(deps, accion, entrada, (recordar) =>
    reenviarSolicitudDe(deps, 'todos', path.guia, async (consultar, { guia, comercio_id, modo }) => {
      await deps.bitacora.anotar(consultar, entrada, { accion, sobre: ['guia', guia], de: { comercio_id, modo } })
      await recordar(consultar, guia)
    }),
  )
  return { ...respuesta, status: 202 }
}
