import { cancelarGuiaDe } from '../eventos/registrar.ts'
import type { Handler } from '../operation.ts'
import { presentar } from './guia.ts'

export const cancelarGuia: Handler<'cancelarGuia'> = async ({ path, body, identidad }, deps) => {
  const quien = { ambito: identidad, autor: identidad.comercio }
  const guia = await cancelarGuiaDe(deps, quien, path.guia, { descripcion: body?.razon })
  return { status: 200, body: presentar(deps.ajustes, guia) }
}
