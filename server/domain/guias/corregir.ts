import { corregirGuiaDe } from '../correcciones/correccion.ts'
import type { Handler } from '../operation.ts'
import { presentar } from './guia.ts'

export const corregirGuia: Handler<'corregirGuia'> = async ({ path, body, identidad }, deps) => {
  const { estricto = identidad.estricto, secuencia, ...campos } = body
  const { comercio, pais } = identidad
  const quien = { ambito: identidad, autor: comercio, origen: 'comercio', pais, estricto } as const
  return { status: 200, body: presentar(await corregirGuiaDe(deps, quien, path.guia, campos, secuencia)) }
}
