import { corregirGuiaDe } from '../correcciones/correccion.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { buscarGuia, presentar } from './guia.ts'

export const corregirGuia: Handler<'corregirGuia'> = async (entrada, deps) => {
  const { path, body, identidad } = entrada
  const { estricto = identidad.estricto, secuencia, ...campos } = body
  const { comercio, pais } = identidad
  const quien = { ambito: identidad, autor: comercio, origen: 'comercio', pais, estricto } as const
  const { hecho: guia, headers } = await unaVez(deps, 'corregirGuia', entrada, {
    hacer: (recordar) => corregirGuiaDe(deps, quien, path.guia, { campos, secuencia }, recordar),
    releer: (guia) => buscarGuia(deps.db, identidad, guia),
  })
  return { status: 200, headers, body: presentar(deps.ajustes, guia) }
}
