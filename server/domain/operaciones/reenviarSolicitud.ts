import type { Handler } from '../operation.ts'
import { resendRequestOf } from '../ubicacion/ubicacion.ts'
import { doOnceByOperador } from './doOnceByOperador.ts'

export const reenviarSolicitudPorOperador: Handler<'reenviarSolicitudPorOperador'> = async (input, deps) => {
  const { path } = input
  const accion = 'reenviarSolicitudPorOperador'
  const response = await doOnceByOperador(deps, accion, input, (remember) =>
    resendRequestOf(deps, 'todos', path.guia, async (query, { guia, comercio_id, modo }) => {
      await deps.bitacora.record(query, input, { accion, sobre: ['guia', guia], de: { comercio_id, modo } })
      await remember(query, guia)
    }),
  )
  return { ...response, status: 202 }
}
