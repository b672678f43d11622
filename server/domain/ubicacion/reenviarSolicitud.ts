import { buscarGuia, presentar } from '../guias/guia.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { reenviarSolicitudDe } from './ubicacion.ts'

export const reenviarSolicitud: Handler<'reenviarSolicitud'> = async (entrada, deps) => {
  const { path, identidad } = entrada
  const { hecho: guia, headers } = await unaVez(deps, 'reenviarSolicitud', entrada, {
    hacer: (recordar) =>
      reenviarSolicitudDe(deps, identidad, path.guia, (consultar, { guia }) => recordar(consultar, guia)),
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 202, headers, body: presentar(deps.ajustes, guia) }
}
