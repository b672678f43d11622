import type { Handler } from '../operation.ts'
import { reenviarSolicitudDe } from '../ubicacion/ubicacion.ts'
import { unaVezPorOperador } from './unaVez.ts'

export const reenviarSolicitudPorOperador: Handler<'reenviarSolicitudPorOperador'> = async (
  { path, body = {}, ...quien },
  deps,
) => {
  const accion = 'reenviarSolicitudPorOperador'
  const respuesta = await unaVezPorOperador(deps, accion, { path, body }, (recordar) =>
    reenviarSolicitudDe(deps, 'todos', path.guia, async (consultar, { guia, comercio_id, modo }) => {
      await deps.bitacora.anotar(consultar, quien, { accion, sobre: ['guia', guia], de: { comercio_id, modo } })
      await recordar(consultar, guia)
    }),
  )
  return { ...respuesta, status: 202 }
}
