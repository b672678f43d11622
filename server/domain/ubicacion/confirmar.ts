import { presentar } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { confirmarLugar } from './ubicacion.ts'

export const confirmarUbicacion: Handler<'confirmarUbicacion'> = async ({ path, body, identidad }, deps) => {
  const quien = {
    ambito: identidad,
    autor: identidad.comercio,
    origen: 'comercio',
    estricto: identidad.estricto,
  } as const
  return { status: 200, body: presentar(deps.ajustes, await confirmarLugar(deps, quien, path.guia, body)) }
}
