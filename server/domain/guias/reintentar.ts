import { reintentarGuiaDe } from '../decisiones/decidir.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { buscarGuia, presentar } from './guia.ts'

export const reintentarGuia: Handler<'reintentarGuia'> = async (entrada, deps) => {
  const { path, body = {}, identidad } = entrada
  const { fecha, franja, estricto = identidad.estricto, secuencia, ...campos } = body
  const { comercio, pais } = identidad
  const quien = { ambito: identidad, autor: comercio, por: 'comercio', origen: 'comercio', pais, estricto } as const
  const { hecho: guia, headers } = await unaVez(deps, 'reintentarGuia', entrada, {
    hacer: (recordar) => reintentarGuiaDe(deps, quien, path.guia, { fecha, franja, campos, secuencia }, recordar),
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 200, headers, body: presentar(deps.ajustes, guia) }
}
